import { firstNormalObjectId } from '../../../../postgresql/catalog-oids.ts';
import {
  decodeNumberColumnOrZero,
  decodeTextArrayColumn,
  decodeTextColumn,
} from '../../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';

/** A validated foreign key of an ordinary table. */
export interface ForeignKey {
  /** Quoted. */
  readonly name: string;
  /** Object id of the referencing table. */
  readonly table: number;
  /** The referenced table, qualified. */
  readonly parent: string;
  /** Object ids of the referenced table, or of the partitions with its rows. */
  readonly parents: readonly number[];
  readonly columns: readonly ForeignKeyColumn[];
}

/** A column of the key and the column that it references; types are those that texts of both are compared as. */
export interface ForeignKeyColumn {
  readonly name: string;
  readonly parentName: string;
  readonly types: readonly [number, number];
  readonly modifiers: readonly [number, number];
  /** Whether equal values of both columns have equal bytes as far as collations go. */
  readonly isDeterministic: boolean;
}

/**
 * The query is sent only with `--deep`. A foreign key to a partitioned table has further entries for each partition,
 * with the same referencing table; only the first one says which rows are needed.
 */
export const foreignKeysQuery: PostgresqlPreflightQuery<readonly ForeignKey[]> = {
  id: 'foreign-keys',
  scope: 'database',
  sql: (version) => `
    SELECT
      quote_ident(k.conname) AS name,
      k.conrelid AS table_oid,
      k.confrelid::regclass AS parent,
      CASE
        WHEN b.relkind = 'p' THEN ${version < 120_000 ? 'NULL' : 'ARRAY(SELECT relid::oid FROM pg_partition_tree(k.confrelid) WHERE isleaf)'}
        ELSE ARRAY[k.confrelid]
      END AS parents,
      array_agg(x.attname ORDER BY u.at) AS names,
      array_agg(y.attname ORDER BY u.at) AS parent_names,
      array_agg(x.atttypid ORDER BY u.at) AS types,
      array_agg(y.atttypid ORDER BY u.at) AS parent_types,
      array_agg(x.atttypmod ORDER BY u.at) AS modifiers,
      array_agg(y.atttypmod ORDER BY u.at) AS parent_modifiers,
      array_agg(${version < 120_000 ? 'true' : 'coalesce(l.collisdeterministic, true) AND coalesce(m.collisdeterministic, true)'} ORDER BY u.at) AS deterministic
    FROM pg_constraint k
    JOIN pg_class a ON a.oid = k.conrelid AND a.relkind = 'r'
    JOIN pg_class b ON b.oid = k.confrelid
    CROSS JOIN LATERAL unnest(k.conkey, k.confkey) WITH ORDINALITY u (child, parent, at)
    JOIN pg_attribute x ON x.attrelid = k.conrelid AND x.attnum = u.child
    JOIN pg_attribute y ON y.attrelid = k.confrelid AND y.attnum = u.parent
    LEFT JOIN pg_collation l ON l.oid = x.attcollation
    LEFT JOIN pg_collation m ON m.oid = y.attcollation
    WHERE k.contype = 'f'
      AND k.oid >= '${firstNormalObjectId}'
      AND k.convalidated${version < 180_000 ? '' : ' AND k.conenforced'}
      ${version < 110_000 ? '' : 'AND NOT EXISTS (SELECT FROM pg_constraint q WHERE q.oid = k.conparentid AND q.conrelid = k.conrelid)'}
    GROUP BY k.oid, k.conname, k.conrelid, k.confrelid, b.relkind
    ORDER BY 2, 1
  `,
  decode: (rows) =>
    rows.map((row) => {
      const [parentNames, types, parentTypes, modifiers, parentModifiers, deterministic] = [
        'parent_names',
        'types',
        'parent_types',
        'modifiers',
        'parent_modifiers',
        'deterministic',
      ].map((name) => decodeTextArrayColumn(row, name));
      return {
        name: decodeTextColumn(row, 'name'),
        table: decodeNumberColumnOrZero(row, 'table_oid'),
        parent: decodeTextColumn(row, 'parent'),
        parents: decodeTextArrayColumn(row, 'parents').map(Number),
        columns: decodeTextArrayColumn(row, 'names').map((name, at) => ({
          name,
          parentName: parentNames?.[at] ?? '',
          types: [Number(types?.[at]), Number(parentTypes?.[at])],
          modifiers: [Number(modifiers?.[at]), Number(parentModifiers?.[at])],
          isDeterministic: deterministic?.[at] === 't',
        })),
      };
    }),
  absent: [],
};

/**
 * Foreign keys whose check was switched off once: the row of its trigger is disabled, or newer than that of the
 * constraint, because ALTER TABLE … DISABLE TRIGGER and ENABLE TRIGGER write it again.
 */
export const uncheckedForeignKeysQuery: PostgresqlPreflightQuery<readonly string[]> = {
  id: 'unchecked-foreign-keys',
  scope: 'database',
  sql: () => `
    SELECT DISTINCT quote_ident(k.conname) || ' on ' || k.conrelid::regclass::text AS name
    FROM pg_trigger t
    JOIN pg_constraint k ON k.oid = t.tgconstraint
    WHERE t.tgisinternal
      AND t.tgrelid = k.conrelid
      AND k.contype = 'f'
      AND k.convalidated
      AND (t.tgenabled <> 'O' OR age(t.xmin) < age(k.xmin))
    ORDER BY 1
  `,
  decode: (rows) => rows.map((row) => decodeTextColumn(row, 'name')),
  absent: [],
};

/** Why sessions may skip foreign keys without a trace: a grant (PostgreSQL 15 and newer), or a stored setting. */
export const replicationRoleSettersQuery: PostgresqlPreflightQuery<readonly string[]> = {
  id: 'replication-role',
  scope: 'server',
  sql: (version) => `
    SELECT DISTINCT 'session_replication_role of ' || coalesce('role ' || quote_ident(r.rolname), 'database ' || quote_ident(d.datname), 'all roles') AS name
    FROM pg_db_role_setting s
    CROSS JOIN LATERAL unnest(s.setconfig) g
    LEFT JOIN pg_roles r ON r.oid = s.setrole
    LEFT JOIN pg_database d ON d.oid = s.setdatabase
    WHERE g ~* '^session_replication_role=(replica|local)'
    ${
      version < 150_000
        ? ''
        : `
          UNION ALL
          SELECT 'GRANT SET ON PARAMETER session_replication_role TO ' || coalesce(quote_ident(r.rolname), 'PUBLIC')
          FROM pg_parameter_acl p
          CROSS JOIN LATERAL aclexplode(p.paracl) x
          LEFT JOIN pg_roles r ON r.oid = x.grantee
          WHERE p.parname = 'session_replication_role'
            AND x.privilege_type = 'SET'
            AND (x.grantee = '0' OR NOT r.rolsuper)
        `
    }
  `,
  decode: (rows) => rows.map((row) => decodeTextColumn(row, 'name')),
  absent: [],
};
