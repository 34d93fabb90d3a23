import { accessMethodOids, firstNormalOid, typeOids } from '../../../../postgresql/catalog-oids.ts';
import { decodeBoolean, decodeNumber, decodeText, decodeTextArray } from '../../../../postgresql/rows.ts';
import { isNullField, type OrdinaryTable, splitBinaryRow } from '../../../../postgresql/table-rows.ts';
import { column, columns, type RowOf, rowsQuery } from '../query.ts';
import { clockCheckSql } from './catalog-predicates.ts';
import { featureCondition } from './database-overview.ts';
import {
  completeBySearch,
  constraintRowsSql,
  decodeSearchedTable,
  filledTableSql,
  type PreliminaryResult,
  searchedTableSql,
  type ViolationResult,
} from './row-scan.ts';

export type NamedConstraint = ReturnType<typeof decodeConstraint>;

/** Query columns for `decodeConstraint`: the constraint `k`. They come first, for `ORDER BY 2, 1`. */
export const constraintColumnsSql = `
  quote_ident(k.conname) AS conname,
  CASE WHEN k.contypid <> '0' THEN k.contypid::regtype::text ELSE k.conrelid::regclass::text END AS owner,
  k.contypid <> '0' AS of_domain,
  pg_get_constraintdef(k.oid) AS definition
`;

export const decodeConstraint = columns({
  /** Quoted where needed. */
  name: column.text('conname'),
  /** The table or domain of the constraint, with its schema. */
  owner: column.text('owner'),
  ofDomain: column.boolean('of_domain'),
  /** The constraint definition as pg_get_constraintdef returns it: `CHECK ((until > now()))`. */
  definition: column.text('definition'),
});

/**
 * A nullable column of a table with rows, whose parent table has the same column as NOT NULL. `violate`: at least one
 * row has NULL in the column.
 */
export interface InheritedColumn extends PreliminaryResult {
  readonly table: string;
  /** Quoted. */
  readonly column: string;
}

/** The query is not needed since PostgreSQL 18, in which an inherited NOT NULL constraint cannot be dropped. */
export const inheritedColumnsQuery = rowsQuery<InheritedColumn>({
  id: 'nullable-inherited-columns',
  scope: 'database',
  when: featureCondition('heirs'),
  sql: (version) =>
    version < 100_000 || version >= 180_000
      ? undefined
      : `
        SELECT DISTINCT
          c.oid::regclass AS name,
          quote_ident(a.attname) AS attname,
          ${searchedTableSql(version)}
        FROM pg_inherits i
        JOIN pg_class c ON c.oid = i.inhrelid
        JOIN pg_attribute a ON a.attrelid = c.oid
        JOIN pg_attribute p ON p.attrelid = i.inhparent AND p.attname = a.attname
        WHERE c.relkind = 'r'
          AND NOT c.relispartition
          AND p.attnotnull
          AND NOT a.attnotnull
          AND a.attnum > 0
          AND ${filledTableSql}
        ORDER BY 1, 2
      `,
  row: (row) => ({
    table: decodeText(row, 'name'),
    column: decodeText(row, 'attname'),
    rows: 'unseen',
    searched: decodeSearchedTable(row),
  }),
  searchRows: (found, search) => completeBySearch(found, search, isNullField),
});

/** `rows`: of a constraint that only compares a column with the clock, whether a row breaks it within two weeks. */
export interface ClockConstraint extends NamedConstraint {
  readonly rows?: ViolationResult;
  readonly searched?: OrdinaryTable | undefined;
}

/** The CHECK constraints that read the clock, and whose table or domain has rows. */
export const clockConstraintsQuery = rowsQuery<ClockConstraint>({
  id: 'time-dependent-constraints',
  scope: 'database',
  when: featureCondition('checks'),
  sql: (version) => `
    SELECT
      ${constraintColumnsSql},
      t.*
    FROM pg_constraint k
    LEFT JOIN LATERAL (
      SELECT ${searchedTableSql(version)}
      FROM pg_class c
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ALL (k.conkey)
      WHERE c.oid = k.conrelid
        AND c.relkind = 'r'
        AND a.atttypid IN ('${typeOids.date}', '${typeOids.timestamp}', '${typeOids.timestamptz}')
    ) t ON true
    WHERE ${clockCheckSql} AND ${constraintRowsSql(version)}
    ORDER BY 2, 1
  `,
  row: (row) => {
    const constraint = decodeConstraint(row);
    const isSearched = clockComparison.test(constraint.definition);
    return isSearched ? { ...constraint, rows: 'unseen', searched: decodeSearchedTable(row) } : constraint;
  },
  searchRows: async (found, search) => {
    const searched: ClockConstraint[] = [];
    for (const one of found) {
      const table = one.searched;
      const soon = Date.now() + twoWeeks + clockOffset(one.definition);
      const isSoon = (row: Uint8Array) => splitBinaryRow(row).some((value) => value !== null && timeOf(value) < soon);
      searched.push(table === undefined ? one : { ...one, rows: await search(table, isSoon, 'binary') });
    }
    return searched;
  },
});

