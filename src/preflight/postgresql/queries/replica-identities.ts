import { firstNormalObjectId } from '../../../postgresql/catalog-oids.ts';
import type { PostgresqlQuery } from '../query.ts';
import { whenPresent } from './database-overview.ts';
import { decodeOptionalNumber, decodeOptionalText, decodeText } from './decode.ts';
import { grantMonitorRole } from './grants.ts';

/** A table whose replica identity does not serve, or may not. */
export interface TableReplicaIdentity {
  readonly name: string;
  /** `d` default, `i` an index, `f` full, `n` nothing. */
  readonly identity: string;
  readonly unlogged: boolean;
  /** There is an index that serves as identity, or a primary key in the case of FULL and NOTHING. */
  readonly keyed: boolean;
  /** That index holds a generated column, which is not sent. */
  readonly generatedKey: boolean;
  /** The table has a generated column at all. */
  readonly generated: boolean;
  /** The index named with USING INDEX, quoted, where it serves. */
  readonly index: string | undefined;
  /** The primary key serves once the identity is DEFAULT. */
  readonly primaryUsable: boolean;
  /** Another unique index that serves with USING INDEX, quoted. */
  readonly usableIndex: string | undefined;
  /** UPDATE and DELETE since the counters were reset; undefined: the server does not count (track_counts). */
  readonly writes: number | undefined;
}

export const replicaIdentitiesQuery: PostgresqlQuery<readonly TableReplicaIdentity[]> = {
  id: 'identities',
  scope: 'database',
  when: whenPresent('relations', 'columns'),
  sql: (version) => {
    const generated = (where: string) =>
      version < 120_000
        ? 'false'
        : `
          EXISTS (
            SELECT FROM pg_attribute a
            WHERE a.attrelid = c.oid
              AND a.attgenerated <> ''
              AND NOT a.attisdropped${where}
          )
        `;
    const flags = [
      "CASE WHEN c.relpersistence = 'u' THEN 'u' END",
      "CASE WHEN i.indexrelid IS NOT NULL THEN 'k' END",
      `CASE WHEN ${generated('')} THEN 'g' END`,
      `CASE WHEN ${generated(` AND a.attnum = ANY (${keyColumns(version, 'i')})`)} THEN 'G' END`,
      `CASE WHEN EXISTS (${usable(version, 'u.indisprimary')}) THEN 'p' END`,
    ];
    return `
      SELECT
        c.oid::regclass AS name,
        concat(c.relreplident, ${flags.join(', ')}) AS flags,
        CASE
          WHEN c.relreplident = 'i'
            THEN (SELECT quote_ident(n.relname) FROM pg_class n WHERE n.oid = i.indexrelid)
        END AS identity_index,
        (${usable(version, 'NOT u.indisprimary')} ORDER BY cardinality(u.indkey::int2[]), n.relname LIMIT 1) AS usable_index,
        CASE
          WHEN current_setting('track_counts') = 'on'
            THEN pg_stat_get_tuples_updated(c.oid) + pg_stat_get_tuples_deleted(c.oid)
        END AS writes
      FROM pg_class c
      LEFT JOIN pg_index i ON ${replicaIdentityIndexSql}
      WHERE c.oid >= '${firstNormalObjectId}'
        AND c.relkind = 'r'
        AND c.relpersistence <> 't'
        AND (i.indexrelid IS NULL OR c.relreplident IN ('f', 'n') OR ${generated('')})
    `;
  },
  // Flags travel in one column, since a hundred thousand rows of ten would not be small.
  decode: (rows) =>
    rows.map((row) => {
      const flags = decodeText(row, 'flags');
      return {
        name: decodeText(row, 'name'),
        identity: flags.slice(0, 1),
        unlogged: flags.includes('u', 1),
        keyed: flags.includes('k', 1),
        index: decodeOptionalText(row, 'identity_index'),
        generatedKey: flags.includes('G', 1),
        generated: flags.includes('g', 1),
        primaryUsable: flags.includes('p', 1),
        usableIndex: decodeOptionalText(row, 'usable_index'),
        writes: decodeOptionalNumber(row, 'writes'),
      };
    }),
  absent: [],
  grant: grantMonitorRole,
};

/** A column that two rows cannot be compared by, of a table that has nothing else to find a row by. */
export interface ColumnWithoutEquality {
  readonly table: string;
  /** `doc json`. */
  readonly column: string;
}

/**
 * Follows TYPECACHE_EQ_OPR: a default btree or hash operator class of the type itself or of one it is cast to without a
 * function and implicitly; arrays, composites and domains are as good as what they are made of; enums and ranges always are.
 */
