import { formatDuration } from '../cli/duration.ts';

/** How far a run is; times in milliseconds. */
export interface BatchProgress {
  readonly created: number;
  readonly total: number;
  /** Created by this run, in so long. */
  readonly fresh: number;
  readonly elapsed: number;
}

const barWidth = 20;

/** One line for a terminal: a bar, created/total, rate and time left. */
export function progressBarLine(standing: BatchProgress): string {
  const filled = standing.total === 0 ? 0 : Math.floor((barWidth * standing.created) / standing.total);
  return `${'█'.repeat(filled)}${'░'.repeat(barWidth - filled)} ${progressText(standing)}`;
}

export function progressText({ created, total, fresh, elapsed }: BatchProgress): string {
  const rate = elapsed <= 0 ? 0 : (fresh * 1000) / elapsed;
  const parts = [`${created}/${total} created`];
  if (rate > 0) parts.push(`${rate < 10 ? rate.toFixed(1) : Math.round(rate)}/s`);
  if (rate > 0 && created < total) parts.push(`${formatDuration(((total - created) / rate) * 1000)} left`);
  return parts.join(', ');
}

/** Whether a tenth of the whole was passed on the way from one number to the other. */
export function crossesTenth(before: number, after: number, total: number): boolean {
  return Math.floor((10 * before) / total) < Math.floor((10 * after) / total);
}
