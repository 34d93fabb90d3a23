import { builtinTypeOids, serverSpecificTypeOids } from '../../../postgresql/catalog-oids.ts';
import { decodeBooleanColumn, decodeTextArrayColumn } from '../../../postgresql/decode-row.ts';
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
 * A column whose values another server may not accept. `violate`: at least one row has a value that another server does
 * not accept.
 */
export interface ColumnWithServerSpecificValues extends RowScanDependentResult, NestedValueColumn {
  /** The roles of the server whose names look like object ids. */
  readonly numericRoles: readonly string[];
}

/**
 * Whether money has the format of the default lc_monetary. The lc_monetary that is stored for the role and the database
 * applies to the copy, so it is set again before the value is written; CASE evaluates its condition first.
 */
const asUsual = `
  CASE
    WHEN set_config('lc_monetary', (SELECT reset_val FROM pg_settings WHERE name = 'lc_monetary'), true) IS NOT NULL
      THEN 1234.56::numeric::money::text = '$1,234.56' AND (-1234.56)::numeric::money::text = '-$1,234.56'
  END`;

export const columnsWithServerSpecificValuesQuery: PostgresqlPreflightQuery<readonly ColumnWithServerSpecificValues[]> =
  {
    id: 'server-specific-columns',
    scope: 'database',
    when: createDatabaseFeatureCondition('callables'),
    sql: (version) =>
      nestedValueColumnsSql(version, serverSpecificTypeOids, [
        `v.type IN ('${builtinTypeOids.money}', '${builtinTypeOids.moneyArray}') AS is_money`,
        `${asUsual} AS is_usual_money`,
        "ARRAY(SELECT rolname FROM pg_roles WHERE rolname ~ '^[0-9]+$') AS numeric_roles",
      ]),
    decode: (rows) =>
      rows.map((row) => ({
        ...decodeNestedValueColumn(row),
        numericRoles: decodeTextArrayColumn(row, 'numeric_roles'),
        ...(decodeBooleanColumn(row, 'is_money')
          ? { rows: decodeBooleanColumn(row, 'is_usual_money') ? 'fit' : 'violate' }
          : { rows: 'unseen', searched: decodeSearchedTable(row) }),
      })),
    searchRows: (found, search) =>
      completeResultsByRowSearch(found, search, (row, column) =>
        extractNestedValuesOfType(row, column).some((value) => isServerSpecific(value, column)),
      ),
    absent: [],
  };

function isServerSpecific(value: string, { type, numericRoles }: ColumnWithServerSpecificValues): boolean {
  // Matches names of relations that the target does not have: TOAST tables and temporary tables.
  if (type.startsWith('regclass')) return /^"?pg_(toast|temp_\d+|toast_temp_\d+)"?\./.test(value);
  // Values of the other types that contain the id of an object of the server are always rejected by the target.
  if (!type.startsWith('aclitem')) return true;
  // Privileges of roles that no longer exist are written with object ids.
  const ids = [/^(\d+)=/.exec(value)?.[1], /\/(\d+)$/.exec(value)?.[1]];
  return ids.some((id) => id !== undefined && !numericRoles.includes(id));
}
