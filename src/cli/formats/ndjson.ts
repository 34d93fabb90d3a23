import { isAscii } from 'node:buffer';
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

/**
 * Escapes control characters in NDJSON lines that were received from a server. Most lines contain only printable ASCII and are
 * returned unchanged.
 */
export function escapeNdjsonLines(lines: Uint8Array): string | Uint8Array {
  if (isAscii(lines) && !lines.includes(deleteCharacter)) return lines;
  return escapeUnprintable(Buffer.from(lines).toString('utf8'));
}

const deleteCharacter = 0x7f;
