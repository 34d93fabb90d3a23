import { requoteQualifiedName } from '../../postgresql/requote.ts';

export interface NamedConstraint {
  /** Quoted where needed. */
  readonly name: string;
  /** The table or domain of the constraint, with its schema. */
  readonly owner: string;
  readonly ofDomain: boolean;
  /** The constraint definition as pg_get_constraintdef returns it. */
  readonly definition: string;
}

/** The beginning of a statement that alters the constraint: `ALTER TABLE public.t`, or `ALTER DOMAIN public.d`. */
export function buildAlterTableOrDomainPrefix({
  owner,
  ofDomain,
}: Pick<NamedConstraint, 'owner' | 'ofDomain'>): string {
  return `ALTER ${ofDomain ? 'DOMAIN' : 'TABLE'} ${requoteQualifiedName(owner)}`;
}

export function buildDropConstraintSql(constraint: Omit<NamedConstraint, 'definition'>): string {
  return `${buildAlterTableOrDomainPrefix(constraint)} DROP CONSTRAINT IF EXISTS ${requoteQualifiedName(constraint.name)}`;
}

/**
 * Adds the constraint as NOT VALID, so that existing rows are not checked. The statement is for review, because it
 * contains an expression of the source.
 */
export function buildAddConstraintNotValidSql(constraint: NamedConstraint): string {
  const definition = constraint.definition.replace(/ NOT VALID$/, '');
  return `${buildAlterTableOrDomainPrefix(constraint)} ADD CONSTRAINT ${requoteQualifiedName(constraint.name)} ${definition} NOT VALID`;
}

/** Puts the name in double quotes, as error messages of PostgreSQL do. */
export function quoteConstraintNameForMessage(name: string): string {
  return name.startsWith('"') ? name : `"${name}"`;
}