export const columnsWithoutEqualityQuery: PostgresqlQuery<readonly ColumnWithoutEquality[]> = {
  id: 'unequal-columns',
  scope: 'database',
  when: whenPresent('relations'),
  sql: (version) => `
    WITH RECURSIVE used AS (
      SELECT a.attrelid, a.attnum, a.attname, a.atttypid, a.atttypmod
      FROM pg_class c
      LEFT JOIN pg_index i ON ${replicaIdentityIndexSql}
      JOIN pg_attribute a
        ON a.attrelid = c.oid
          AND a.attnum > 0
          AND NOT a.attisdropped${version < 120_000 ? '' : " AND a.attgenerated = ''"}
      WHERE c.oid >= '${firstNormalObjectId}'
        AND c.relkind = 'r'
        AND c.relpersistence <> 't'
        AND (i.indexrelid IS NULL OR c.relreplident = 'n')
    ),
    made(root, type) AS (
      SELECT DISTINCT atttypid, atttypid
      FROM used
      UNION
      SELECT made.root, part.type
      FROM made
      JOIN pg_type t ON t.oid = made.type
      CROSS JOIN LATERAL (
        SELECT t.typbasetype
        WHERE t.typtype = 'd'
        UNION ALL
        SELECT t.typelem
        WHERE t.typlen = -1
          AND t.typelem <> 0
          AND t.typtype = 'b'
        UNION ALL
        SELECT a.atttypid
        FROM pg_attribute a
        WHERE t.typtype = 'c'
          AND a.attrelid = t.typrelid
          AND a.attnum > 0
          AND NOT a.attisdropped
      ) part(type)
    ),
    bare AS (
      SELECT DISTINCT made.root
      FROM made
      JOIN pg_type t ON t.oid = made.type
      WHERE t.typtype IN ('b', 'p')
        AND NOT (t.typlen = -1 AND t.typelem <> 0)
        AND NOT EXISTS (
          SELECT FROM pg_opclass o
          JOIN pg_am m ON m.oid = o.opcmethod
          WHERE m.amname IN ('btree', 'hash')
            AND o.opcdefault
            AND (
              o.opcintype = t.oid
                OR EXISTS (
                  SELECT FROM pg_cast k
                  WHERE k.castsource = t.oid
                    AND k.casttarget = o.opcintype
                    AND k.castmethod = 'b'
                    AND k.castcontext = 'i'
                )
            )
        )
    )
    SELECT
      used.attrelid::regclass AS name,
      quote_ident(used.attname) || ' ' || format_type(used.atttypid, used.atttypmod) AS described
    FROM used
    JOIN bare ON bare.root = used.atttypid
    ORDER BY used.attrelid, used.attnum
  `,
  decode: (rows) => rows.map((row) => ({ table: decodeText(row, 'name'), column: decodeText(row, 'described') })),
  absent: [],
  grant: grantMonitorRole,
};

/**
 * The index that names a row: the primary key, or the one told with USING INDEX; of a table with FULL or NOTHING the primary
 * key. As RelationGetIndexList chooses it: valid, and not deferrable.
 */
export const replicaIdentityIndexSql = `
  i.indrelid = c.oid
    AND i.indisvalid
    AND i.indislive
    AND i.indimmediate
    AND CASE c.relreplident WHEN 'i' THEN i.indisreplident ELSE i.indisprimary END
`;

/** What ALTER TABLE … REPLICA IDENTITY takes, less generated columns, which are not sent. */
function usable(version: number, which: string): string {
  const generated = version < 120_000 ? '' : " OR a.attgenerated <> ''";
  return `
    SELECT quote_ident(n.relname)
    FROM pg_index u
    JOIN pg_class n ON n.oid = u.indexrelid
    WHERE u.indrelid = c.oid
      AND ${which}
      AND u.indisunique
      AND u.indimmediate
      AND u.indisvalid
      AND u.indislive
      AND u.indpred IS NULL
      AND u.indexprs IS NULL
      AND NOT EXISTS (
        SELECT FROM pg_attribute a
        WHERE a.attrelid = c.oid
          AND a.attnum = ANY (${keyColumns(version, 'u')})
          AND (NOT a.attnotnull${generated})
      )
  `;
}

/** Without what INCLUDE adds; an int2vector counts from 0. */
function keyColumns(version: number, index: string): string {
  return version < 110_000 ? `${index}.indkey::int2[]` : `(${index}.indkey::int2[])[0:${index}.indnkeyatts - 1]`;
}
