import { sanitizeReportLine } from '../../../base/sanitize.ts';
import { formatBytes, formatDuration } from '../../../base/text.ts';
import { formatIdentity } from '../identity.ts';
import type { CauseFix, StatusSample, Violation, WatchPhase } from '../sample.ts';

/** The sample that was logged last. Without a terminal, lines are written for changes and at least once a minute. */
export interface LoggedState {
  readonly sample: StatusSample;
  /** Violations of the last poll. */
  readonly broken: readonly Violation[];
}

const maxSilence = 60_000;

export function nextLogLines(
  logged: LoggedState | undefined,
  sample: StatusSample,
): { lines: readonly string[]; said: LoggedState } {
  const { at, violations } = sample;
  const isNew = (violation: Violation) =>
    !(logged?.broken ?? []).some((other) => violationKey(other) === violationKey(violation));
  const resolved = (logged?.broken ?? []).filter((violation) => !violations.some((other) => lasts(violation, other)));
  const isLoaded = logged?.sample.phase === 'loading' && sample.phase !== 'loading' && sample.phase !== 'gone';
  const events = [
    ...identityEvent(logged?.sample, sample),
    ...(isLoaded ? [`${at.slice(0, 19)}Z resolved: the source has started and loaded its data`] : []),
    ...violations.filter(isNew).map((violation) => violationLogLine(violation, at, violation === sample.cause)),
    ...resolved.map(
      ({ rule, database }) => `${at.slice(0, 19)}Z resolved: ${rule}${database === undefined ? '' : ` in ${database}`}`,
    ),
  ];
  const isDue = events.length > 0 || isWorthLogging(logged?.sample, sample);
  return {
    lines: [...(isDue ? [formatWatchStatusSummary(sample)] : []), ...events].map((line) =>
      sanitizeReportLine(line, 2000),
    ),
    said: { sample: isDue ? sample : (logged?.sample ?? sample), broken: violations },
  };
}

function isWorthLogging(before: StatusSample | undefined, now: StatusSample): boolean {
  return (
    before === undefined ||
    before.phase !== now.phase ||
    tenth(before) !== tenth(now) ||
    Math.abs(Date.parse(now.at) - Date.parse(before.at)) >= maxSilence
  );
}

/** Who is followed is said once, and again when it changes. */
function identityEvent(before: StatusSample | undefined, { at, identified_by: now }: StatusSample): readonly string[] {
  const text = now === undefined ? undefined : formatIdentity(now);
  const said = before?.identified_by === undefined ? undefined : formatIdentity(before.identified_by);
  return text === undefined || text === said ? [] : [`${at.slice(0, 19)}Z ${text}`];
}

function tenth({ percent = 0 }: StatusSample): number {
  return Math.floor(percent / 10);
}

/**
 * A key that is the same for a violation in every poll. The key of a cause that is a group of candidates has no object,
 * because that object lists tables and changes with every write.
 */
function violationKey(violation: Violation): string {
  const { rule, database = '', object = '' } = violation;
  const isGroup = 'basis' in violation && violation.basis === 'group';
  return [rule, database, isGroup ? '' : object].join('\0');
}

/** Whether what was violated is not over: it has become the cause of a stop, or has got another cause or a database. */
function lasts(before: Violation, now: Violation): boolean {
  if (violationKey(before) === violationKey(now)) return true;
  const isSamePlace = [before, now].some(({ database }) => database === undefined) || before.database === now.database;
  return isSamePlace && (before.rule === now.rule || ('basis' in before && 'basis' in now));
}

export const phaseLabels: Readonly<Record<WatchPhase, string>> = {
  waiting: 'waiting',
  loading: 'loading',
  copying: 'copying',
  catching_up: 'catching up',
  streaming: 'streaming',
  stalled: 'STALLED',
  gone: 'GONE',
};

/** The estimated remaining time, such as `3 min left`; empty if there is no estimate, or if nothing is left. */
export function formatTimeLeft({ phase, eta_seconds: eta }: StatusSample): string {
  if (phase !== 'copying' && phase !== 'catching_up') return '';
  if (eta !== undefined) return `${formatDuration(eta * 1000)} left`;
  return phase === 'catching_up' ? 'not catching up' : '';
}

/** `copying 45.0 %`; without a percentage where nothing is known. */
export function formatPhaseAndPercent(phase: WatchPhase, percent: number | undefined, gap = ' '): string {
  return percent === undefined ? phaseLabels[phase] : `${phaseLabels[phase]}${gap}${percent.toFixed(1)} %`;
}

function formatWatchStatusSummary(sample: StatusSample): string {
  const { at, phase, percent, bytes_done: done, bytes_total: total, lag_bytes: lag } = sample;
  const parts = [
    formatPhaseAndPercent(phase, percent),
    ...(total === 0 ? [] : [`${formatBytes(done)} of ${formatBytes(total)}`]),
    ...(lag === undefined ? [] : [`${formatBytes(lag)} behind`]),
    formatTimeLeft(sample),
    ...(sample.notes ?? []),
  ];
  return `${at.slice(0, 19)}Z ${parts.filter((part) => part !== '').join(', ')}`;
}

function violationLogLine({ rule, database, observed, hint, fix }: Violation, at: string, isCause: boolean): string {
  const place = database === undefined ? '' : ` in ${database}`;
  const run = fix === undefined ? '' : `; ${fixPlaces[fix.run_on]}: ${fix.statement}`;
  return `${at.slice(0, 19)}Z ${isCause ? 'cause' : 'violation'} ${rule}${place}: ${observed}; ${hint}${run}`;
}

/** Where a statement is run. */
export const fixPlaces: Readonly<Record<CauseFix['run_on'], string>> = {
  source: 'run on the source',
  target: 'run on the target',
  'pg_hba.conf': 'add to pg_hba.conf',
  shell: 'run',
};
