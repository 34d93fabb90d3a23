import { countOf, formatDuration } from '../../../../base/text.ts';
import { failOutcome, passOutcome, warnOutcome } from '../../finding.ts';
import { declareServerCheck } from '../check.ts';
import { describeTransaction, maxTransactionSeconds, transactionsQuery } from '../queries/activity.ts';

export const slotBlockersCheck = declareServerCheck({
  id: 'slot-blockers',
  title: 'no open transaction delays the creation of a replication slot',
  headline: 'An open transaction delays the creation of a replication slot',
  severity: { continuous: 'blocker' },
  queries: { transactions: transactionsQuery },
  evaluate({ transactions }) {
    const open = transactions.filter(({ kind }) => kind === 'session');
    if (open.length === 0) return passOutcome('none');
    const oldest = Math.max(...open.map(({ seconds }) => seconds ?? 0));
    const hidden = open.some(({ seconds }) => seconds === undefined);
    const observed = `${countOf(open.length, 'transaction')} with writes, ${hidden && oldest === 0 ? 'of unknown age' : `the oldest ${formatDuration(oldest * 1000)} old`}`;
    const more = {
      required: `none older than ${formatDuration(maxTransactionSeconds * 1000)}`,
      detail:
        'The creation of a replication slot waits until every transaction with writes has ended, in all databases. If the client that creates the slot is terminated while it waits, an incomplete active slot remains.',
      objects: open.slice(0, 20).map(describeTransaction),
      fix: {
        text: `Wait for their commit, or end them: ${open
          .slice(0, 5)
          .map(({ id }) => `SELECT pg_catalog.pg_terminate_backend(${id})`)
          .join('; ')}. This rolls back their changes.`,
      },
    };
    return oldest > maxTransactionSeconds ? failOutcome(['continuous'], observed, more) : warnOutcome(observed, more);
  },
});
