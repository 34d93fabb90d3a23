import { isLosslessNumberObject } from '../base/exact.ts';

/**
 * Data for JMESPath in which doubles replace exact numbers, and a function that restores the numbers in the query result.
 */
export interface DataWithReplacedLosslessNumbers {
  readonly data: unknown;
  readonly literals: readonly unknown[];
  /**
   * Restores the original values in a query result: unchanged lists and objects are identical to the input, and numbers beyond
   * 2^53 have all digits.
   */
  readonly restore: (result: unknown) => unknown;
}

/**
 * Replaces exact numbers (src/base/exact.ts) with doubles, which JMESPath can compute with; returns undefined if there are no
 * exact numbers. @param literals values of the query, in which equal numbers get the same doubles as in the data
 */
export function replaceLosslessNumbersWithDoubles(
  data: unknown,
  literals: readonly unknown[] = [],
): DataWithReplacedLosslessNumbers | undefined {
  const exact = new Map<string, unknown>();
  collectNumbers(data, exact);
  collectNumbers(literals, exact);
  if (![...exact.values()].some(isLosslessNumberObject)) return undefined;
  const doubles = assignDoubles([...exact.keys()]);
  const texts = new Map([...doubles].map(([text, double]) => [double, text]));
  const originals = new Map<unknown, unknown>();
  const toDouble = (value: unknown) => {
    if (isLosslessNumberObject(value)) return doubles.get(String(value)) ?? Number(value);
    return typeof value === 'number' && isLarge(value) ? doubles.get(String(BigInt(value))) : undefined;
  };
  return {
    data: mapDeep(data, toDouble, originals),
    literals: literals.map((value) => mapDeep(value, toDouble, originals)),
    restore: (result) =>
      mapDeep(result, (value) =>
        typeof value === 'number' ? exact.get(texts.get(value) ?? '') : originals.get(value),
      ),
  };
}

/** Collects exact numbers and doubles beyond 2^53, by their digits. */
function collectNumbers(value: unknown, exact: Map<string, unknown>): void {
  if (isLosslessNumberObject(value)) exact.set(String(value), value);
  else if (typeof value === 'number' && isLarge(value)) exact.set(String(BigInt(value)), value);
  else if (typeof value === 'object' && value !== null)
    for (const one of Object.values(value)) collectNumbers(one, exact);
}

/**
 * Assigns the nearest unused double to each whole number beyond 2^53, in ascending order, so that the numbers keep their order
 * and can be restored from the doubles.
 */
function assignDoubles(texts: readonly string[]): ReadonlyMap<string, number> {
  const large = texts.filter((text) => /^-?\d+$/.test(text) && isLarge(Number(text))).map(BigInt);
  const doubles = new Map<string, number>();
  let last = Number.NEGATIVE_INFINITY;
  for (const value of large.sort((a, b) => (a < b ? -1 : Number(a > b)))) {
    const double = Math.max(Number(value), last === Number.NEGATIVE_INFINITY ? last : nextDouble(last));
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
