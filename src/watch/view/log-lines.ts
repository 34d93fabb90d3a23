import type { StatusSample, Violation } from '../status-sample.ts';
import { statusSummaryLine, violationLogLine } from './status-text.ts';

/** What was said last; a reader without a terminal hears of changes, and at least once a minute. */
export interface LoggedState {
  readonly sighting: StatusSample;
  /** Rules that are broken, as of the last look. */
  readonly broken: readonly Violation[];
}

const maxSilence = 60_000;

export function nextLogLines(
  said: LoggedState | undefined,
  sighting: StatusSample,
): { lines: readonly string[]; said: LoggedState } {
  const { at, violations } = sighting;
  const isNew = (one: Violation) => !(said?.broken ?? []).some((other) => violationKey(other) === violationKey(one));
  const cured = (said?.broken ?? []).filter(
    (one) => !violations.some((other) => violationKey(other) === violationKey(one)),
  );
  const told = [
    ...violations.filter(isNew).map((one) => violationLogLine(one, at)),
    ...cured.map(
      ({ rule, database }) => `${at.slice(0, 19)}Z over: ${rule}${database === undefined ? '' : ` in ${database}`}`,
    ),
  ];
  const isDue = told.length > 0 || isWorthLogging(said?.sighting, sighting);
  return {
    lines: [...(isDue ? [statusSummaryLine(sighting)] : []), ...told],
    said: { sighting: isDue ? sighting : (said?.sighting ?? sighting), broken: violations },
  };
}

function isWorthLogging(before: StatusSample | undefined, now: StatusSample): boolean {
  return (
    before === undefined ||
    before.phase !== now.phase ||
    Math.floor(before.percent / 10) !== Math.floor(now.percent / 10) ||
    Math.abs(Date.parse(now.at) - Date.parse(before.at)) >= maxSilence
  );
}

function violationKey({ rule, database }: Violation): string {
  return `${rule} ${database ?? ''}`;
}
