import { parsePostgresqlArray } from './nested-text.ts';
import type { PostgresqlRow } from './postgresql-row.ts';

/** Returns an empty text for NULL and for a missing column, because queries for older versions leave some columns out. */
export function decodeTextColumn(row: PostgresqlRow | undefined, column: string): string {
  return row?.[column] ?? '';
}

export function decodeOptionalTextColumn(row: PostgresqlRow | undefined, column: string): string | undefined {
  return row?.[column] ?? undefined;
}

export function decodeNumberColumnOrZero(row: PostgresqlRow | undefined, column: string): number {
  return decodeOptionalNumberColumn(row, column) ?? 0;
}

export function decodeOptionalNumberColumn(row: PostgresqlRow | undefined, column: string): number | undefined {
  const value = row?.[column];
  if (value === undefined || value === null || value === '') return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

export function decodeBooleanColumn(row: PostgresqlRow | undefined, column: string): boolean {
  return row?.[column] === 't';
}

/** Decodes an array, and leaves out elements that are NULL. */
export function decodeTextArrayColumn(row: PostgresqlRow | undefined, column: string): readonly string[] {
  const value = row?.[column];
  if (value === undefined || value === null) return [];
  return parsePostgresqlArray(value).filter((element) => element !== null);
}
