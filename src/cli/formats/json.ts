import { escapeUnprintable } from '../sanitize.ts';

/** Indented by two spaces, with a newline; characters that act on a terminal are escaped, which leaves the data the same. */
export function jsonDocument(data: unknown): string {
  return `${escapeUnprintable(JSON.stringify(data, null, 2) ?? 'null')}\n`;
}
