import { requoteQualifiedName } from '../../../postgresql/requote.ts';
import type { FindingFix } from '../finding.ts';
import { buildQueryRowRemovalFixEffect } from '../fix-effect.ts';
import type { PreflightQuery } from '../query.ts';
import type { NamedConstraint } from './queries/named-constraint.ts';

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

/** Drops the constraints until the cut-over. The undo is for review, because it contains expressions of the source. */
export function buildDropConstraintsFix<T extends NamedConstraint>(
  query: PreflightQuery<readonly T[]>,
  found: readonly T[],
  database: string,
  text: string,
): FindingFix {
  return {
    sql: found.map(buildDropConstraintSql),
    undoReview: found.map(buildAddConstraintNotValidSql),
    effects: [buildQueryRowRemovalFixEffect(query, found)],
    database,
    by: 'the owner of the tables, or a superuser',
    text,
  };
}

/** Puts the name in double quotes, as error messages of PostgreSQL do. */
export function quoteConstraintNameForMessage(name: string): string {
  return name.startsWith('"') ? name : `"${name}"`;
}
