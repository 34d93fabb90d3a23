import { countOf } from '../../../../base/text.ts';
import { quoteLiteral } from '../../../../postgresql/quote.ts';
import { failOutcome, passOutcome } from '../../finding.ts';
import { declareServerCheck } from '../check.ts';
import { describeTransaction, transactionsQuery } from '../queries/activity.ts';

export const preparedXactsCheck = declareServerCheck({
  id: 'prepared-xacts',
  title: 'no prepared transaction is open',
  headline: 'A prepared transaction is open',
  severity: { continuous: 'blocker', dump: 'info' },
  queries: { transactions: transactionsQuery },
  evaluate({ transactions }) {
    const prepared = transactions.filter(({ kind }) => kind === 'prepared');
    if (prepared.length === 0) return passOutcome('none');
    return failOutcome(['continuous'], countOf(prepared.length, 'prepared transaction'), {
      required: 'none',
      detail:
        'A prepared transaction survives its session and a restart. Until a prepared transaction ends, no replication slot can be created, and its changes are replicated only after its commit.',
      objects: prepared.slice(0, 20).map(describeTransaction),
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
