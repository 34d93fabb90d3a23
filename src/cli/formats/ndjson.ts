import { isAscii } from 'node:buffer';
import { stringifyExact } from '../../exact.ts';
import { escapeUnprintable } from '../../sanitize/json-text.ts';

/** One JSON text on one line (https://github.com/ndjson/ndjson-spec). */
export function ndjsonLine(data: unknown): string {
  return ndjsonLines([data]);
}

/** One line for each value. */
export function ndjsonLines(many: readonly unknown[]): string {
  const texts = many.map((data) => stringifyExact(data) ?? 'null');
  return texts.length === 0 ? '' : `${escapeUnprintable(texts.join('\n'))}\n`;
}

/** Escapes control characters in NDJSON lines that a server sent. Most lines are plain ASCII and are returned as they are. */
export function printableLines(lines: Uint8Array): string | Uint8Array {
  if (isAscii(lines) && !lines.includes(deleteCharacter)) return lines;
  return escapeUnprintable(Buffer.from(lines).toString('utf8'));
}

const deleteCharacter = 0x7f;
