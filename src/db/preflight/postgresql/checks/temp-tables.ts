import { countOf } from '../../../../base/text.ts';
import { infoOutcome, passOutcome } from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import { unusualRelationsQuery } from '../queries/relations.ts';

export const tempTablesCheck = declareDatabaseCheck({
  id: 'temp-tables',
  title: 'the database has no temporary tables',
  headline: 'The database has temporary tables',
  severity: { continuous: 'info', dump: 'info' },
  queries: { relations: unusualRelationsQuery },
  evaluate({ relations: { temporary } }) {
    if (temporary.length === 0) return passOutcome('none');
    return infoOutcome(countOf(temporary.length, 'table'), {
      detail: `Temporary tables belong to a session and are not migrated; the application creates them on the target.${unlistedNote(temporary)}`,
      objects: limitObjects(temporary),
    });
  },
});
