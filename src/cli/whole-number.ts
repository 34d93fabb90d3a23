import { usageError } from '../errors.ts';
import { printableInput } from './sanitize.ts';

export interface NumberBounds {
  readonly min?: number;
  readonly max?: number;
}

/** The whole number given as `source` (`--limit`); anything else, or one outside the bounds, is a usage error. */
export function requireWholeNumber(
  text: string,
  source: string,
  { min = 0, max = Number.MAX_SAFE_INTEGER }: NumberBounds = {},
): number {
  const value = /^[+-]?\d{1,16}$/.test(text) ? Number(text) : undefined;
  if (value === undefined) {
    throw usageError(
      `${source} is no whole number: "${printableInput(text)}"`,
      `write it as in \`${source} ${Math.max(min, 1)}\``,
    );
  }
  if (value < min || value > max) {
    const range = max === Number.MAX_SAFE_INTEGER ? `${min} or more` : `from ${min} to ${max}`;
    throw usageError(`${source} is out of range: ${value}`, `give a number ${range}`);
  }
  return value;
}
