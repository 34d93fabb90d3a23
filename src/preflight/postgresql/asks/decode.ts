import type { Row } from '../ask.ts';

/** Readers of one value of a row. A missing column is as good as a null: `absent` versions leave some out. */
export function textIn(row: Row, column: string): string {
  return row[column] ?? '';
}

export function textOrNone(row: Row, column: string): string | undefined {
  return row[column] ?? undefined;
}

export function numberIn(row: Row, column: string): number {
  return numberOrNone(row, column) ?? 0;
}

export function numberOrNone(row: Row, column: string): number | undefined {
  const value = row[column];
  if (value === undefined || value === null || value === '') return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

export function truthIn(row: Row, column: string): boolean {
  return row[column] === 't';
}

/** An array that the server wrote as JSON, which needs no parser of its own. */
export function listIn(row: Row, column: string): readonly string[] {
  const value = row[column];
  if (value === undefined || value === null) return [];
  const parsed: unknown = JSON.parse(value);
  return Array.isArray(parsed) ? parsed.map(String) : [];
}
