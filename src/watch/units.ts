/** Formats bytes as `1.4 GB`, in units of 1024 like pg_size_pretty. */
export function formatBytesInUnitsOf1024(bytes: number): string {
  let value = Math.max(0, bytes);
  for (const unit of ['B', 'kB', 'MB', 'GB']) {
    if (value < 1000) return `${unit === 'B' ? Math.round(value) : value.toFixed(value < 10 ? 1 : 0)} ${unit}`;
    value /= 1024;
  }
  return `${value.toFixed(1)} TB`;
}

/** Formats a duration as `45 s`, `12 min`, `3 h 20 min`, `2 d 4 h`. */
export function formatElapsed(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min`;
  const [big, size, unit, small, rest] =
    whole < 86_400 ? (['h', 3600, 60, 'min', 60] as const) : (['d', 86_400, 3600, 'h', 24] as const);
  const left = Math.floor((whole % size) / unit) % rest;
  return `${Math.floor(whole / size)} ${big}${left === 0 ? '' : ` ${left} ${small}`}`;
}
