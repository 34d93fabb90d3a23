import type { WalVolumeSinceReset } from './queries/wal.ts';
import type { WalRate } from './source-facts.ts';

/**
 * The higher of the measured WAL rate and the average WAL rate since the statistics were reset. A measurement of less
 * than one second is used only if there is no average, because a single WAL record may be most of it.
 */
export function estimateWalBytesPerSecond(
  sample: WalRate | undefined,
  history: WalVolumeSinceReset | undefined,
): number {
  const now = sample === undefined || sample.seconds <= 0 ? 0 : sample.bytes / sample.seconds;
  const average = history === undefined || history.seconds < 3600 ? undefined : history.bytes / history.seconds;
  return average !== undefined && (sample?.seconds ?? 0) < 1 ? average : Math.max(now, average ?? 0);
}
