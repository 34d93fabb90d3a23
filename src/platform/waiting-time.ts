/**
 * Formats a waiting time for people, rounded up: `45 s`, `12 min`, `2 h 5 min`. Times of one minute or more are shown without
 * seconds.
 */
export function formatWaitingTime(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  return minutes % 60 === 0 ? `${minutes / 60} h` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
