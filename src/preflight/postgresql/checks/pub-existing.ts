import { info, pass } from '../../finding.ts';
import { databaseCheck } from '../check.ts';
import { isMigrationPublication } from '../migration-publications.ts';
import { firstObjects, unlistedNote } from '../object-list.ts';
import { publicationsQuery } from '../queries/publications.ts';
import { countText } from '../units.ts';

export const pubExistingCheck = databaseCheck({
  id: 'pub-existing',
  title: 'the database has no publications of its own',
  headline: 'The database has publications of its own',
  severity: { continuous: 'info' },
  queries: { publications: publicationsQuery },
  evaluate({ publications }) {
    // What an earlier migration left is judged as a leftover.
    const own = publications.filter(({ name }) => !isMigrationPublication(name));
    if (own.length === 0) return pass('none');
    const all = own.filter(({ allTables }) => allTables).length;
    return info(countText(own.length, 'publication'), {
      detail: `Somebody else receives changes of this database, and has to be told of the move. Publications are restored on the target too; their slots are not.${all === 0 ? '' : ' One FOR ALL TABLES makes the rules of replica identity hold already.'}${unlistedNote(own)}`,
      objects: firstObjects(own).map(({ name, allTables }) => (allTables ? `${name} (FOR ALL TABLES)` : name)),
    });
  },
});
