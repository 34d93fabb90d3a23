import { countOf } from '../../../../base/text.ts';
import {
  firstNormalOid,
  serverSpecificTypes,
  transactionIdFunctions,
  transactionIdTypes,
  typeOids,
} from '../../../../postgresql/catalog-oids.ts';
import { quoteIdentifier } from '../../../../postgresql/quote.ts';
import { decodeBoolean, decodeTextArray } from '../../../../postgresql/rows.ts';
import {
  type CheckOutcome,
  failOutcome,
  passOutcome,
  removalEffect,
  unknownOutcome,
  warnOutcome,
} from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import { settleByScan } from '../deep/results.ts';
import { suggestValueQueries } from '../owner-queries.ts';
import { isOneOfSql, lockedRelationsSql } from '../queries/catalog-predicates.ts';
import { featureCondition } from '../queries/database-overview.ts';
import { firstWord, malformedValuesQuery, type RefusedColumn } from '../queries/refused-values.ts';
import { migrationRoleQuery } from '../queries/roles.ts';
import {
  completeBySearch,
  decodeNestedColumn,
  decodeSearchedTable,
  type NestedColumn,
  nestedColumnsSql,
  nestedValues,
  type PreliminaryResult,
} from '../queries/row-scan.ts';
import { column, rowsQuery } from '../query.ts';

/**
 * A column whose values another server may not accept. `violate`: at least one row has a value that another server does
 * not accept.
 */
