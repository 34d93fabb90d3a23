import { stringifyExact } from '../../exact.ts';
import { escapeUnprintable } from '../../sanitize/json-text.ts';

/** JSON with two spaces of indentation and a newline. Escapes characters that control a terminal, which keeps the data the same. */
export function jsonDocument(data: unknown): string {
  return `${escapeUnprintable(stringifyExact(data, 2) ?? 'null')}\n`;
}

/** The text between the brackets of a JSON array with at least one element. */
export function jsonElements(many: readonly unknown[]): string {
  return escapeUnprintable((stringifyExact(many, 2) ?? '').slice('[\n'.length, -'\n]'.length));
}
