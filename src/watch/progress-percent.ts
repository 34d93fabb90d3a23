import type { WatchPhase } from './status-sample.ts';

/** The copy is the first 90 of a hundred, catching up the rest. */
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
