import { type ExactNumber, isExactNumber, parseExact } from './exact.ts';

export type JsonRecord = Readonly<Record<string, unknown>>;

/** Parses JSON from outside the program. The value is `unknown` until a decoder has checked it. */
export function parseJson(text: string): { readonly ok: true; readonly value: unknown } | { readonly ok: false } {
  try {
    // A byte order mark may be ignored (RFC 8259 §8.1).
    return { ok: true, value: JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text) };
  } catch {
    // The message of the engine quotes the text, which may contain a secret, so it is dropped.
    return { ok: false };
  }
}

/** The same for data that is printed again: numbers that a double cannot represent keep their digits. */
export function parseExactJson(text: string): ReturnType<typeof parseJson> {
  try {
    return { ok: true, value: parseExact(text.startsWith('\uFEFF') ? text.slice(1) : text) };
  } catch {
    return { ok: false };
  }
}

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isExactNumber(value);
}

export function stringField(record: JsonRecord, key: string): string | undefined {
  const value = record[key];
  return typeof value === 'string' ? value : undefined;
}

/** A number to compute with; see `exactNumberField` for a number to print. */
export function numberField(record: JsonRecord, key: string): number | undefined {
  const held = record[key];
  const value = isExactNumber(held) ? Number(held) : held;
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

export function exactNumberField(record: JsonRecord, key: string): number | ExactNumber | undefined {
  const value = record[key];
  return isExactNumber(value) ? value : numberField(record, key);
}
