import { countOf } from '../../../../base/text.ts';
import { infoOutcome, passOutcome } from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import { unusualRelationsQuery } from '../queries/relations.ts';

export const foreignTablesCheck = declareDatabaseCheck({
  id: 'foreign-tables',
  title: 'the database has no foreign tables',
  headline: 'The database has foreign tables',
  severity: { continuous: 'info', dump: 'info' },
  queries: { relations: unusualRelationsQuery },
  evaluate({ relations: { foreign } }) {
    if (foreign.length === 0) return passOutcome('none');
    return infoOutcome(countOf(foreign.length, 'table'), {
      detail: `Only the definitions are migrated, not the rows on the foreign server. The target needs the extension of the foreign-data wrapper, network access to the foreign server, and the passwords of the user mappings.${unlistedNote(foreign)}`,
      objects: limitObjects(foreign),
    });
  },
});
