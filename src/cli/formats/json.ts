import { stringifyExact } from '../../base/exact.ts';
import { escapeUnprintable } from '../../base/sanitize.ts';

/**
 * Formats data as JSON with an indentation of two spaces and a final newline. Characters that control a terminal are written as
 * JSON escapes, which does not change the data.
 */
export function formatJsonDocument(data: unknown): string {
  return `${escapeUnprintable(stringifyExact(data, 2) ?? 'null')}\n`;
}

/** Returns the text between the brackets of a JSON array with at least one element. */
export function formatJsonElements(many: readonly unknown[]): string {
  return escapeUnprintable((stringifyExact(many, 2) ?? '').slice('[\n'.length, -'\n]'.length));
}
