import { decodeBooleanColumn, decodeTextColumn } from '../../../../postgresql/decode-row.ts';
import type { PostgresqlRow } from '../../../../postgresql/postgresql-row.ts';

export interface NamedConstraint {
  /** Quoted where needed. */
  readonly name: string;
  /** The table or domain of the constraint, with its schema. */
  readonly owner: string;
  readonly ofDomain: boolean;
  /** The constraint definition as pg_get_constraintdef returns it: `CHECK ((until > now()))`. */
  readonly definition: string;
}

/** Query columns for `decodeNamedConstraint`: the constraint `k`. They come first, for `ORDER BY 2, 1`. */
export const namedConstraintSelectListSql = `
  quote_ident(k.conname) AS conname,
  CASE WHEN k.contypid <> '0' THEN k.contypid::regtype::text ELSE k.conrelid::regclass::text END AS owner,
  k.contypid <> '0' AS of_domain,
  pg_get_constraintdef(k.oid) AS definition
`;

export function decodeNamedConstraint(row: PostgresqlRow): NamedConstraint {
  return {
    name: decodeTextColumn(row, 'conname'),
    owner: decodeTextColumn(row, 'owner'),
    ofDomain: decodeBooleanColumn(row, 'of_domain'),
    definition: decodeTextColumn(row, 'definition'),
  };
}
