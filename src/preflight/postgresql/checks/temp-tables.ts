import { info, pass } from '../../finding.ts';
import { databaseCheck } from '../check.ts';
import { firstListedObjects, unlistedNote } from '../object-list.ts';
import { relationsQuery } from '../queries/relations.ts';
import { pluralize } from '../units.ts';

export const tempTablesCheck = databaseCheck({
  id: 'temp-tables',
  title: 'the database has no temporary tables',
  headline: 'The database has temporary tables',
  severity: { continuous: 'info', dump: 'info' },
  queries: { relations: relationsQuery },
  evaluate({ relations: { temporary } }) {
    if (temporary.length === 0) return pass('none');
    return info(pluralize(temporary.length, 'table'), {
      detail: `Temporary tables belong to a session and are not migrated; the application creates them on the target.${unlistedNote(temporary)}`,
      objects: firstListedObjects(temporary),
    });
  },
});
