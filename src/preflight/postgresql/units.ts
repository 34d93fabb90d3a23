/** Parses sizes and durations of settings, and formats them for reports. */

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

/** Formats bytes as `1.5 GB`, in powers of 1024, as PostgreSQL does. */
export function formatBytesAsPostgresql(bytes: number): string {
  const [name, factor] = Object.entries(bytesPerUnit).findLast(([, factor]) => Math.abs(bytes) >= factor) ?? ['B', 1];
  return `${roundedText(bytes / factor)} ${name}`;
}

/** Formats milliseconds as `250 ms`, `12 s`, `3.5 h`, `20 days`. */
export function timeSpanText(milliseconds: number): string {
  if (milliseconds < 1000) return `${roundedText(milliseconds)} ms`;
  if (milliseconds < 120_000) return `${roundedText(milliseconds / 1000)} s`;
  if (milliseconds < 7_200_000) return `${roundedText(milliseconds / 60_000)} min`;
  if (milliseconds < 172_800_000) return `${roundedText(milliseconds / 3_600_000)} h`;
  return `${roundedText(milliseconds / 86_400_000)} days`;
}

/** `1 slot`, `2 slots`. */
export function formatNumberWithNoun(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
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

function roundedText(number: number): string {
  return String(Math.abs(number) < 10 ? Math.round(number * 10) / 10 : Math.round(number));
}
