import { parseMajorVersion } from '../../../postgresql/version.ts';
import { fail, pass, warn } from '../../finding.ts';
import { databaseCheck } from '../check.ts';
import { firstObjects, unlistedNote } from '../object-list.ts';
import { earthdistanceUsesQuery } from '../queries/earthdistance-uses.ts';
import { countText } from '../units.ts';

/** earthdistance 1.2 came with it: its functions are in the SQL standard's way, and their names were looked up when it was made. */
const bound = 160_000;

export const extFunctionsCheck = databaseCheck({
  id: 'ext-functions',
  title: 'functions of extensions need no search_path on the target',
  headline: 'A function of an extension needs a search_path on the target',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { earthUses: earthdistanceUsesQuery },
  evaluate({ earthUses }, database, { connection }, { targetVersion }) {
    const target = targetVersion === undefined ? undefined : parseMajorVersion(targetVersion);
    // Nobody migrates to an older release.
    const least = target ?? (connection.kind === 'entered' ? connection.version : 0);
    if (earthUses.length === 0 || least >= bound) return pass('all');
    const observed = `${countText(earthUses.length, 'use')} of earthdistance`;
    const more = {
      required: 'a target of PostgreSQL 16 or newer, or none',
      detail: `Before 16 the functions of earthdistance name each other and cube without a schema, and rows are copied and indexes made with an empty search_path: "type "earth" does not exist", "function cube(…) does not exist". An index over ll_to_earth(…) cannot be made at all, and so not the schema.${unlistedNote(earthUses)}`,
      objects: firstObjects(earthUses).map(({ name }) => name),
      fix: {
        database,
        by: 'the owner of the tables',
        text: 'Choose a target of PostgreSQL 16 or newer. Else drop what calls them here, and make it on the target after the cut-over; ALTER FUNCTION … SET search_path does not help, since the target makes its own functions with the extension.',
      },
    };
    if (target === undefined || !earthUses.some(({ needed }) => needed)) return warn(observed, more);
    return fail(['continuous', 'dump'], observed, more);
  },
});
