import type { Phase, Sighting, Violation } from '../sighting.ts';
import { sizeText, timeText } from '../units.ts';

export const phaseWords: Readonly<Record<Phase, string>> = {
  waiting: 'waiting',
  copying: 'copying',
  catching_up: 'catching up',
  streaming: 'streaming',
  stalled: 'STALLED',
  gone: 'GONE',
};

/** `3 min left`; never, when it gets no nearer; nothing where that is no question. */
export function leftWords({ phase, eta_seconds: eta }: Sighting): string {
  if (phase !== 'copying' && phase !== 'catching_up') return '';
  if (eta !== undefined) return `${timeText(eta)} left`;
  return phase === 'catching_up' ? 'not getting nearer' : '';
}

export function summaryLine(sighting: Sighting): string {
  const { at, phase, percent, bytes_done: done, bytes_total: total, lag_bytes: lag } = sighting;
  const parts = [
    `${phaseWords[phase]} ${percent.toFixed(1)} %`,
    ...(total === 0 ? [] : [`${sizeText(done)} of ${sizeText(total)}`]),
    `${sizeText(lag)} behind`,
    leftWords(sighting),
    ...(sighting.notes ?? []),
  ];
  return `${at.slice(0, 19)}Z ${parts.filter((part) => part !== '').join(', ')}`;
}

export function violationLine({ rule, database, observed, hint }: Violation, at: string): string {
  return `${at.slice(0, 19)}Z violation ${rule}${database === undefined ? '' : ` in ${database}`}: ${observed}; ${hint}`;
}
