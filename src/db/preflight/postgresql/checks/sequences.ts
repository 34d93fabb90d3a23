import { countOf } from '../../../../base/text.ts';
import { infoOutcome, passOutcome, warnOutcome } from '../../finding.ts';
import { declareDatabaseCheck } from '../check.ts';
import { featuresQuery } from '../queries/database-overview.ts';

export const sequencesCheck = declareDatabaseCheck({
  id: 'sequences',
  title: 'the database has no sequences',
  headline: 'The database has sequences',
  severity: { continuous: 'warning', dump: 'info' },
  queries: { overview: featuresQuery },
  evaluate({ overview }, _database, _ground, { method }) {
    if (overview.sequences === 0) return passOutcome('none');
    const observed = countOf(overview.sequences, 'sequence');
    if (method === 'dump') return infoOutcome(observed, { detail: 'A dump contains the values of sequences.' });
    return warnOutcome(observed, {
      required: 'no sequences, or sequences that are set at the cut-over',
      detail:
        'The values of sequences are not replicated: on the target they start again, and the first INSERT fails with "duplicate key value violates unique constraint".',
      dataLoss: `the values of ${observed}`,
      fix: {
        by: 'the operator of the cut-over',
        text: 'Run the output of `cloudctl db sequences` on the target, after the application has stopped writing and before it starts on the target.',
      },
    });
  },
});
