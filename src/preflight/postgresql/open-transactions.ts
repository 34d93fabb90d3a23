import { quoteLiteral } from '../../postgresql/quote.ts';
import { fail, pass, warn } from '../finding.ts';
import { serverCheck } from './check.ts';
import { type OpenTransaction, openTransactionsQuery } from './queries/open-transactions.ts';
import { countText, timeSpanText } from './units.ts';

/** Seconds after which nobody can hope that it ends by itself. */
export const maxTransactionAge = 300;

export const slotBlockersCheck = serverCheck({
  id: 'slot-blockers',
  title: 'no open transaction holds up a replication slot',
  needs: 'entry',
  queries: { transactions: openTransactionsQuery },
  evaluate({ transactions }) {
    const open = transactions.filter(({ kind }) => kind === 'session');
    if (open.length === 0) return pass('none');
    const oldest = Math.max(...open.map(({ seconds }) => seconds ?? 0));
    const hidden = open.some(({ seconds }) => seconds === undefined);
    const observed = `${countText(open.length, 'transaction')} that wrote, ${hidden && oldest === 0 ? 'of unknown age' : `the oldest ${timeSpanText(oldest * 1000)} old`}`;
    const more = {
      required: `none older than ${timeSpanText(maxTransactionAge * 1000)}`,
      detail:
        'A slot is made when every transaction that was writing is over, in whatever database: until then its creation hangs. Ending the client that waits leaves a half-made, active slot behind.',
      objects: open.slice(0, 20).map(told),
      fix: {
        text: `Let them commit, or end them: ${open
          .slice(0, 5)
          .map(({ id }) => `SELECT pg_terminate_backend(${id})`)
          .join('; ')}. What they wrote is rolled back then.`,
      },
    };
    return oldest > maxTransactionAge ? fail(['continuous'], observed, more) : warn(observed, more);
  },
});

export const preparedXactsCheck = serverCheck({
  id: 'prepared-xacts',
  title: 'no prepared transaction is left open',
  needs: 'entry',
  queries: { transactions: openTransactionsQuery },
  evaluate({ transactions }) {
    const prepared = transactions.filter(({ kind }) => kind === 'prepared');
    if (prepared.length === 0) return pass('none');
    return fail(['continuous'], countText(prepared.length, 'prepared transaction'), {
      required: 'none',
      detail:
        'It outlives its session and every restart. Until it ends no replication slot can be made, and what it wrote is sent only when it commits.',
      objects: prepared.slice(0, 20).map(told),
      fix: {
        by: 'its owner or a superuser, who must decide for each',
        text: `Connected to the database of each, end it one way or the other: ${prepared
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

function told({ kind, id, database, owner, state, seconds }: OpenTransaction): string {
  const what = kind === 'prepared' ? id : `pid ${id}`;
  const age = seconds === undefined ? 'age hidden' : `${timeSpanText(seconds * 1000)} old`;
  return [`${what} in ${database} by ${owner}`, ...(kind === 'session' && state !== '' ? [state] : []), age].join(', ');
}
