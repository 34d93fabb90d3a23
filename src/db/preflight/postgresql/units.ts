/** Parses the sizes and durations of settings, and formats sizes for them. */

const bytesPerUnit: Readonly<Record<string, number>> = { B: 1, kB: 1024, MB: 1024 ** 2, GB: 1024 ** 3, TB: 1024 ** 4 };
const millisecondsPerUnit: Readonly<Record<string, number>> = {
  us: 0.001,
  ms: 1,
  s: 1000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/**
 * The bytes of a value such as `64MB`, or of a bare number counted in `unit` (`8kB`); undefined if the value is not a
 * size.
 */
export function parsePostgresqlSize(value: string, unit: string | undefined): number | undefined {
  return parseQuantity(value, unit, bytesPerUnit);
}

/**
 * The milliseconds of a value such as `5min`, or of a bare number counted in `unit`; undefined if the value is not a
 * duration.
 */
export function parsePostgresqlDuration(value: string, unit: string | undefined): number | undefined {
  return parseQuantity(value, unit, millisecondsPerUnit);
}

/**
 * Formats a value so that PostgreSQL accepts it: a whole number in the largest unit that keeps at least two digits:
 * `300 MB` is `300MB`.
 */
export function formatSizeForPostgresqlSetting(bytes: number): string {
  const megabytes = Math.ceil(bytes / 1024 ** 2);
  return megabytes >= 10 * 1024 ? `${Math.ceil(megabytes / 1024)}GB` : `${megabytes}MB`;
}

function parseQuantity(
  value: string,
  unit: string | undefined,
  table: Readonly<Record<string, number>>,
): number | undefined {
  const parts = /^\s*([-+]?[\d.]+)\s*([A-Za-z]*)\s*$/.exec(value);
  if (parts === null) return undefined;
  const number = Number(parts[1]);
  const counted = /^(\d*)([A-Za-z]+)$/.exec(parts[2] === '' ? (unit ?? '') : parts[2]!);
  if (counted === null) return Number.isFinite(number) ? number : undefined;
  const factor = table[counted[2]!];
  return factor === undefined || !Number.isFinite(number) ? undefined : number * Number(counted[1] || 1) * factor;
}
