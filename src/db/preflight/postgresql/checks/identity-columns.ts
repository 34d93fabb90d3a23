import { countOf } from '../../../../base/text.ts';
import { infoOutcome, passOutcome } from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import { generatedColumnsQuery } from '../queries/relations.ts';

export const identityColumnsCheck = declareDatabaseCheck({
  id: 'identity-columns',
  title: 'the database has no identity columns',
  headline: 'The database has identity columns',
  severity: { continuous: 'info', dump: 'info' },
  queries: { columns: generatedColumnsQuery },
  evaluate({ columns: { identity } }) {
    if (identity.length === 0) return passOutcome('none');
    return infoOutcome(countOf(identity.length, 'column'), {
      detail: `The values of identity columns are replicated, the values of their sequences are not: set these sequences at the cut-over, as all sequences.${unlistedNote(identity)}`,
      objects: limitObjects(identity),
    });
  },
});
