// Amounts in the text that people read. Sizes and times have about two digits: more would suggest that they are exact.

/**
 * `1.5 kB`, `12 MB`, `740 GB`: in powers of 1024, as PostgreSQL and Redis count in their settings and reports, with the unit
 * names of PostgreSQL. Negative amounts are 0.
 */
export function formatBytes(bytes: number): string {
  const amount = Math.max(0, bytes);
  const power = amount < 1 ? 0 : Math.floor(Math.log2(amount) / 10);
  const step = Math.min(power, byteUnits.length - 1);
  const value = amount / 1024 ** step;
  return `${value < 9.95 ? Math.round(value * 10) / 10 : Math.round(value)} ${byteUnits[step]}`;
}

const byteUnits = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];

/**
 * `250 ms`, `45 s`, `3 min 20 s`, `12 min`, `2 h 5 min`, `14 d`: rounded to the last unit shown, which is the largest one from
 * 10 on, else the next one. Negative times are 0.
 */
export function formatDuration(ms: number): string {
  if (ms > 0 && Math.round(ms) < 1000) return `${Math.max(1, Math.round(ms))} ms`;
  const seconds = Math.max(0, Math.round(ms / 1000));
  const at = timeUnits.findLastIndex(([, size]) => seconds >= size);
  const [unit, size] = timeUnits[at] ?? ['s', 1];
  const [smaller, part] = timeUnits[at - 1] ?? ['', size];
  // Rounding may reach the next unit: 59 min 40 s are 1 h.
  const rounded = seconds < 10 * size ? roundTo(seconds, part) : roundTo(seconds, size);
  const next = timeUnits[at + 1];
  if (next !== undefined && rounded >= next[1]) return `1 ${next[0]}`;
  const [whole, rest] = [Math.floor(rounded / size), (rounded % size) / part];
  return rest === 0 ? `${whole} ${unit}` : `${whole} ${unit} ${rest} ${smaller}`;
}

const timeUnits = [
  ['s', 1],
  ['min', 60],
  ['h', 3600],
  ['d', 86_400],
] as const;

function roundTo(value: number, unit: number): number {
  return Math.round(value / unit) * unit;
}

/** `1 source`, `12 sources`, `1,000 sources`; @param many the plural, by default with an s */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/** `1,000`: a whole number with a comma for each thousand. */
export function formatCount(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** Quotes `text` as one argument of a POSIX shell, only where the shell would otherwise change it. */
export function quoteShellArg(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * Shows invisible characters as escapes, in input that an error repeats: such a character may be all that is wrong, as the CR at
 * the end of a line of a Windows file.
 */
export function showInvisible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => {
    const short = JSON.stringify(character).slice(1, -1);
    return short.startsWith('\\') ? short : `\\u{${character.codePointAt(0)?.toString(16)}}`;
  });
}
