import { sanitizeReportLine } from '../../../base/sanitize.ts';
import { formatBytes, formatDuration } from '../../../base/text.ts';
import { formatIdentity } from '../identity.ts';
import { helpWithViolation, type StatusSample, type Violation, type WatchPhase } from '../sample.ts';

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
  const fresh = violations.filter(isNew);
  const resolved = (logged?.broken ?? []).filter(
    (violation) =>
      !violations.some((other) => lasts(violation, other)) && !fresh.some((other) => isReplaced(violation, other)),
  );
  const isLoaded = logged?.sample.phase === 'loading' && sample.phase !== 'loading' && sample.phase !== 'gone';
  const events = [
    ...identityEvent(logged?.sample, sample),
    ...(isLoaded ? [`${at.slice(0, 19)}Z resolved: the source has started and loaded its data`] : []),
    ...fresh.map((violation) => violationLogLine(violation, at, violation === sample.cause)),
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

/** Whether a new violation says more exactly what is wrong with the same object: a column of the table, or its slot. */
function isReplaced({ database, object }: Violation, by: Violation): boolean {
  if (object === undefined || by.object === undefined || database !== by.database) return false;
  return by.object === object || by.object.startsWith(`${object}.`);
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

function violationLogLine(violation: Violation, at: string, isCause: boolean): string {
  const { rule, database, observed } = violation;
  const place = database === undefined ? '' : ` in ${database}`;
  return `${at.slice(0, 19)}Z ${isCause ? 'cause' : 'violation'} ${rule}${place}: ${observed}; ${helpWithViolation(violation)}`;
}
