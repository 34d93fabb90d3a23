import { isAscii } from 'node:buffer';
import { stringifyExact } from '../../exact.ts';
import { escapeUnprintable } from '../sanitize.ts';

/** One JSON text on one line (https://github.com/ndjson/ndjson-spec). */
export function ndjsonLine(data: unknown): string {
  return ndjsonLines([data]);
}

/** The same of many, in one piece. */
export function ndjsonLines(many: readonly unknown[]): string {
  const texts = many.map((data) => stringifyExact(data) ?? 'null');
  return texts.length === 0 ? '' : `${escapeUnprintable(texts.join('\n'))}\n`;
}

/** The same of such lines as they came from elsewhere; most of them need nothing, which is cheap to see. */
export function printableLines(lines: Uint8Array): string | Uint8Array {
  if (isAscii(lines) && !lines.includes(deleteCharacter)) return lines;
  return escapeUnprintable(Buffer.from(lines).toString('utf8'));
}

const deleteCharacter = 0x7f;