const clockComparison =
  /^CHECK \(\((?:\w+|"(?:[^"]|"")+") >=? (?:now\(\)|CURRENT_(?:TIMESTAMP|DATE)|\((?:now\(\)|CURRENT_(?:TIMESTAMP|DATE)) ([-+]) (?:'([^']+)'::interval|(\d+))\))\)\)$/;

/** The milliseconds that a constraint adds to the clock, at most: `(CURRENT_DATE - '150 years'::interval)`. */
function clockOffset(definition: string): number {
  const [, operator, interval = '', days = '0'] = clockComparison.exec(definition) ?? [];
  const sign = operator === '-' ? -1 : 1;
  const parts = [...interval.matchAll(/(-?\d+) (year|mon|day)/g)].map(([, count, unit]) => {
    const [fewest, most] = { year: [365, 366], mon: [28, 31], day: [1, 1] }[unit as 'year' | 'mon' | 'day'] as [
      number,
      number,
    ];
    const signed = sign * Number(count);
    return signed * (signed < 0 ? fewest : most);
  });
  const [, minus, hours = 0, minutes = 0, seconds = 0] = /(-?)(\d+):(\d+):([\d.]+)/.exec(interval) ?? [];
  const time = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * (minus === '-' ? -1 : 1);
  return (parts.reduce((sum, part) => sum + part, 0) + sign * Number(days)) * 86_400_000 + sign * time * 1000;
}

const twoWeeks = 14 * 86_400_000;

/** A binary date has the days since 2000, in four bytes; a timestamp the microseconds, in eight. */
function timeOf(value: Uint8Array): number {
  const bytes = Buffer.from(value);
  const since = bytes.length === 4 ? bytes.readInt32BE() * 86_400_000 : Number(bytes.readBigInt64BE() / 1000n);
  return Date.UTC(2000) + since;
}

/** A foreign key whose referencing table is unlogged. */
export type UnloggedKey = RowOf<typeof unloggedKeysQuery>;

/** Condition: the table has a new file, and most inserted rows are gone without a DELETE. */
const truncatedSql = (table: string): string => `
  ${table}.relfilenode <> ${table}.oid
    AND (
      current_setting('track_counts') <> 'on'
        OR 2 * pg_stat_get_live_tuples(${table}.oid) < pg_stat_get_tuples_inserted(${table}.oid)
          - pg_stat_get_tuples_deleted(${table}.oid)
    )
`;

/** The tables whose TRUNCATE with CASCADE empties a table: itself, those that it refers to, and those that it inherits from. */
const emptiedWithSql = (table: string) => `
  WITH RECURSIVE u (oid) AS (
    SELECT ${table}
    UNION
    SELECT x.oid
    FROM u
    CROSS JOIN LATERAL (
      SELECT f.confrelid FROM pg_constraint f WHERE f.contype = 'f' AND f.conrelid = u.oid
      UNION ALL
      SELECT i.inhparent FROM pg_inherits i WHERE i.inhrelid = u.oid
    ) x (oid)
  )
  SELECT array_agg(oid::regclass::text) FROM u
`;

export const unloggedKeysQuery = rowsQuery({
  id: 'unlogged-references',
  scope: 'database',
  when: featureCondition('relations'),
  sql: () => `
    SELECT
      k.conrelid::regclass AS from_table,
      k.confrelid::regclass AS to_table,
      b.relpersistence = 'p' AS logged,
      (${emptiedWithSql('k.confrelid')}) AS emptied_with,
      b.relkind = 'r' AND a.relfilenode <> a.oid AND ${truncatedSql('b')} AS truncated
    FROM pg_constraint k
    JOIN pg_class a ON a.oid = k.conrelid
    JOIN pg_class b ON b.oid = k.confrelid
    WHERE k.contype = 'f' AND a.relpersistence = 'u'
  `,
  row: columns({
    from: column.text('from_table'),
    to: column.text('to_table'),
    /** Whether the referenced table is permanent, and so is replicated. */
    logged: column.boolean('logged'),
    /** The tables whose TRUNCATE with CASCADE empties the referenced table. */
    emptiedWith: column.texts('emptied_with'),
    /**
     * Whether the referenced table was truncated together with the unlogged one: both have new files, and most inserted
     * rows are gone without a DELETE.
     */
    truncated: column.boolean('truncated'),
  }),
});

/** A table and all its partitions; unlike pg_partition_tree the query does not lock them. */
const partitionsSql = (table: string) => `
  WITH RECURSIVE p AS (
    SELECT ${table} AS relid
    UNION ALL
    SELECT i.inhrelid FROM p JOIN pg_inherits i ON i.inhparent = p.relid
  )
  SELECT relid FROM p
`;

/** A foreign key of a partitioned table. */
export type PartitionedKey = RowOf<typeof partitionedKeysQuery>;

export const partitionedKeysQuery = rowsQuery({
  id: 'partitioned-references',
  scope: 'database',
  when: featureCondition('relations'),
  sql: (version) =>
    version < 110_000
      ? undefined
      : `
        SELECT
          k.conrelid::regclass AS from_table,
          k.confrelid::regclass AS to_table,
          (${emptiedWithSql('k.confrelid')}) AS emptied_with,
          EXISTS (
            SELECT FROM pg_class b
            WHERE b.relkind = 'r'
              AND b.oid IN (${partitionsSql('k.confrelid')})
              AND ${truncatedSql('b')}
          ) AS truncated
        FROM pg_constraint k
        JOIN pg_class a ON a.oid = k.conrelid
        WHERE k.contype = 'f'
          AND k.conparentid = '0'
          AND a.relkind = 'p'
        ORDER BY 1, 2
      `,
  row: columns({
    from: column.text('from_table'),
    to: column.text('to_table'),
    /** The tables whose TRUNCATE with CASCADE empties the referenced table. */
    emptiedWith: column.texts('emptied_with'),
    /** Whether the referenced table, or a partition of it, has a new file, and most inserted rows are gone without a DELETE. */
    truncated: column.boolean('truncated'),
  }),
});

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
export const foreignKeysQuery = rowsQuery<ForeignKey>({
  id: 'foreign-keys',
  scope: 'database',
  sql: (version) => `
    SELECT
      quote_ident(k.conname) AS name,
      k.conrelid AS table_oid,
      k.confrelid::regclass AS parent,
      CASE
        WHEN b.relkind = 'p' THEN ${version < 120_000 ? 'NULL' : `ARRAY(SELECT p.relid FROM (${partitionsSql('k.confrelid')}) p JOIN pg_class l ON l.oid = p.relid AND l.relkind <> 'p')`}
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
      AND k.oid >= '${firstNormalOid}'
      AND k.convalidated${version < 180_000 ? '' : ' AND k.conenforced'}
      ${version < 110_000 ? '' : 'AND NOT EXISTS (SELECT FROM pg_constraint q WHERE q.oid = k.conparentid AND q.conrelid = k.conrelid)'}
    GROUP BY k.oid, k.conname, k.conrelid, k.confrelid, b.relkind
    ORDER BY 2, 1
  `,
  row: (row) => {
    const [parentNames, types, parentTypes, modifiers, parentModifiers, deterministic] = [
      'parent_names',
      'types',
      'parent_types',
      'modifiers',
      'parent_modifiers',
      'deterministic',
    ].map((name) => decodeTextArray(row, name));
    return {
      name: decodeText(row, 'name'),
      table: decodeNumber(row, 'table_oid'),
      parent: decodeText(row, 'parent'),
      parents: decodeTextArray(row, 'parents').map(Number),
      columns: decodeTextArray(row, 'names').map((name, at) => ({
        name,
        parentName: parentNames?.[at] ?? '',
        types: [Number(types?.[at]), Number(parentTypes?.[at])],
        modifiers: [Number(modifiers?.[at]), Number(parentModifiers?.[at])],
        isDeterministic: deterministic?.[at] === 't',
      })),
    };
  },
});

/**
 * Constraints whose check by triggers was switched off, now or once. The row of a trigger that was switched off once is newer than that of the constraint, because ALTER TABLE … DISABLE
 * TRIGGER and ENABLE TRIGGER write it again. Deferrable unique and exclusion constraints have triggers as well.
 */
export const switchedOffConstraintsQuery = rowsQuery({
  id: 'switched-off-constraints',
  scope: 'database',
  when: featureCondition('constraint-triggers'),
  sql: () => `
    SELECT
      quote_ident(k.conname) || ' on ' || k.conrelid::regclass::text AS name,
      bool_or(t.tgenabled IN ('D', 'R')) AS is_disabled,
      bool_or(
        k.contype = 'f'
          AND k.convalidated
          AND t.tgrelid = k.conrelid
          AND (t.tgenabled <> 'O' OR age(t.xmin) < age(k.xmin))
      ) AS may_have_orphans
    FROM pg_trigger t
    JOIN pg_constraint k ON k.oid = t.tgconstraint
    WHERE t.tgisinternal
      AND (t.tgenabled <> 'O' OR age(t.xmin) < age(k.xmin))
    GROUP BY k.oid, k.conname, k.conrelid
    ORDER BY 1
  `,
  row: columns({
    /** With its table: `c_p_fkey on public.c`. */
    name: column.text('name'),
    /** Whether its triggers do not fire in ordinary sessions; a dump creates them enabled. */
    isDisabled: column.boolean('is_disabled'),
    /** Whether it is a foreign key that rows may violate. */
    mayHaveOrphans: column.boolean('may_have_orphans'),
  }),
});

/** Why sessions may skip foreign keys without a trace: a grant (PostgreSQL 15 and newer), or a stored setting. */
export const roleSettersQuery = rowsQuery({
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
  row: column.text('name'),
});

/** A valid unique index of an ordinary table, not of a partitioned table. */
export interface UniqueIndex {
  readonly index: string;
  /** Object id of the table that has the index. */
  readonly table: number;
  readonly isBtree: boolean;
  readonly hasExpression: boolean;
  /** Whether the index contains only the rows that satisfy a condition. */
  readonly isPartial: boolean;
  readonly nullsEqual: boolean;
  readonly key: readonly KeyColumn[];
}

export interface KeyColumn {
  /** Number of the column in its table; 0: an expression. */
  readonly number: number;
  /** The type that the operator class compares; 0: a user defined the operator class. */
  readonly comparedType: number;
  /** Type modifier of the column, for example length or precision; -1 if it has none, or if its domain has one. */
  readonly typeModifier: number;
  /** Whether the collation is deterministic, so that equal texts have equal bytes. */
  readonly isDeterministic: boolean;
}

/** The INCLUDE columns of an index are not part of its key. The query is sent only with `--deep`. */
export const uniqueIndexesQuery = rowsQuery<UniqueIndex>({
  id: 'unique-indexes',
  scope: 'database',
  sql: (version) => `
    SELECT
      i.indexrelid::regclass AS name,
      i.indrelid AS table_oid,
      x.relam = '${accessMethodOids.btree}' AS is_btree,
      i.indexprs IS NOT NULL AS has_expression,
      i.indpred IS NOT NULL AS is_partial,
      ${version < 150_000 ? 'false' : 'i.indnullsnotdistinct'} AS nulls_equal,
      k.numbers,
      k.types,
      k.modifiers,
      k.deterministic
    FROM pg_index i
    JOIN pg_class x ON x.oid = i.indexrelid
    JOIN pg_class c ON c.oid = i.indrelid
    CROSS JOIN LATERAL (
      SELECT
        array_agg(i.indkey[p] ORDER BY p) AS numbers,
        array_agg(CASE WHEN o.oid < '${firstNormalOid}' THEN o.opcintype ELSE 0 END ORDER BY p) AS types,
        array_agg(coalesce(a.atttypmod, -1) ORDER BY p) AS modifiers,
        array_agg(${version < 120_000 ? 'true' : 'coalesce(l.collisdeterministic, true)'} ORDER BY p) AS deterministic
      FROM generate_series(0, ${version < 110_000 ? 'i.indnatts' : 'i.indnkeyatts'} - 1) p
      JOIN pg_opclass o ON o.oid = i.indclass[p]
      LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[p]
      LEFT JOIN pg_collation l ON l.oid = i.indcollation[p]
    ) k
    WHERE i.indisunique
      AND i.indisvalid
      AND i.indrelid >= '${firstNormalOid}'
      AND c.relkind = 'r'
      AND c.relpersistence <> 't'
    ORDER BY 1
  `,
  row: (row) => {
    const [types, modifiers, deterministic] = ['types', 'modifiers', 'deterministic'].map((name) =>
      decodeTextArray(row, name),
    );
    return {
      index: decodeText(row, 'name'),
      table: decodeNumber(row, 'table_oid'),
      isBtree: decodeBoolean(row, 'is_btree'),
      hasExpression: decodeBoolean(row, 'has_expression'),
      isPartial: decodeBoolean(row, 'is_partial'),
      nullsEqual: decodeBoolean(row, 'nulls_equal'),
      key: decodeTextArray(row, 'numbers').map((number, at) => ({
        number: Number(number),
        comparedType: Number(types?.[at]),
        typeModifier: Number(modifiers?.[at]),
        isDeterministic: deterministic?.[at] === 't',
      })),
    };
  },
});
