import { builtinTypeOids, regprocAndRegoperTypeOids } from '../../../../postgresql/catalog-oids.ts';
import { decodeTextArrayColumn } from '../../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';
import { createDatabaseFeatureCondition } from './database-overview.ts';
import {
  decodeNestedValueColumn,
  extractNestedValuesOfType,
  type NestedValueColumn,
  nestedValueColumnsSql,
} from './extract-nested-values-of-type.ts';
import { completeResultsByRowSearch, decodeSearchedTable, type RowScanDependentResult } from './row-scan.ts';

/**
 * A column of type regproc or regoper, whose values are written as bare names. `violate`: at least one row has a name
 * that several functions or operators share.
 */
export interface RegprocColumn extends RowScanDependentResult, NestedValueColumn {
  /** Whether the type of the column is a domain over a searched type, or contains a searched type. */
  readonly isInside: boolean;
  /**
   * Names that several functions or operators of one schema share, in the form in which COPY writes values. The query
   * result has these names only in its first row with regproc values and its first row with regoper values.
   */
  readonly ambiguousNames: readonly string[];
}

/**
 * Selects names that several objects of one schema share. PostgreSQL writes a regproc or regoper value with its schema
 * if the name alone is ambiguous.
 */
const ambiguousNamesSql = (catalog: string, name: string, written: string, schema: string): string => `
  SELECT quote_ident((SELECT nspname FROM pg_namespace n WHERE n.oid = ${schema})) || '.' || ${written}
  FROM ${catalog}
  GROUP BY ${schema}, ${name}
  HAVING count(*) > 1
`;

export const regprocColumnsQuery: PostgresqlPreflightQuery<readonly RegprocColumn[]> = {
  id: 'regproc-columns',
  scope: 'database',
  when: createDatabaseFeatureCondition('callables'),
  sql: (version) =>
    nestedValueColumnsSql(version, regprocAndRegoperTypeOids, [
      `
        CASE
          WHEN row_number() OVER (PARTITION BY ${isRegproc} ORDER BY v.relid, v.attname, v.path) = 1
            THEN CASE
              WHEN ${isRegproc}
                THEN ARRAY(${ambiguousNamesSql('pg_proc', 'proname', 'quote_ident(proname)', 'pronamespace')})
              ELSE ARRAY(${ambiguousNamesSql('pg_operator', 'oprname', 'oprname', 'oprnamespace')})
            END
        END AS ambiguous
      `,
    ]),
  decode: (rows) =>
    rows.map((row) => {
      const column = decodeNestedValueColumn(row);
      return {
        ...column,
        isInside: column.path !== '',
        ambiguousNames: decodeTextArrayColumn(row, 'ambiguous'),
        rows: 'unseen',
        searched: decodeSearchedTable(row),
      };
    }),
  searchRows: (found, search) => {
    const ambiguous = new Set(found.flatMap(({ ambiguousNames }) => ambiguousNames));
    return completeResultsByRowSearch(found, search, (row, column) =>
      extractNestedValuesOfType(row, column).some((value) => ambiguous.has(value)),
    );
  },
  absent: [],
};

const isRegproc = `v.type IN ('${builtinTypeOids.regproc}', '${builtinTypeOids.regprocArray}')`;
