import { info, pass, warn } from '../../finding.ts';
import { databaseCheck } from '../check.ts';
import { databaseOverviewQuery } from '../queries/database-overview.ts';
import { countText } from '../units.ts';

export const sequencesCheck = databaseCheck({
  id: 'sequences',
  title: 'the database has no sequences',
  headline: 'The database has sequences',
  severity: { continuous: 'warning', dump: 'info' },
  queries: { overview: databaseOverviewQuery },
  evaluate({ overview }, _database, _ground, { method }) {
    if (overview.sequences === 0) return pass('none');
    const observed = countText(overview.sequences, 'sequence');
    if (method === 'dump') return info(observed, { detail: 'A dump carries their values over.' });
    return warn(observed, {
      required: 'none, or set at the cut-over',
      detail:
        'Rows are replicated and the values of sequences are not: on the target they begin anew, and the first INSERT says "duplicate key value violates unique constraint".',
      dataLoss: `the values of ${observed}`,
      fix: {
        by: 'who makes the cut-over',
        text: 'When the application has stopped writing and before it starts on the target, run what `cloudctl db sequences` prints there.',
      },
    });
  },
});
