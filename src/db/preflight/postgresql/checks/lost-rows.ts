import { countOf } from '../../../../base/text.ts';
import { failOutcome, infoOutcome, passOutcome } from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';

import { danglingReferencesQuery, maxDanglingDatabases } from '../queries/dangling-references.ts';

export const lostCatalogRowsCheck = declareDatabaseCheck({
  id: 'lost-rows',
  title: 'the system catalogs have no dangling references',
  headline: 'The system catalogs have dangling references',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { lostRows: danglingReferencesQuery },
  evaluate({ lostRows }) {
    if (lostRows === undefined)
      return infoOutcome(`not checked with more than ${maxDanglingDatabases} databases`, {
        headline: 'The system catalogs were not checked for dangling references',
      });
    if (lostRows.length === 0) return passOutcome('none');
    const objects = lostRows.map(({ object, lost }) => `${object} without its ${lost}`);
    return failOutcome(['continuous', 'dump'], countOf(lostRows.length, 'object'), {
      required: 'no reference to a missing object',
      detail: `Rows of the system catalogs are missing, because they were deleted manually or storage is damaged. The server continues with cached entries, but pg_dump fails: "schema with OID … does not exist", "cache lookup failed".${unlistedNote(objects)}`,
      objects: limitObjects(objects),
      fix: {
        by: 'a superuser, after a backup of the data directory',
        text: 'Run pg_dump --schema-only to find the object at which it fails. Drop the listed objects, re-create the objects that are missing (for a role: CREATE ROLE, then ALTER … OWNER TO), or restore the database from a backup and migrate the restored database.',
      },
    });
  },
});
