import type { PostgresqlRow } from '../../postgresql/postgresql-row.ts';

/** Reads a value of a row. A column that the server version does not have counts as null. */
export function rowText(row: PostgresqlRow | undefined, column: string): string {
  return row?.[column] ?? '';
}

export function rowTextOrUndefined(row: PostgresqlRow | undefined, column: string): string | undefined {
  return row?.[column] ?? undefined;
}

export function rowInteger(row: PostgresqlRow | undefined, column: string): number {
  return rowIntegerOrUndefined(row, column) ?? 0;
}

export function rowIntegerOrUndefined(row: PostgresqlRow | undefined, column: string): number | undefined {
  const value = row?.[column];
  if (value === undefined || value === null || value === '') return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

export function rowBoolean(row: PostgresqlRow | undefined, column: string): boolean {
  return row?.[column] === 't';
}
