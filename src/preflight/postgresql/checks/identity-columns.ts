import { info, pass } from '../../finding.ts';
import { databaseCheck } from '../check.ts';
import { firstListedObjects, unlistedNote } from '../object-list.ts';
import { generatedColumnsQuery } from '../queries/generated-columns.ts';
import { pluralize } from '../units.ts';

export const identityColumnsCheck = databaseCheck({
  id: 'identity-columns',
  title: 'the database has no identity columns',
  headline: 'The database has identity columns',
  severity: { continuous: 'info', dump: 'info' },
  queries: { columns: generatedColumnsQuery },
  evaluate({ columns: { identity } }) {
    if (identity.length === 0) return pass('none');
    return info(pluralize(identity.length, 'column'), {
      detail: `The values are replicated, the values of the underlying sequences are not: set them at the cut-over, as for all sequences.${unlistedNote(identity)}`,
      objects: firstListedObjects(identity),
    });
  },
});
