import { stringifyExact } from '../../base/exact.ts';
import { escapeUnprintable } from '../../base/sanitize.ts';

/** Formats a value as NDJSON: one JSON text on one line (https://github.com/ndjson/ndjson-spec). */
export function ndjsonLine(data: unknown): string {
  return ndjsonLines([data]);
}

/** Prints one NDJSON line for each value. */
export function ndjsonLines(many: readonly unknown[]): string {
  const texts = many.map((data) => stringifyExact(data) ?? 'null');
  return texts.length === 0 ? '' : `${escapeUnprintable(texts.join('\n'))}\n`;
}
