import { type ExactNumber, isExactNumber, parseExact } from './exact.ts';

export type JsonRecord = Readonly<Record<string, unknown>>;

/** Decoders begin here: what came from outside is `unknown` until it was looked at. */
export function parseJson(text: string): { readonly ok: true; readonly value: unknown } | { readonly ok: false } {
  try {
    // A mark of the byte order may be passed over (RFC 8259 §8.1).
    return { ok: true, value: JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text) };
  } catch {
    // The engine's message quotes the text, which may hold a secret: it goes no further.
    return { ok: false };
  }
}

/** The same for what is handed on: numbers that a double would change are kept as they came. */
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

/** To be reckoned with; `exactOf` gives what is shown. */
export function numberField(record: JsonRecord, key: string): number | undefined {
  const held = record[key];
  const value = isExactNumber(held) ? Number(held) : held;
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

export function exactNumberField(record: JsonRecord, key: string): number | ExactNumber | undefined {
  const value = record[key];
  return isExactNumber(value) ? value : numberField(record, key);
}
