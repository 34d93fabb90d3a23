import { info, pass } from '../../finding.ts';
import { databaseCheck } from '../check.ts';
import { isMigrationPublication } from '../migration-publications.ts';
import { firstListedObjects, unlistedNote } from '../object-list.ts';
import { publicationsQuery } from '../queries/publications.ts';
import { pluralize } from '../units.ts';

export const pubExistingCheck = databaseCheck({
  id: 'pub-existing',
  title: 'the database has no publications of its own',
  headline: 'The database has publications of its own',
  severity: { continuous: 'info' },
  queries: { publications: publicationsQuery },
  evaluate({ publications }) {
    // Publications of an earlier migration are reported by `leftovers`.
    const own = publications.filter(({ name }) => !isMigrationPublication(name));
    if (own.length === 0) return pass('none');
    const all = own.filter(({ allTables }) => allTables).length;
    return info(pluralize(own.length, 'publication'), {
      detail: `Other subscribers receive changes of this database and must be moved to the target. Publications are restored on the target, their replication slots are not.${all === 0 ? '' : ' With FOR ALL TABLES, every table already needs a replica identity.'}${unlistedNote(own)}`,
      objects: firstListedObjects(own).map(({ name, allTables }) => (allTables ? `${name} (FOR ALL TABLES)` : name)),
    });
  },
});
