import { firstGenbkiObjectId, typeOid } from '../../../postgresql/catalog-oids.ts';
import type { PostgresqlQuery } from '../query.ts';
import { whenPresent } from './database-overview.ts';
import { decodeBoolean, decodeNumber, decodeOptionalText, decodeText } from './decode.ts';
import { grantMonitorRole } from './grants.ts';
import { queryIsTrueSql, type RowScanResult, rowScanSizeLimit } from './row-scan.ts';

export interface PartitionedTable {
  readonly name: string;
  readonly strategy: 'range' | 'list' | 'hash';
  readonly partitions: number;
  /** It has a DEFAULT partition. */
  readonly hasDefault: boolean;
  /** Partitioned by the hash of an enum, whose values have other object ids in every database. */
  readonly enumHashed: boolean;
  /** Partitioned by object ids, as regclass, which differ in every database: whether rows hold any. */
  readonly numbered: RowScanResult;
  /** Partitioned by LIST over a boolean with a partition for each value, so that no other partition is needed. */
  readonly closed: boolean;
  /** Name of an exclusion constraint of the partitioned table, quoted. */
  readonly excluding: string | undefined;
}

export const partitionedTablesQuery: PostgresqlQuery<readonly PartitionedTable[]> = {
  id: 'partitioned-tables',
  scope: 'database',
  when: whenPresent('relations'),
  sql: (version) =>
    version < 100_000
      ? undefined
      : `
        SELECT
          p.partrelid::regclass AS name,
          p.partstrat AS strategy,
          (SELECT count(*) FROM pg_inherits i WHERE i.inhparent = p.partrelid) AS partitions,
          ${version < 110_000 ? 'false' : "p.partdefid <> '0'"} AS has_default,
          ${hashesEnum} AS enum_hashed,
          ${numbered} AS numbered,
          ${overBoolean} AS boolean,
          ${version < 170_000 ? 'NULL' : excluding} AS excluding
        FROM pg_partitioned_table p
        ORDER BY 1
      `,
  decode: (rows) =>
    rows.map((row) => ({
      name: decodeText(row, 'name'),
      strategy: row.strategy === 'h' ? 'hash' : row.strategy === 'l' ? 'list' : 'range',
      partitions: decodeNumber(row, 'partitions'),
      hasDefault: decodeBoolean(row, 'has_default'),
      enumHashed: decodeBoolean(row, 'enum_hashed'),
      numbered: scanResults.find((one) => one === row.numbered) ?? 'none',
      closed: decodeBoolean(row, 'boolean') && decodeNumber(row, 'partitions') > 1,
      excluding: decodeOptionalText(row, 'excluding'),
    })),
  absent: [],
  grant: grantMonitorRole,
};

const scanResults: readonly RowScanResult[] = ['violate', 'unseen'];

const typeOf = "CASE t.typtype WHEN 'd' THEN t.typbasetype ELSE t.oid END";

const keyColumns = `
   pg_attribute a
  JOIN pg_type t ON t.oid = a.atttypid
  WHERE a.attrelid = p.partrelid
    AND a.attnum = ANY (p.partattrs::int2[])
`;

/**
 * Objects below FirstGenbkiObjectId have the same id on every server. LIST values are dumped as names, which the target
 * resolves.
 */
const numbered = `
  CASE
    WHEN p.partstrat <> 'l'
      THEN (
        SELECT CASE
          WHEN s.bytes > ${rowScanSizeLimit}
              OR NOT has_table_privilege(p.partrelid, 'SELECT')
              OR row_security_active(p.partrelid)
            THEN 'unseen'
          WHEN s.bytes > 0 AND ${queryIsTrueSql('k.query')} THEN 'violate'
        END
        FROM (
          SELECT format(
            'SELECT EXISTS (SELECT 1 FROM %s r WHERE %s) AS v',
            p.partrelid::regclass,
            string_agg(format('r.%I::oid >= ${firstGenbkiObjectId}', a.attname), ' OR ')
          ) AS query
          FROM ${keyColumns}
            AND ${typeOf} IN (
              '${typeOid.regproc}',
              '${typeOid.regprocedure}',
              '${typeOid.regoper}',
              '${typeOid.regoperator}',
              '${typeOid.regclass}',
              '${typeOid.regtype}',
              '${typeOid.regconfig}',
              '${typeOid.regdictionary}',
              '${typeOid.regnamespace}',
              '${typeOid.regrole}',
              '${typeOid.regcollation}'
            )
          HAVING count(*) > 0
        ) k
        CROSS JOIN (
          WITH RECURSIVE l AS (
            SELECT i.inhrelid
            FROM pg_inherits i
            WHERE i.inhparent = p.partrelid
            UNION ALL
            SELECT i.inhrelid
            FROM pg_inherits i
            JOIN l ON i.inhparent = l.inhrelid
          )
          SELECT sum(pg_relation_size(inhrelid)) AS bytes
          FROM l
        ) s
      )
  END
`;

const overBoolean = `p.partstrat = 'l' AND EXISTS (SELECT FROM ${keyColumns} AND ${typeOf} = '${typeOid.bool}')`;

const excluding = `
  (
    SELECT min(quote_ident(k.conname))
    FROM pg_constraint k
    WHERE k.conrelid = p.partrelid
      AND k.contype = 'x'
      AND k.conparentid = '0'
  )
`;

/**
 * A domain over an enum is hashed as the enum. Arrays, composites and ranges are hashed by their elements when their
 * operator class is that of any array, record or range.
 */
const hashesEnum = `
  (
    p.partstrat = 'h'
      AND EXISTS (
        WITH RECURSIVE k(type, class) AS (
          SELECT a.atttypid, o.opcintype
          FROM unnest(p.partclass::oid[], p.partattrs::int2[]) g(class, number)
          JOIN pg_opclass o ON o.oid = g.class
          LEFT JOIN pg_attribute a ON a.attrelid = p.partrelid AND a.attnum = g.number
        ),
        made(type) AS (
          SELECT k.type
          FROM k
          WHERE k.class IN (
            '${typeOid.anyarray}',
            '${typeOid.record}',
            '${typeOid.anyrange}',
            '${typeOid.anymultirange}'
          )
          UNION
          SELECT part.type
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
            SELECT r.rngsubtype
            FROM pg_range r
            WHERE r.rngtypid = t.oid
            UNION ALL
            SELECT a.atttypid
            FROM pg_attribute a
            WHERE t.typtype = 'c'
              AND a.attrelid = t.typrelid
              AND a.attnum > 0
              AND NOT a.attisdropped
          ) part(type)
        )
        SELECT FROM k
        WHERE k.class = '${typeOid.anyenum}'
        UNION ALL
        SELECT FROM made
        JOIN pg_type e ON e.oid = made.type
        WHERE e.typtype = 'e'
      )
  )
`;
