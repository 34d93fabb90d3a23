import { quoteLiteral } from '../../../postgresql/quote.ts';
import { fail, pass, warn } from '../../finding.ts';
import { databaseCheck } from '../check.ts';
import { firstObjects, unlistedNote } from '../object-list.ts';
import { maxTransactionAge } from '../open-transactions.ts';
import { type TableLock, tableLocksQuery } from '../queries/table-locks.ts';
import { countText, timeSpanText } from '../units.ts';

export const lockedTablesCheck = databaseCheck({
  id: 'locked-tables',
  title: 'no table has an ACCESS EXCLUSIVE lock',
  headline: 'A table has an ACCESS EXCLUSIVE lock',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { locks: tableLocksQuery },
  evaluate({ locks }) {
    if (locks.length === 0) return pass('none');
    const tables = [...new Set(locks.map(({ table }) => table))];
    const lasting = locks.filter(({ pid, seconds }) => pid === undefined || (seconds ?? 0) > maxTransactionAge);
    const more = {
      required: `none for longer than ${timeSpanText(maxTransactionAge * 1000)}, and none by a prepared transaction`,
      detail: `ACCESS EXCLUSIVE is held on them, and pg_dump and every copy wait until it is given back: nothing fails, and nothing goes on.${unlistedNote(tables)}`,
      objects: firstObjects(locks.map(told)),
      fix: {
        by: 'who holds the lock, or a superuser',
        text: `Let it end, or end it: ${[...new Set(locks.map(ending))].slice(0, 5).join('; ')}.`,
      },
    };
    const observed = countText(tables.length, 'table');
    return lasting.length === 0 ? warn(observed, more) : fail(['continuous', 'dump'], observed, more);
  },
});

function told({ table, pid, gid, seconds }: TableLock): string {
  const age = seconds === undefined ? 'age hidden' : `${timeSpanText(seconds * 1000)} old`;
  return `${table} by ${pid === undefined ? `the prepared transaction ${gid}` : `pid ${pid}`}, ${age}`;
}

function ending({ pid, gid }: TableLock): string {
  if (pid !== undefined) return `SELECT pg_terminate_backend(${pid})`;
  return `COMMIT PREPARED ${quoteLiteral(gid)} or ROLLBACK PREPARED ${quoteLiteral(gid)}`;
}
