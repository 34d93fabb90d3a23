import { psqlStatement } from '../../postgresql/psql-script.ts';
import { requoteName } from '../../postgresql/requote.ts';
import type { NamedConstraint } from './constraint-text.ts';
import { firstObjects } from './object-list.ts';

/** A sentence with the queries by which the owner of the tables sees the values of columns that were not read. */
export function ownerValueQueries(columns: readonly { readonly table: string; readonly column: string }[]): string {
  const queries = firstObjects(columns).map(
    ({ table, column }) => `SELECT DISTINCT ${requoteName(column)}::text FROM ONLY ${requoteName(table)}`,
  );
  return ` Their owner can run: ${queries.join('; ')}.`;
}

/** A sentence with the queries that show whether rows violate the constraints, after `setting`; empty for domains only. */
export function ownerQueries(constraints: readonly NamedConstraint[], setting: string): string {
  const queries = constraints.flatMap((one) => violatedByRowQuery(one) ?? []);
  return queries.length === 0
    ? ''
    : ` Expressions of users are not evaluated. Their owner can run: ${[setting, ...firstObjects(queries)].join('; ')}.`;
}

/**
 * A query whether a row violates a CHECK constraint of a table, for its owner. Preflight does not run it: the expression may
 * call functions of users. undefined: a constraint of a domain, which can be
 * used in many columns, or text that cannot be pasted into psql.
 */
function violatedByRowQuery({ owner, ofDomain, definition }: Omit<NamedConstraint, 'name'>): string | undefined {
  const expression = /^CHECK \((.*)\)(?: NO INHERIT)?(?: NOT VALID)?$/s.exec(definition)?.[1];
  if (ofDomain || expression === undefined) return undefined;
  return psqlStatement(`SELECT EXISTS (SELECT FROM ONLY ${requoteName(owner)} WHERE NOT (${expression}))`)?.slice(
    0,
    -1,
  );
}
