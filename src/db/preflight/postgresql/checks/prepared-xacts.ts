import { countOf } from '../../../../base/text.ts';
import { quoteLiteral } from '../../../../postgresql/quote.ts';
import { failOutcome, passOutcome } from '../../finding.ts';
import { declareServerPreflightCheck } from '../check.ts';
import { describeOpenTransactionWithWrites, openTransactionsWithWritesQuery } from '../queries/activity.ts';

export const preparedXactsCheck = declareServerPreflightCheck({
  id: 'prepared-xacts',
  title: 'no prepared transaction is open',
  headline: 'A prepared transaction is open',
  severity: { continuous: 'blocker', dump: 'info' },
  needs: 'connection',
  queries: { transactions: openTransactionsWithWritesQuery },
  evaluate({ transactions }) {
    const prepared = transactions.filter(({ kind }) => kind === 'prepared');
    if (prepared.length === 0) return passOutcome('none');
    return failOutcome(['continuous'], countOf(prepared.length, 'prepared transaction'), {
      required: 'none',
      detail:
        'A prepared transaction survives its session and a restart. Until a prepared transaction ends, no replication slot can be created, and its changes are replicated only after its commit.',
      objects: prepared.slice(0, 20).map(describeOpenTransactionWithWrites),
      fix: {
        by: 'the owner of each transaction, or a superuser',
        text: `Commit or roll back each transaction in its database: ${prepared
          .slice(0, 10)
          .map(
            ({ id, database }) =>
              `in ${database} COMMIT PREPARED ${quoteLiteral(id)} or ROLLBACK PREPARED ${quoteLiteral(id)}`,
          )
          .join('; ')}.`,
      },
    });
  },
});
