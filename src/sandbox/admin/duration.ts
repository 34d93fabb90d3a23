/** Milliseconds of `30s` or `+10m` or of a number; undefined for anything that is not a step forward, of 100 years at most. */
export function parseDurationMs(value: unknown): number | undefined {
  const [, amount, unit = ''] = typeof value === 'string' ? (/^\+?(\d{1,12})(ms|s|m|h|d)$/.exec(value) ?? []) : [];
  const step = typeof value === 'number' ? value : Number(amount) * (UNITS.get(unit) ?? Number.NaN);
  return Number.isSafeInteger(step) && step >= 0 && step <= HUNDRED_YEARS ? step : undefined;
}

const HUNDRED_YEARS = 36_525 * 86_400_000;
const UNITS: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
]);
