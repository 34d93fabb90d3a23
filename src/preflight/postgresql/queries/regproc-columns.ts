import { regprocTypes, typeOid } from '../../../postgresql/catalog-oids.ts';
import type { PostgresqlQuery } from '../query.ts';
import { whenPresent } from './database-overview.ts';
import { decodeBoolean, decodeText } from './decode.ts';
import { grantMonitorRole } from './grants.ts';
import { nestedValuesSql } from './nested-values.ts';
import { canScanRowsSql, queryIsTrueSql, type RowScanResult, rowScanResultOf } from './row-scan.ts';

/** A column of type regproc or regoper, whose values are written as bare names. */
export interface RegprocColumn {
  readonly table: string;
  /** Quoted. */
  readonly column: string;
  /** `regproc`, `regoper`, `regproc[]`, `regoper[]`. */
  readonly type: string;
  /** The type of the column is a domain over it, or contains it. */
  readonly isInside: boolean;
  /** `violate`: a row holds a name that several functions or operators have. */
  readonly rows: RowScanResult;
}

/** A query for values whose name is not unique in its schema. */
const ambiguousNameSql = (catalogue: string, name: string, schema: string): string =>
  `'SELECT EXISTS (SELECT 1 FROM ONLY %s r%s CROSS JOIN LATERAL unnest(ARRAY[%s::%s]) x(it) JOIN ${catalogue} p ON p.oid = x.it::oid WHERE (SELECT count(*) FROM ${catalogue} q WHERE q.${name} = p.${name} AND q.${schema} = p.${schema}) > 1) AS v'`;

export const regprocColumnsQuery: PostgresqlQuery<readonly RegprocColumn[]> = {
  id: 'regproc-columns',
  scope: 'database',
  when: whenPresent('callables'),
  sql: (version) => `
    SELECT o.*, CASE WHEN o.query IS NOT NULL THEN ${queryIsTrueSql('o.query')} END AS violated
    FROM (
      SELECT
        v.relid::regclass AS name,
        quote_ident(v.attname) AS attname,
        v.type::regtype AS type,
        v.steps > 0 AS is_inside,
        CASE
          WHEN ${canScanRowsSql('c')}
            THEN format(
              CASE
                WHEN v.type IN ('${typeOid.regproc}', '${typeOid.regprocArray}')
                  THEN ${ambiguousNameSql('pg_proc', 'proname', 'pronamespace')}
                ELSE ${ambiguousNameSql('pg_operator', 'oprname', 'oprnamespace')}
              END,
              v.relid::regclass,
              v.sources,
              v.expr,
              v.type::regtype
            )
        END AS query
      FROM ${nestedValuesSql(version, regprocTypes)} v
      JOIN pg_class c ON c.oid = v.relid
    ) o
    ORDER BY 1, 2
  `,
  decode: (rows) =>
    rows.map((row) => ({
      table: decodeText(row, 'name'),
      column: decodeText(row, 'attname'),
      type: decodeText(row, 'type'),
      isInside: decodeBoolean(row, 'is_inside'),
      rows: rowScanResultOf(decodeText(row, 'violated'), true),
    })),
  absent: [],
  grant: grantMonitorRole,
};
