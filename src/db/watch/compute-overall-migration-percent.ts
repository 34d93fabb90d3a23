import type { MigrationWatchPhase } from './status-sample.ts';

/**
 * Percentage of the migration: 0 to 90 during the initial copy, 90 to 100 during the catch-up.
 * @param before the previous value, which is kept while the migration does not run
 */
export function computeOverallMigrationPercent(
  phase: MigrationWatchPhase,
  copied: number,
  caughtUp: number,
  before: number,
): number {
  switch (phase) {
    case 'waiting':
      return 0;
    case 'copying':
      return roundPercent(90 * copied);
    case 'catching_up':
      return roundPercent(90 + 10 * caughtUp);
    case 'streaming':
      return 100;
    case 'loading':
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
