import type { Row } from '../../postgresql/connection.ts';

/** Readers of one value of a row; a column that a version lacks is as good as a null. */
export function text(row: Row | undefined, column: string): string {
  return row?.[column] ?? '';
}

export function textOrNone(row: Row | undefined, column: string): string | undefined {
  return row?.[column] ?? undefined;
}

export function whole(row: Row | undefined, column: string): number {
  return wholeOrNone(row, column) ?? 0;
}

export function wholeOrNone(row: Row | undefined, column: string): number | undefined {
  const value = row?.[column];
  if (value === undefined || value === null || value === '') return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

export function truth(row: Row | undefined, column: string): boolean {
  return row?.[column] === 't';
}
