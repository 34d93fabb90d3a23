import { quoteLiteral } from '../../../postgresql/quote.ts';
import { fail, pass, warn } from '../../finding.ts';
import { databaseCheck } from '../check.ts';
import { firstListedObjects, unlistedNote } from '../object-list.ts';
import { maxTransactionAge } from '../open-transactions.ts';
import { type TableLock, tableLocksQuery } from '../queries/table-locks.ts';
import { pluralize, timeSpanText } from '../units.ts';

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
      required: `no ACCESS EXCLUSIVE lock older than ${timeSpanText(maxTransactionAge * 1000)}, and none of a prepared transaction`,
      detail: `pg_dump and every copy wait until the ACCESS EXCLUSIVE lock is released, without an error.${unlistedNote(tables)}`,
      objects: firstListedObjects(locks.map(describeLock)),
      fix: {
        by: 'the owner of the session, or a superuser',
        text: `Wait until the transaction that holds the lock ends, or end it: ${[...new Set(locks.map(endStatement))].slice(0, 5).join('; ')}.`,
      },
    };
    const observed = pluralize(tables.length, 'table');
    return lasting.length === 0 ? warn(observed, more) : fail(['continuous', 'dump'], observed, more);
  },
});

function describeLock({ table, pid, gid, seconds }: TableLock): string {
  const age = seconds === undefined ? 'age hidden' : `${timeSpanText(seconds * 1000)} old`;
  return `${table} by ${pid === undefined ? `the prepared transaction ${gid}` : `pid ${pid}`}, ${age}`;
}

function endStatement({ pid, gid }: TableLock): string {
  if (pid !== undefined) return `SELECT pg_terminate_backend(${pid})`;
  return `COMMIT PREPARED ${quoteLiteral(gid)} or ROLLBACK PREPARED ${quoteLiteral(gid)}`;
}
