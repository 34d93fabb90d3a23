import { countOf } from '../../../../base/text.ts';
import { infoOutcome, passOutcome } from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import { isMigrationPublication, publicationsQuery } from '../queries/replication.ts';

export const pubExistingCheck = declareDatabaseCheck({
  id: 'pub-existing',
  title: 'the database has no publications for other subscribers',
  headline: 'The database has publications for other subscribers',
  severity: { continuous: 'info' },
  queries: { publications: publicationsQuery },
  evaluate({ publications }) {
    // Another check, `leftovers`, reports publications of an earlier migration.
    const own = publications.filter(({ name }) => !isMigrationPublication(name));
    if (own.length === 0) return passOutcome('none');
    const all = own.filter(({ allTables }) => allTables).length;
    return infoOutcome(countOf(own.length, 'publication'), {
      detail: `Other subscribers receive changes of this database and must be moved to the target. The migration restores publications on the target, but not their replication slots.${all === 0 ? '' : ' Because of a publication FOR ALL TABLES, every table already needs a replica identity.'}${unlistedNote(own)}`,
      objects: limitObjects(own).map(({ name, allTables }) => (allTables ? `${name} (FOR ALL TABLES)` : name)),
    });
  },
});
