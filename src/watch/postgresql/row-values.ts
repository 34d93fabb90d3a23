import type { PostgresqlRow } from '../../postgresql/postgresql-row.ts';

/** Reads a value of a row. A column that the server version does not have counts as null. */
export function readRowTextOrEmpty(row: PostgresqlRow | undefined, column: string): string {
  return row?.[column] ?? '';
}

export function readRowTextOrUndefined(row: PostgresqlRow | undefined, column: string): string | undefined {
  return row?.[column] ?? undefined;
}

export function readRowIntegerOrZero(row: PostgresqlRow | undefined, column: string): number {
  return readRowIntegerOrUndefined(row, column) ?? 0;
}

export function readRowIntegerOrUndefined(row: PostgresqlRow | undefined, column: string): number | undefined {
  const value = row?.[column];
  if (value === undefined || value === null || value === '') return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

export function readRowBoolean(row: PostgresqlRow | undefined, column: string): boolean {
  return row?.[column] === 't';
}
