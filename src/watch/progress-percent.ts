import type { WatchPhase } from './status-sample.ts';

/**
 * Percentage of the migration: the initial copy is 0 to 90, catching up 90 to 100.
 * @param before the last value, which stays while the migration does not run
 */
export function progressPercent(phase: WatchPhase, copied: number, caughtUp: number, before: number): number {
  switch (phase) {
    case 'waiting':
      return 0;
    case 'copying':
      return roundPercent(90 * copied);
    case 'catching_up':
      return roundPercent(90 + 10 * caughtUp);
    case 'streaming':
      return 100;
    case 'stalled':
    case 'gone':
      return before;
    default:
      return phase satisfies never;
  }
}

function roundPercent(percent: number): number {
  return Math.floor(Math.min(99.9, Math.max(0, percent)) * 10) / 10;
}
