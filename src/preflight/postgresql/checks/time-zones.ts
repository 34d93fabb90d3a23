import { countOf } from '../../../base/text.ts';
import { quoteLiteral } from '../../../postgresql/quote.ts';
import { passOutcome, unknownOutcome } from '../../finding.ts';
import { declareDatabasePreflightCheck } from '../check.ts';
import { currentTimeZone } from '../function-body/time-zone.ts';
import { buildUnlistedObjectsNote, limitFindingObjects } from '../listed-objects.ts';
import {
  timeZoneDefinitionsQuery,
  timeZoneExpressionsQuery,
  timeZoneSettingsQuery,
} from '../queries/time-zone-names.ts';

export const timeZonesCheck = declareDatabasePreflightCheck({
  id: 'time-zones',
  title: 'every time zone name is in the tzdata of any target',
  headline: 'A time zone name may be missing on the target',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: {
    expressions: timeZoneExpressionsQuery,
    definitions: timeZoneDefinitionsQuery,
    settings: timeZoneSettingsQuery,
  },
  evaluate({ expressions, definitions, settings }, name) {
    const stored = settings.filter(({ database }) => database === undefined || database === name);
    const zoneUses = [...expressions, ...definitions, ...stored];
    if (zoneUses.length === 0) return passOutcome('none');
    const names = [...new Set(zoneUses.flatMap(({ legacy }) => legacy))].sort();
    const shown = limitFindingObjects(names);
    const known = `SELECT name FROM pg_timezone_names WHERE name IN (${shown.map(quoteLiteral).join(', ')})`;
    const renamed = shown.flatMap((name) => {
      const current = currentTimeZone(name);
      return current === undefined ? [] : [`${name}: ${current}`];
    });
    const lost =
      names.length === 0
        ? ''
        : ` The tzdata of some systems, such as Debian without the package tzdata-legacy, has only the names in present use (${renamed.join(', ')}). The target knows the names if this query returns ${countOf(shown.length, 'row')} there: ${known}.`;
    const columns = zoneUses.filter(({ legacy }) => legacy.length === 0);
    const unread = columns.length === 0 ? '' : ' The names in a column are not read.';
    return {
      ...unknownOutcome(
        names.length === 0
          ? `${countOf(columns.length, 'expression')} with the time zone of a column`
          : `${shown.join(', ')} in ${countOf(zoneUses.length - columns.length, 'object')}`,
      ),
      premise:
        names.length === 0
          ? 'the target knows the time zone names in the rows'
          : `the target knows the time zone names ${shown.join(', ')}`,
      required: 'names of time zones in present use',
      detail: `Without the name the target rejects the object, the row or the statement: "time zone … not recognized".${lost}${unread}${buildUnlistedObjectsNote(zoneUses)}`,
      objects: limitFindingObjects(zoneUses).map(({ place, legacy }) => [place, ...legacy.slice(0, 3)].join(': ')),
      fix: { by: 'the schema owner', text: 'Write the names in present use, which have the same rules.' },
    };
  },
});
