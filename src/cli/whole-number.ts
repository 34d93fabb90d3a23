import { usageError } from '../base/errors.ts';
import { shortenInputForError } from './shorten-input-for-error.ts';

export interface NumberBounds {
  readonly min?: number;
  readonly max?: number;
}

/**
 * Parses a whole number; `source` names the option or setting in errors (`--limit`). Throws a usage error for text that is not
 * a whole number and for a number outside the bounds.
 */
export function requireWholeNumber(
  text: string,
  source: string,
  { min = 0, max = Number.MAX_SAFE_INTEGER }: NumberBounds = {},
): number {
  const value = /^[+-]?\d{1,16}$/.test(text) ? Number(text) : undefined;
  if (value === undefined) {
    throw usageError(
      `${source} is not a whole number: "${shortenInputForError(text)}"`,
      `pass a whole number, such as \`${source} ${Math.max(min, 1)}\``,
    );
  }
  if (value < min || value > max) {
    const range = max === Number.MAX_SAFE_INTEGER ? `${min} or more` : `from ${min} to ${max}`;
    throw usageError(`${source} is out of range: ${value}`, `pass a number ${range}`);
  }
  return value;
}
