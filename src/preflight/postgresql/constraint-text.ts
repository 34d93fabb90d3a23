import { psqlStatement } from '../../postgresql/psql-script.ts';
import { requoteName } from '../../postgresql/requote.ts';
import { firstObjects } from './object-list.ts';

interface NamedConstraint {
  /** Quoted where needed. */
  readonly name: string;
  /** The table or domain, with its schema. */
  readonly owner: string;
  readonly ofDomain: boolean;
  /** As pg_get_constraintdef writes it. */
  readonly definition: string;
}

/** `ALTER TABLE public.t`, or `ALTER DOMAIN public.d`. */
export function alterOwner({ owner, ofDomain }: Pick<NamedConstraint, 'owner' | 'ofDomain'>): string {
  return `ALTER ${ofDomain ? 'DOMAIN' : 'TABLE'} ${requoteName(owner)}`;
}

export function dropConstraint(constraint: Omit<NamedConstraint, 'definition'>): string {
  return `${alterOwner(constraint)} DROP CONSTRAINT IF EXISTS ${requoteName(constraint.name)}`;
}

/** Adds the constraint without checking the rows that exist already. To be reviewed: it holds an expression of the source. */
export function addConstraintNotValid(constraint: NamedConstraint): string {
  const definition = constraint.definition.replace(/ NOT VALID$/, '');
  return `${alterOwner(constraint)} ADD CONSTRAINT ${requoteName(constraint.name)} ${definition} NOT VALID`;
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

/** In double quotes, as error messages of the server quote names. */
export function quoteConstraintName(name: string): string {
  return name.startsWith('"') ? name : `"${name}"`;
}
