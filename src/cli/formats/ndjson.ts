import { escapeUnprintable } from '../sanitize.ts';

/** One JSON text on one line (https://github.com/ndjson/ndjson-spec). */
export function ndjsonLine(data: unknown): string {
  return `${escapeUnprintable(JSON.stringify(data) ?? 'null')}\n`;
}
