/**
 * Parses a duration to milliseconds from a text such as `30s` or `+10m`, or from a number; undefined for any other value, a
 * negative one, or more than 100 years.
 */
export function parseSandboxDurationToMilliseconds(value: unknown): number | undefined {
  const [, amount, unit = ''] = typeof value === 'string' ? (/^\+?(\d{1,12})(ms|s|m|h|d)$/.exec(value) ?? []) : [];
  const duration = typeof value === 'number' ? value : Number(amount) * (UNITS.get(unit) ?? Number.NaN);
  return Number.isSafeInteger(duration) && duration >= 0 && duration <= MAX_DURATION_MS ? duration : undefined;
}

const MAX_DURATION_MS = 36_525 * 86_400_000;
const UNITS: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
]);
