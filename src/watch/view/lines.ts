import type { Sighting, Violation } from '../sighting.ts';
import { summaryLine, violationLine } from './words.ts';

/** What was said last; a reader without a terminal hears of changes, and at least once a minute. */
export interface Said {
  readonly sighting: Sighting;
  /** Rules that are broken, as of the last look. */
  readonly broken: readonly Violation[];
}

const longestSilence = 60_000;

export function linesFor(said: Said | undefined, sighting: Sighting): { lines: readonly string[]; said: Said } {
  const { at, violations } = sighting;
  const isNew = (one: Violation) => !(said?.broken ?? []).some((other) => keyOf(other) === keyOf(one));
  const cured = (said?.broken ?? []).filter((one) => !violations.some((other) => keyOf(other) === keyOf(one)));
  const told = [
    ...violations.filter(isNew).map((one) => violationLine(one, at)),
    ...cured.map(
      ({ rule, database }) => `${at.slice(0, 19)}Z over: ${rule}${database === undefined ? '' : ` in ${database}`}`,
    ),
  ];
  const isDue = told.length > 0 || isNews(said?.sighting, sighting);
  return {
    lines: [...(isDue ? [summaryLine(sighting)] : []), ...told],
    said: { sighting: isDue ? sighting : (said?.sighting ?? sighting), broken: violations },
  };
}

function isNews(before: Sighting | undefined, now: Sighting): boolean {
  return (
    before === undefined ||
    before.phase !== now.phase ||
    Math.floor(before.percent / 10) !== Math.floor(now.percent / 10) ||
    Math.abs(Date.parse(now.at) - Date.parse(before.at)) >= longestSilence
  );
}

function keyOf({ rule, database }: Violation): string {
  return `${rule} ${database ?? ''}`;
}
