import { formatWaitingTime } from '../../cli/duration.ts';

/** The progress of a run. */
export interface BatchProgress {
  readonly created: number;
  readonly total: number;
  /** Created by this run. */
  readonly fresh: number;
  /** Milliseconds since the run started. */
  readonly elapsed: number;
}

const barWidth = 20;

/** One line for a terminal: a bar, created/total, rate and time left. */
export function progressBarLine(progress: BatchProgress): string {
  const filled = progress.total === 0 ? 0 : Math.floor((barWidth * progress.created) / progress.total);
  return `${'█'.repeat(filled)}${'░'.repeat(barWidth - filled)} ${progressText(progress)}`;
}

export function progressText({ created, total, fresh, elapsed }: BatchProgress): string {
  const rate = elapsed <= 0 ? 0 : (fresh * 1000) / elapsed;
  const parts = [`${created}/${total} created`];
  if (rate > 0) parts.push(`${rate < 10 ? rate.toFixed(1) : Math.round(rate)}/s`);
  if (rate > 0 && created < total) parts.push(`${formatWaitingTime(((total - created) / rate) * 1000)} left`);
  return parts.join(', ');
}

/** Whether a multiple of a tenth of `total` lies between the two numbers. */
export function crossesTenPercentStep(before: number, after: number, total: number): boolean {
  return Math.floor((10 * before) / total) < Math.floor((10 * after) / total);
}
