import { isLosslessNumberObject } from '../base/exact.ts';

/**
 * Data for JMESPath in which doubles replace exact numbers, and a function that restores the numbers in the query result.
 */
export interface DataWithReplacedLosslessNumbers {
  readonly data: unknown;
  /**
   * Restores the original values in a query result: unchanged lists and objects are identical to the input, and numbers beyond
   * 2^53 have all digits.
   */
  readonly restore: (result: unknown) => unknown;
}

/**
 * Replaces exact numbers (src/base/exact.ts) with doubles, which JMESPath can compute with; returns undefined if the data has no
 * exact numbers.
 */
export function replaceLosslessNumbersWithDoubles(data: unknown): DataWithReplacedLosslessNumbers | undefined {
  const exact = new Map<string, unknown>();
  const taken = new Set<number>();
  collectNumbers(data, exact, taken);
  if (exact.size === 0) return undefined;
  const doubles = assignDoubles([...exact.keys()], taken);
  const texts = new Map([...doubles].map(([text, double]) => [double, text]));
  const originals = new Map<unknown, unknown>();
  return {
    data: mapDeep(
      data,
      (value) => (isLosslessNumberObject(value) ? (doubles.get(String(value)) ?? Number(value)) : undefined),
      originals,
    ),
    restore: (result) =>
      mapDeep(result, (value) =>
        typeof value === 'number' ? exact.get(texts.get(value) ?? '') : originals.get(value),
      ),
  };
}

/** Collects exact numbers in `exact`, by their digits, and doubles beyond 2^53 in `taken`. */
function collectNumbers(value: unknown, exact: Map<string, unknown>, taken: Set<number>): void {
  if (isLosslessNumberObject(value)) exact.set(String(value), value);
  else if (typeof value === 'number' && isLarge(value)) taken.add(value);
  else if (typeof value === 'object' && value !== null)
    for (const one of Object.values(value)) collectNumbers(one, exact, taken);
}

/**
 * Assigns the nearest unused double to each whole number beyond 2^53, in ascending order, so that the number can be restored
 * from the double.
 */
function assignDoubles(texts: readonly string[], taken: ReadonlySet<number>): ReadonlyMap<string, number> {
  const large = texts.filter((text) => /^-?\d+$/.test(text) && isLarge(Number(text))).map(BigInt);
  const doubles = new Map<string, number>();
  let last = Number.NEGATIVE_INFINITY;
  for (const value of large.sort((a, b) => (a < b ? -1 : Number(a > b)))) {
    let double = Math.max(Number(value), last === Number.NEGATIVE_INFINITY ? last : nextDouble(last));
    while (taken.has(double)) double = nextDouble(double);
    doubles.set(String(value), double);
    last = double;
  }
  return doubles;
}

function isLarge(value: number): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value);
}

/** Returns the next larger double. */
function nextDouble(value: number): number {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, value);
  bits.setBigInt64(0, bits.getBigInt64(0) + (value < 0 ? -1n : 1n));
  return bits.getFloat64(0);
}

/**
 * Replaces values deeply. `change` returns the replacement of a value, or undefined if its children are to be visited. A list
 * or object without replacements is returned itself, not as a copy.
 */
function mapDeep(value: unknown, change: (value: unknown) => unknown, originals?: Map<unknown, unknown>): unknown {
  const other = change(value);
  if (other !== undefined) return other;
  if (typeof value !== 'object' || value === null) return value;
  const before: readonly unknown[] = Object.values(value);
  const after = before.map((one) => mapDeep(one, change, originals));
  if (after.every((one, at) => Object.is(one, before[at]))) return value;
  const copy = Array.isArray(value)
    ? after
    : Object.fromEntries(Object.keys(value).map((name, at) => [name, after[at]]));
  originals?.set(copy, value);
  return copy;
}
