import { requoteQualifiedName } from '../../postgresql/requote.ts';

export interface NamedConstraint {
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
  return `ALTER ${ofDomain ? 'DOMAIN' : 'TABLE'} ${requoteQualifiedName(owner)}`;
}

export function dropConstraint(constraint: Omit<NamedConstraint, 'definition'>): string {
  return `${alterOwner(constraint)} DROP CONSTRAINT IF EXISTS ${requoteQualifiedName(constraint.name)}`;
}

/** Adds the constraint without checking the rows that exist already. To be reviewed: it holds an expression of the source. */
export function addConstraintNotValid(constraint: NamedConstraint): string {
  const definition = constraint.definition.replace(/ NOT VALID$/, '');
  return `${alterOwner(constraint)} ADD CONSTRAINT ${requoteQualifiedName(constraint.name)} ${definition} NOT VALID`;
}

/** In double quotes, as error messages of the server quote names. */
export function quoteConstraintName(name: string): string {
  return name.startsWith('"') ? name : `"${name}"`;
}