interface ServerSpecificColumn extends PreliminaryResult, NestedColumn {
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

export const serverSpecificQuery = rowsQuery<ServerSpecificColumn>({
  id: 'server-specific-columns',
  scope: 'database',
  when: featureCondition('callables'),
  sql: (version) =>
    nestedColumnsSql(version, serverSpecificTypes, [
      `v.type IN ('${typeOids.money}', '${typeOids.moneyArray}') AS is_money`,
      `${asUsual} AS is_usual_money`,
      "ARRAY(SELECT rolname FROM pg_roles WHERE rolname ~ '^[0-9]+$') AS numeric_roles",
    ]),
  row: (row) => ({
    ...decodeNestedColumn(row),
    numericRoles: decodeTextArray(row, 'numeric_roles'),
    ...(decodeBoolean(row, 'is_money')
      ? { rows: decodeBoolean(row, 'is_usual_money') ? 'fit' : 'violate' }
      : { rows: 'unseen', searched: decodeSearchedTable(row) }),
  }),
  searchRows: (found, search) =>
    completeBySearch(found, search, (row, column) =>
      nestedValues(row, column).some((value) => isServerSpecific(value, column)),
    ),
});

function isServerSpecific(value: string, { type, numericRoles }: ServerSpecificColumn): boolean {
  // Matches names of relations that the target does not have: TOAST tables and temporary tables.
  if (type.startsWith('regclass')) return /^"?pg_(toast|temp_\d+|toast_temp_\d+)"?\./.test(value);
  // Values of the other types that contain the id of an object of the server are always rejected by the target.
  if (!type.startsWith('aclitem')) return true;
  // Privileges of roles that no longer exist are written with object ids.
  const ids = [/^(\d+)=/.exec(value)?.[1], /\/(\d+)$/.exec(value)?.[1]];
  return ids.some((id) => id !== undefined && !numericRoles.includes(id));
}

/** Columns with ids of transactions, by their type or their default, in tables with rows: `tx of public.outbox (xid8)`. */
export const transactionIdsQuery = rowsQuery({
  id: 'transaction-id-columns',
  scope: 'database',
  when: featureCondition('callables', 'defaults'),
  sql: () => `
    SELECT quote_ident(a.attname) || ' of ' || c.oid::regclass || ' (' || format_type(a.atttypid, NULL) || ')' AS name
    FROM (
      SELECT x.attrelid, x.attname, x.atttypid
      FROM pg_attribute x
      LEFT JOIN pg_attrdef d ON d.adrelid = x.attrelid AND d.adnum = x.attnum
      WHERE x.attrelid >= '${firstNormalOid}'
        AND x.attnum > 0
        AND NOT x.attisdropped
        AND (
          ${isOneOfSql(transactionIdTypes, 'x.atttypid')}
            OR d.adbin::text ~ ':funcid (${transactionIdFunctions}) '
        )
      OFFSET 0
    ) a
    JOIN pg_class c ON c.oid = a.attrelid
    WHERE c.relkind = 'r'
      AND c.relpersistence = 'p'
      AND CASE
        WHEN c.relpages > 0 OR c.oid IN ${lockedRelationsSql} THEN true
        ELSE pg_relation_size(c.oid) > 0
      END
    ORDER BY 1
  `,
  row: column.text('name'),
});

export const systemValuesCheck = declareDatabaseCheck({
  id: 'system-values',
  title: 'no column contains values that the target cannot read',
  headline: 'A column can contain values that the target cannot read',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: {
    systemValues: serverSpecificQuery,
    malformedValues: malformedValuesQuery,
    transactionIds: transactionIdsQuery,
    role: migrationRoleQuery,
  },
  readsRows: true,
  evaluate({ systemValues, malformedValues, transactionIds, role }, database, { scans }) {
    const malformed = settleByScan(malformedValues, scans?.get(database));
    const refused = malformed.filter(({ rows }) => rows === 'violate');
    if (refused.length > 0) return malformedOutcome('violate', refused, database);
    const found = systemValues.filter(({ rows }) => rows === 'violate');
    const unseen = systemValues.filter(({ rows }) => rows === 'unseen');
    const named = found.length > 0 ? found : unseen;
    // A text search document is common, and an empty lexeme in it is not.
    const unread = malformed.filter(({ rows, type }) => rows === 'unseen' && !type.startsWith('tsvector'));
    if (named.length === 0)
      return unread.length > 0
        ? malformedOutcome('unseen', unread, database)
        : oldTransactions(transactionIds, database);
    const money = named.filter(isMoney);
    const observed = countOf(named.length, 'column');
    const kinds = [...new Set(named.map(kindOf))];
    const settings = `ALTER ROLE ${quoteIdentifier(role.name)} IN DATABASE ${quoteIdentifier(database)}`;
    const more = {
      required: 'none with values',
      detail: `${kinds.map((kind) => impactByKind[kind]).join(' ')} The copy fails on the target on every attempt.${unlistedNote(named)}`,
      objects: limitObjects(named).map(({ table, column, type }) => `${column} of ${table} (${type})`),
      fix: {
        ...(money.length === 0
          ? {}
          : {
              sql: [`${settings} SET lc_monetary = 'C'`],
              undo: [`${settings} RESET lc_monetary`],
              effects: [
                { kind: 'role-setting', role: role.name, database, name: 'lc_monetary', value: 'C' } as const,
                removalEffect(serverSpecificQuery, money),
              ],
            }),
        database,
        by: 'the owner of the tables, or a superuser',
        text: [
          ...(money.length < named.length
            ? [
                'Change the columns to text (ALTER TABLE … ALTER COLUMN … TYPE text), set them to NULL, or drop columns that are not used.',
              ]
            : []),
          ...(money.length === 0
            ? []
            : [
                'For money columns set lc_monetary to C for new sessions of the role in this database; the amounts do not change.',
              ]),
        ].join(' '),
      },
    };
    if (found.length > 0) return failOutcome(['continuous', 'dump'], observed, more);
    return {
      ...unknownOutcome(`${observed}, and their rows were not checked`),
      ...more,
      detail: `${more.detail}${suggestValueQueries(named)}`,
    };
  },
});

function malformedOutcome(
  rows: 'violate' | 'unseen',
  columns: readonly RefusedColumn[],
  database: string,
): CheckOutcome {
  const observed = countOf(columns.length, 'column');
  const types = [...new Set(columns.map(({ type }) => firstWord(type)))];
  const more = {
    headline: 'A column can contain values that no server reads',
    required: 'values that the input function of their type accepts',
    detail: `Functions can write values that the input function of the type refuses: ${types.map((type) => malformedBy[type] ?? type).join('; ')}. The copy fails on the target on every attempt.${unlistedNote(columns)}`,
    objects: limitObjects(columns).map(({ table, column, type }) => `${column} of ${table} (${type})`),
    fix: {
      database,
      by: 'the owner of the tables',
      text: 'Correct the values, or set them to NULL, before the migration.',
    },
  };
  return rows === 'violate'
    ? failOutcome(['continuous', 'dump'], observed, more)
    : {
        ...unknownOutcome(`${observed}, and their rows were not read`),
        ...more,
        premise: 'every value of these columns is accepted as input',
        settledBy: '--deep',
      };
}

const malformedBy: Readonly<Record<string, string>> = {
  xml: 'XML with control characters or more than 256 nested elements ("invalid XML content")',
  circle: 'a circle with a negative radius ("invalid input syntax for type circle")',
  time: 'an offset of 16 hours and more ("time zone displacement out of range")',
  tsvector: 'an empty lexeme ("syntax error in tsvector")',
  '"char"': 'a byte above 127 ("invalid byte sequence for encoding")',
};

function oldTransactions(columns: readonly string[], database: string): CheckOutcome {
  if (columns.length === 0) return passOutcome('none');
  return warnOutcome(countOf(columns.length, 'column'), {
    headline: 'A column contains transaction IDs of this server',
    required: 'no transaction IDs in rows',
    detail: `The values are copied, but the target counts its own transactions. Comparisons with pg_current_snapshot(), txid_current() or age() have other results there: rows that are older than every running transaction here are in the future until the counter of the target reaches them, so a query of an outbox does not return them.${unlistedNote(columns)}`,
    objects: limitObjects(columns),
    fix: {
      database,
      by: 'the owner of the tables',
      text: 'Process such rows before the cut-over, or set the column to a small value (1) in all copied rows on the target after the cut-over.',
    },
  });
}

type Kind = 'money' | 'privileges' | 'relation' | 'internal';

const impactByKind: Readonly<Record<Kind, string>> = {
  money:
    'A money value is copied in the format of lc_monetary, which is not migrated. The target rejects the value or reads another amount: "invalid input syntax for type money".',
  privileges: 'Privileges of dropped roles are copied with their OIDs: "role "16402" does not exist".',
  relation:
    'TOAST tables and temporary tables do not exist on the target: "relation "pg_toast.pg_toast_16402" does not exist".',
  internal: 'Values of internal types can be written but not read: "cannot accept a value of type pg_node_tree".',
};

function kindOf({ type }: ServerSpecificColumn): Kind {
  if (type.startsWith('money')) return 'money';
  if (type.startsWith('aclitem')) return 'privileges';
  return type.startsWith('regclass') ? 'relation' : 'internal';
}

function isMoney(value: ServerSpecificColumn): boolean {
  return kindOf(value) === 'money';
}
