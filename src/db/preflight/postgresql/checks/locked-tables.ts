import { countOf, formatDuration } from '../../../../base/text.ts';
import { quoteLiteral } from '../../../../postgresql/quote.ts';
import { failOutcome, passOutcome, warnOutcome } from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import { maxTransactionSeconds, type TableLock, tableLocksQuery } from '../queries/activity.ts';

export const lockedTablesCheck = declareDatabaseCheck({
  id: 'locked-tables',
  title: 'no table has an ACCESS EXCLUSIVE lock',
  headline: 'A table has an ACCESS EXCLUSIVE lock',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { locks: tableLocksQuery },
  evaluate({ locks }) {
    if (locks.length === 0) return passOutcome('none');
    const tables = [...new Set(locks.map(({ table }) => table))];
    const lasting = locks.filter(({ pid, seconds }) => pid === undefined || (seconds ?? 0) > maxTransactionSeconds);
    const more = {
      required: `no ACCESS EXCLUSIVE lock older than ${formatDuration(maxTransactionSeconds * 1000)}, and none of a prepared transaction`,
      detail: `pg_dump and every copy wait until the ACCESS EXCLUSIVE lock is released, without an error.${unlistedNote(tables)}`,
      objects: limitObjects(locks.map(describeLock)),
      fix: {
        by: 'the owner of the session, or a superuser',
        text: `Wait until the transaction that holds the lock ends, or end it: ${[...new Set(locks.map(endStatement))].slice(0, 5).join('; ')}.`,
      },
    };
    const observed = countOf(tables.length, 'table');
    return lasting.length === 0 ? warnOutcome(observed, more) : failOutcome(['continuous', 'dump'], observed, more);
  },
});

function describeLock({ table, pid, gid, seconds }: TableLock): string {
  const age = seconds === undefined ? 'age hidden' : `${formatDuration(seconds * 1000)} old`;
  return `${table} by ${pid === undefined ? `the prepared transaction ${gid}` : `pid ${pid}`}, ${age}`;
}

function endStatement({ pid, gid }: TableLock): string {
  if (pid !== undefined) return `SELECT pg_catalog.pg_terminate_backend(${pid})`;
  return `COMMIT PREPARED ${quoteLiteral(gid)} or ROLLBACK PREPARED ${quoteLiteral(gid)}`;
}
