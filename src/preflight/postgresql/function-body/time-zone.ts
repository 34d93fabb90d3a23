/**
 * Whether the result of a function declared IMMUTABLE depends on the time zone, because it converts between types with
 * and without time zone and names no zone. The result is a guess from the text of the function body.
 */
export function hasFunctionTimeZoneDependency(text: string, types: readonly string[]): boolean {
  const words = text
    .toLowerCase()
    .replace(/--[^\n]*|\/\*[\s\S]*?\*\//g, ' ')
    // Seconds since the epoch do not depend on the time zone.
    .replace(/\b(extract\s*\(\s*|date_part\s*\(\s*')epoch\b/g, ' ');
  if (/\bat\s+time\s+zone\b|\bat\s+local\b|\btimezone\s*\(/.test(words) || zoned.test(words)) return false;
  const takes = (...names: readonly string[]) => types.some((type) => names.includes(type));
  return (takes('timestamptz', 'timetz') && loses.test(words)) || (takes('timestamp', 'date') && gains.test(words));
}

/** The third argument of date_trunc is the time zone. */
const zoned = /\bdate_trunc\s*\(\s*'[^']*'\s*,[^,()]*,/;

const loses =
  /(::\s*|\bas\s+)(date|time|timestamp|text|varchar)\b(?!\s*(\(\d\)\s*)?with\s+time)|\b(to_char|date_trunc|date_part|extract|date)\s*\(/;

const gains = /(::\s*|\bas\s+)(timestamptz|timestamp\s*(\(\d\)\s*)?with\s+time\s+zone)\b/;
