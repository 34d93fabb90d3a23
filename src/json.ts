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

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function textOf(record: JsonRecord, key: string): string | undefined {
  const value = record[key];
  return typeof value === 'string' ? value : undefined;
}

export function numberOf(record: JsonRecord, key: string): number | undefined {
  const value = record[key];
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}
