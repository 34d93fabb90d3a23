import { formatBytes, formatDuration } from '../../../base/text.ts';
import type {
  MigrationStatusSample,
  MigrationWatchPhase,
  ReplicationStopCauseFix,
  WatchRuleViolation,
} from '../status-sample.ts';

export const watchPhaseLabels: Readonly<Record<MigrationWatchPhase, string>> = {
  waiting: 'waiting',
  loading: 'loading',
  copying: 'copying',
  catching_up: 'catching up',
  streaming: 'streaming',
  stalled: 'STALLED',
  gone: 'GONE',
};

/** The estimated remaining time, such as `3 min left`; empty if there is no estimate, or if nothing is left. */
export function formatMigrationTimeLeft({ phase, eta_seconds: eta }: MigrationStatusSample): string {
  if (phase !== 'copying' && phase !== 'catching_up') return '';
  if (eta !== undefined) return `${formatDuration(eta * 1000)} left`;
  return phase === 'catching_up' ? 'not catching up' : '';
}

/** `copying 45.0 %`; without a percentage where nothing is known. */
export function formatPhaseAndPercent(phase: MigrationWatchPhase, percent: number | undefined, gap = ' '): string {
  return percent === undefined ? watchPhaseLabels[phase] : `${watchPhaseLabels[phase]}${gap}${percent.toFixed(1)} %`;
}

export function formatWatchStatusSummary(sample: MigrationStatusSample): string {
  const { at, phase, percent, bytes_done: done, bytes_total: total, lag_bytes: lag } = sample;
  const parts = [
    formatPhaseAndPercent(phase, percent),
    ...(total === 0 ? [] : [`${formatBytes(done)} of ${formatBytes(total)}`]),
    ...(lag === undefined ? [] : [`${formatBytes(lag)} behind`]),
    formatMigrationTimeLeft(sample),
    ...(sample.notes ?? []),
  ];
  return `${at.slice(0, 19)}Z ${parts.filter((part) => part !== '').join(', ')}`;
}

export function violationLogLine(
  { rule, database, observed, hint, fix }: WatchRuleViolation,
  at: string,
  isCause: boolean,
): string {
  const place = database === undefined ? '' : ` in ${database}`;
  const run = fix === undefined ? '' : `; ${stopCauseFixLocationLabels[fix.run_on]}: ${fix.statement}`;
  return `${at.slice(0, 19)}Z ${isCause ? 'cause' : 'violation'} ${rule}${place}: ${observed}; ${hint}${run}`;
}

/** Where a statement is run. */
export const stopCauseFixLocationLabels: Readonly<Record<ReplicationStopCauseFix['run_on'], string>> = {
  source: 'run on the source',
  target: 'run on the target',
  'pg_hba.conf': 'add to pg_hba.conf',
  shell: 'run',
};
