import { formatSingleLinePsqlStatement } from '../../postgresql/psql-script.ts';
import { quoteIdentifier } from '../../postgresql/quote.ts';
import { requoteQualifiedName } from '../../postgresql/requote.ts';
import type { DuplicateUniqueKeys } from './deep/scanned-row-statistics.ts';
import { limitFindingObjects } from './listed-objects.ts';
import { maxPostgresqlRowBytes, type TableWithLargeValues } from './queries/large-values.ts';
import type { NamedConstraint } from './queries/named-constraint.ts';

/**
 * A sentence with queries that the owner of the tables can run, to see the values of columns that preflight did not
 * read.
 */
export function suggestValueQueriesForTableOwner(
  columns: readonly { readonly table: string; readonly column: string }[],
): string {
  const queries = limitFindingObjects(columns).map(
    ({ table, column }) =>
      `SELECT DISTINCT ${requoteQualifiedName(column)}::text FROM ONLY ${requoteQualifiedName(table)}`,
  );
  return ` The owner of the tables can run: ${queries.join('; ')}.`;
}

/**
 * A sentence with the statement `setting` and the queries that show whether rows violate the constraints; empty if all
 * constraints belong to domains.
 */
export function describeConstraintQueriesForOwner(constraints: readonly NamedConstraint[], setting: string): string {
  const queries = constraints.flatMap((one) => violatedByRowQuery(one) ?? []);
  return queries.length === 0
    ? ''
    : ` The preflight does not evaluate expressions of users. The owner of the tables can run: ${[setting, ...limitFindingObjects(queries)].join('; ')}.`;
}

/**
 * A query for the owner of a table: it shows whether a row violates a CHECK constraint. Preflight does not run this
 * query, because the expression may call functions of users. undefined for a constraint of a domain, which can be used
 * in many columns, or for text that cannot be pasted into psql.
 */
function violatedByRowQuery({ owner, ofDomain, definition }: Omit<NamedConstraint, 'name'>): string | undefined {
  const expression = /^CHECK \((.*)\)(?: NO INHERIT)?(?: NOT VALID)?$/s.exec(definition)?.[1];
  if (ofDomain || expression === undefined) return undefined;
  return formatSingleLinePsqlStatement(
    `SELECT EXISTS (SELECT FROM ONLY ${requoteQualifiedName(owner)} WHERE NOT (${expression}))`,
  )?.slice(0, -1);
}

/**
 * Describes, with SQL queries, how the owner can count the rows of more than 1 GB. octet_length reads only the stored
 * length of a bytea or text value; for other types it reads the whole value.
 */
export function describeRowLengthQueriesForOwner(large: readonly TableWithLargeValues[]): string {
  const queries = limitFindingObjects(large).flatMap(({ table, binaries, texts }) => {
    const lengths = [
      ...binaries.map((name) => `2 * octet_length(${requoteQualifiedName(name)})::bigint`),
      ...texts.map((name) => `octet_length(${requoteQualifiedName(name)}::text)::bigint`),
    ];
    const sum = lengths.map((length) => `coalesce(${length}, 0)`).join(' + ');
    return (
      formatSingleLinePsqlStatement(
        `SELECT count(*) FROM ONLY ${requoteQualifiedName(table)} WHERE ${sum} >= ${maxPostgresqlRowBytes}`,
      ) ?? []
    );
  });
  return queries.length === 0 ? '' : ` The owner of the tables can run: ${queries.join(' ')}`;
}

/**
 * Returns a sentence with the queries that list the equal keys. The queries must not use an index, because an index may
 * lack rows.
 */
export function suggestQueriesForDuplicateKeys(duplicates: readonly DuplicateUniqueKeys[]): string {
  const queries = limitFindingObjects(duplicates).flatMap(({ table, columns }) => {
    const key = columns.map(quoteIdentifier).join(', ');
    return (
      formatSingleLinePsqlStatement(
        `SELECT ${key}, count(*) FROM ONLY ${requoteQualifiedName(table)} GROUP BY ${key} HAVING count(*) > 1`,
      ) ?? []
    );
  });
  if (queries.length === 0) return '';
  const settings = ['indexscan', 'indexonlyscan', 'bitmapscan'].map((name) => `SET enable_${name} = off;`);
  return ` Their owner can run: ${[...settings, ...queries].join(' ')}`;
}
