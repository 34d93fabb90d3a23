import { usage } from '../errors.ts';
import { shown } from './sanitize.ts';

export interface Bounds {
  readonly min?: number;
  readonly max?: number;
}

/** The whole number given as `source` (`--limit`); anything else, or one outside the bounds, is a usage error. */
export function wholeNumber(
  text: string,
  source: string,
  { min = 0, max = Number.MAX_SAFE_INTEGER }: Bounds = {},
): number {
  const value = /^[+-]?\d{1,16}$/.test(text) ? Number(text) : undefined;
  if (value === undefined) {
    throw usage(`${source} is no whole number: "${shown(text)}"`, `write it as in \`${source} ${Math.max(min, 1)}\``);
  }
  if (value < min || value > max) {
    const range = max === Number.MAX_SAFE_INTEGER ? `${min} or more` : `from ${min} to ${max}`;
    throw usage(`${source} is out of range: ${value}`, `give a number ${range}`);
  }
  return value;
}
