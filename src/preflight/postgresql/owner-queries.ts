import { psqlStatement } from '../../postgresql/psql-script.ts';
import { requoteQualifiedName } from '../../postgresql/requote.ts';
import type { NamedConstraint } from './constraint-text.ts';
import { firstListedObjects } from './object-list.ts';
import { rowSizeLimit, type TableWithLargeValues } from './queries/large-values.ts';

/** A sentence with the queries by which the owner of the tables sees the values of columns that were not read. */
export function ownerValueQueries(columns: readonly { readonly table: string; readonly column: string }[]): string {
  const queries = firstListedObjects(columns).map(
    ({ table, column }) =>
      `SELECT DISTINCT ${requoteQualifiedName(column)}::text FROM ONLY ${requoteQualifiedName(table)}`,
  );
  return ` Their owner can run: ${queries.join('; ')}.`;
}

/** A sentence with the queries that show whether rows violate the constraints, after `setting`; empty for domains only. */
export function ownerQueries(constraints: readonly NamedConstraint[], setting: string): string {
  const queries = constraints.flatMap((one) => violatedByRowQuery(one) ?? []);
  return queries.length === 0
    ? ''
    : ` Expressions of users are not evaluated. Their owner can run: ${[setting, ...firstListedObjects(queries)].join('; ')}.`;
}

/**
 * A query whether a row violates a CHECK constraint of a table, for its owner. Preflight does not run it: the expression may
 * call functions of users. undefined: a constraint of a domain, which can be
 * used in many columns, or text that cannot be pasted into psql.
 */
function violatedByRowQuery({ owner, ofDomain, definition }: Omit<NamedConstraint, 'name'>): string | undefined {
  const expression = /^CHECK \((.*)\)(?: NO INHERIT)?(?: NOT VALID)?$/s.exec(definition)?.[1];
  if (ofDomain || expression === undefined) return undefined;
  return psqlStatement(
    `SELECT EXISTS (SELECT FROM ONLY ${requoteQualifiedName(owner)} WHERE NOT (${expression}))`,
  )?.slice(0, -1);
}

/**
 * A sentence with the queries that count rows of more than 1 GB. octet_length reads the length that is stored with a value, not
 * the value, except for types other than bytea and text.
 */
export function ownerLengthQueries(large: readonly TableWithLargeValues[]): string {
  const queries = firstListedObjects(large).flatMap(({ table, binaries, texts }) => {
    const lengths = [
      ...binaries.map((name) => `2 * octet_length(${requoteQualifiedName(name)})::bigint`),
      ...texts.map((name) => `octet_length(${requoteQualifiedName(name)}::text)::bigint`),
    ];
    const sum = lengths.map((length) => `coalesce(${length}, 0)`).join(' + ');
    return (
      psqlStatement(`SELECT count(*) FROM ONLY ${requoteQualifiedName(table)} WHERE ${sum} >= ${rowSizeLimit}`) ?? []
    );
  });
  return queries.length === 0 ? '' : ` Their owner can run: ${queries.join(' ')}`;
}
