import { countOf } from '../../../../base/text.ts';
import { infoOutcome, passOutcome } from '../../finding.ts';
import { buildUnlistedObjectsNote, declareDatabasePreflightCheck, limitFindingObjects } from '../check.ts';

import { relationsWithUnusualPropertiesQuery } from '../queries/relations.ts';

export const tempTablesCheck = declareDatabasePreflightCheck({
  id: 'temp-tables',
  title: 'the database has no temporary tables',
  headline: 'The database has temporary tables',
  severity: { continuous: 'info', dump: 'info' },
  queries: { relations: relationsWithUnusualPropertiesQuery },
  evaluate({ relations: { temporary } }) {
    if (temporary.length === 0) return passOutcome('none');
    return infoOutcome(countOf(temporary.length, 'table'), {
      detail: `Temporary tables belong to a session and are not migrated; the application creates them on the target.${buildUnlistedObjectsNote(temporary)}`,
      objects: limitFindingObjects(temporary),
    });
  },
});
