import { builtinTypeOids, serverSpecificTypeOids } from '../../../postgresql/catalog-oids.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';
import { createDatabaseFeatureCondition } from './database-overview.ts';
import { decodeBooleanColumn, decodeTextArrayColumn, decodeTextColumn } from './decode.ts';
import {
  columnsContainingTypesSql,
  extractNestedValuesOfType,
  type NestedValueColumn,
} from './extract-nested-values-of-type.ts';
import { buildGrantMonitorRoleStatement } from './grants.ts';
import {
  completeResultsByRowSearch,
  decodeSearchedTable,
  type RowScanDependentResult,
  searchedTableSelectListSql,
} from './row-scan.ts';

/**
 * A column whose values another server may not accept. `violate`: at least one row has a value that another server does
 * not accept.
 */
export interface ColumnWithServerSpecificValues extends RowScanDependentResult, NestedValueColumn {
  readonly table: string;
  /** Quoted. */
  readonly column: string;
  /**
   * The type: `pg_node_tree`, `aclitem[]`, `regclass` or `money`; for a domain, an array or a composite type, the type
   * inside it.
   */
  readonly type: string;
  /** Whether the server has roles whose names look like object ids. */
  readonly numericRoles: readonly string[];
}

/**
 * A pattern for money in the format of the default lc_monetary. The query uses the lc_monetary stored for the role and
 * the database, because it applies to the copy as well.
 */
const asUsual = "1234.56::numeric::money::text = '$1,234.56' AND (-1234.56)::numeric::money::text = '-$1,234.56'";

export const columnsWithServerSpecificValuesQuery: PostgresqlPreflightQuery<readonly ColumnWithServerSpecificValues[]> =
  {
    id: 'server-specific-columns',
    scope: 'database',
    when: createDatabaseFeatureCondition('callables'),
    sql: (version) => `
    SELECT
      v.relid::regclass AS name,
      quote_ident(v.attname) AS attname,
      v.type::regtype AS type,
      v.path,
      v.type IN ('${builtinTypeOids.money}', '${builtinTypeOids.moneyArray}') AS is_money,
      ${asUsual} AS is_usual_money,
      ARRAY(SELECT rolname FROM pg_roles WHERE rolname ~ '^[0-9]+$') AS numeric_roles,
      ${searchedTableSelectListSql(version)}
    FROM ${columnsContainingTypesSql(version, serverSpecificTypeOids)} v
    JOIN pg_class c ON c.oid = v.relid
    JOIN pg_attribute a ON a.attrelid = v.relid AND a.attname = v.attname
    ORDER BY 1, 2
  `,
    decode: (rows) =>
      rows.map((row) => ({
        table: decodeTextColumn(row, 'name'),
        column: decodeTextColumn(row, 'attname'),
        type: decodeTextColumn(row, 'type'),
        path: decodeTextColumn(row, 'path'),
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
    grant: buildGrantMonitorRoleStatement,
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
