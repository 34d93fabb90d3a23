import { escapeUnprintable } from '../sanitize.ts';

/** One JSON text on one line (https://github.com/ndjson/ndjson-spec). */
export function ndjsonLine(data: unknown): string {
  return ndjsonLines([data]);
}

/** The same of many, in one piece. */
export function ndjsonLines(many: readonly unknown[]): string {
  return ndjsonOf(many.map((data) => JSON.stringify(data) ?? 'null'));
}

/** The same of JSON texts that have no line break in them. */
export function ndjsonOf(texts: readonly string[]): string {
  return escapeUnprintable([...texts, ''].join('\n'));
}
