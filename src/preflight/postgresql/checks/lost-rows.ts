import { fail, info, pass } from '../../finding.ts';
import { databaseCheck } from '../check.ts';
import { firstObjects, unlistedNote } from '../object-list.ts';
import { danglingReferencesDatabaseLimit, danglingReferencesQuery } from '../queries/dangling-references.ts';
import { countText } from '../units.ts';

export const lostRowsCheck = databaseCheck({
  id: 'lost-rows',
  title: 'the system catalogs have no dangling references',
  headline: 'The system catalogs have dangling references',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { lostRows: danglingReferencesQuery },
  evaluate({ lostRows }) {
    if (lostRows === undefined) return info(`not looked at in more than ${danglingReferencesDatabaseLimit} databases`);
    if (lostRows.length === 0) return pass('whole');
    const objects = lostRows.map(({ object, lost }) => `${object} without its ${lost}`);
    return fail(['continuous', 'dump'], countText(lostRows.length, 'object'), {
      required: 'none that lacks what it belongs to or is made of',
      detail: `Rows of the catalogue are gone, by hand or by a damaged disk. The server goes on with what it remembers, and pg_dump ends: "schema with OID … does not exist", "cache lookup failed".${unlistedNote(objects)}`,
      objects: firstObjects(objects),
      fix: {
        by: 'a superuser, after a copy of the data directory',
        text: 'See with pg_dump --schema-only what it stumbles over; drop the objects named, or make again what they lack (for a role: CREATE ROLE, then ALTER … OWNER TO), or restore the database from a backup and migrate that.',
      },
    });
  },
});
