import { stringifyExact } from '../../exact.ts';
import { escapeUnprintable } from '../sanitize.ts';

/** Indented by two spaces, with a newline; characters that act on a terminal are escaped, which leaves the data the same. */
export function jsonDocument(data: unknown): string {
  return `${escapeUnprintable(stringifyExact(data, 2) ?? 'null')}\n`;
}

/** What stands in the document of an array between its brackets, for at least one element. */
export function jsonElements(many: readonly unknown[]): string {
  return escapeUnprintable((stringifyExact(many, 2) ?? '').slice('[\n'.length, -'\n]'.length));
}
