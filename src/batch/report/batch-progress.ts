import { formatWaitingTime } from '../../cli/duration.ts';

/** The progress of a batch run. */
export interface BatchProgress {
  readonly created: number;
  readonly total: number;
  /** The number of droplets that this run created. */
  readonly fresh: number;
  /** Milliseconds since the run started. */
  readonly elapsed: number;
}

const barWidth = 20;

/** Formats progress as one line for a terminal: progress bar, created/total, rate and remaining time. */
export function formatBatchProgressBarLine(progress: BatchProgress): string {
  const filled = progress.total === 0 ? 0 : Math.floor((barWidth * progress.created) / progress.total);
  return `${'█'.repeat(filled)}${'░'.repeat(barWidth - filled)} ${formatBatchProgressText(progress)}`;
}

export function formatBatchProgressText({ created, total, fresh, elapsed }: BatchProgress): string {
  const rate = elapsed <= 0 ? 0 : (fresh * 1000) / elapsed;
  const parts = [`${created}/${total} created`];
  if (rate > 0) parts.push(`${rate < 10 ? rate.toFixed(1) : Math.round(rate)}/s`);
  if (rate > 0 && created < total) parts.push(`${formatWaitingTime(((total - created) / rate) * 1000)} left`);
  return parts.join(', ');
}

/** Whether `after` has reached a further tenth of `total` since `before`. */
export function crossesTenPercentStep(before: number, after: number, total: number): boolean {
  return Math.floor((10 * before) / total) < Math.floor((10 * after) / total);
}
