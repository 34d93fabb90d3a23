/**
 * Whether a function that is said to be immutable gives another result in another time zone: it takes a time with its zone and
 * makes one without of it, or the other way round, and names no zone.
 * @param types of its arguments, as pg_type has them
 */
export function dependsOnTimeZone(text: string, types: readonly string[]): boolean {
  const words = text
    .toLowerCase()
    .replace(/--[^\n]*|\/\*[\s\S]*?\*\//g, ' ')
    // The seconds since the epoch are the same everywhere.
    .replace(/\b(extract\s*\(\s*|date_part\s*\(\s*')epoch\b/g, ' ');
  if (/\bat\s+time\s+zone\b|\bat\s+local\b|\btimezone\s*\(/.test(words) || zoned.test(words)) return false;
  const takes = (...names: readonly string[]) => types.some((type) => names.includes(type));
  return (takes('timestamptz', 'timetz') && loses.test(words)) || (takes('timestamp', 'date') && gains.test(words));
}

/** The third argument of date_trunc is a zone. */
const zoned = /\bdate_trunc\s*\(\s*'[^']*'\s*,[^,()]*,/;

const loses =
  /(::\s*|\bas\s+)(date|time|timestamp|text|varchar)\b(?!\s*(\(\d\)\s*)?with\s+time)|\b(to_char|date_trunc|date_part|extract|date)\s*\(/;

const gains = /(::\s*|\bas\s+)(timestamptz|timestamp\s*(\(\d\)\s*)?with\s+time\s+zone)\b/;
