import { sanitizeReportLine } from '../../../base/sanitize.ts';
import { formatIdentity } from '../identity.ts';
import type { MigrationStatusSample, WatchRuleViolation } from '../status-sample.ts';
import { formatWatchStatusSummary, violationLogLine } from './status-text.ts';

/** The sample that was logged last. Without a terminal, lines are written for changes and at least once a minute. */
export interface LastLoggedWatchState {
  readonly sample: MigrationStatusSample;
  /** Violations of the last poll. */
  readonly broken: readonly WatchRuleViolation[];
}

const maxSilence = 60_000;

export function buildNextWatchLogLines(
  logged: LastLoggedWatchState | undefined,
  sample: MigrationStatusSample,
): { lines: readonly string[]; said: LastLoggedWatchState } {
  const { at, violations } = sample;
  const isNew = (violation: WatchRuleViolation) =>
    !(logged?.broken ?? []).some((other) => violationKey(other) === violationKey(violation));
  const resolved = (logged?.broken ?? []).filter(
    (violation) => !violations.some((other) => violationKey(other) === violationKey(violation)),
  );
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

function isWorthLogging(before: MigrationStatusSample | undefined, now: MigrationStatusSample): boolean {
  return (
    before === undefined ||
    before.phase !== now.phase ||
    tenth(before) !== tenth(now) ||
    Math.abs(Date.parse(now.at) - Date.parse(before.at)) >= maxSilence
  );
}

/** Who is followed is said once, and again when it changes. */
function identityEvent(
  before: MigrationStatusSample | undefined,
  { at, identified_by: now }: MigrationStatusSample,
): readonly string[] {
  const text = now === undefined ? undefined : formatIdentity(now);
  const said = before?.identified_by === undefined ? undefined : formatIdentity(before.identified_by);
  return text === undefined || text === said ? [] : [`${at.slice(0, 19)}Z ${text}`];
}

function tenth({ percent = 0 }: MigrationStatusSample): number {
  return Math.floor(percent / 10);
}

/**
 * A key that is the same for a violation in every poll. The key of a cause that is a group of candidates has no object,
 * because that object lists tables and changes with every write.
 */
function violationKey(violation: WatchRuleViolation): string {
  const { rule, database = '', object = '' } = violation;
  const isGroup = 'basis' in violation && violation.basis === 'group';
  return [rule, database, isGroup ? '' : object].join('\0');
}
