import type { WalHistory } from './queries/wal.ts';
import type { WalRate } from './source-facts.ts';

/** The higher of the measured rate and the average since the statistics were reset. */
export function walBytesPerSecond(sample: WalRate | undefined, history: WalHistory | undefined): number {
  const now = sample === undefined || sample.seconds <= 0 ? 0 : sample.bytes / sample.seconds;
  const average = history === undefined || history.seconds < 3600 ? 0 : history.bytes / history.seconds;
  return Math.max(now, average);
}
