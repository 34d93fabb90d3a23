import { quoteLiteral } from '../../postgresql/quote.ts';
import { fail, pass, warn } from '../finding.ts';
import { type Lock, locks } from './asks/locks.ts';
import { databaseCheck } from './check.ts';
import { shown, unlisted } from './names.ts';
import { tooOld } from './open-transactions.ts';
import { count, spanText } from './units.ts';

export const lockedTables = databaseCheck({
  id: 'locked-tables',
  title: 'no table is locked against readers',
  asks: { locks },
  judge({ locks }) {
    if (locks.length === 0) return pass('none');
    const tables = [...new Set(locks.map(({ table }) => table))];
    const lasting = locks.filter(({ pid, seconds }) => pid === undefined || (seconds ?? 0) > tooOld);
    const more = {
      required: `none for longer than ${spanText(tooOld * 1000)}, and none by a prepared transaction`,
      detail: `ACCESS EXCLUSIVE is held on them, and pg_dump and every copy wait until it is given back: nothing fails, and nothing goes on.${unlisted(tables)}`,
      objects: shown(locks.map(told)),
      fix: {
        by: 'who holds the lock, or a superuser',
        text: `Let it end, or end it: ${[...new Set(locks.map(ending))].slice(0, 5).join('; ')}.`,
      },
    };
    const observed = count(tables.length, 'table');
    return lasting.length === 0 ? warn(observed, more) : fail(['continuous', 'dump'], observed, more);
  },
});

function told({ table, pid, gid, seconds }: Lock): string {
  const age = seconds === undefined ? 'age hidden' : `${spanText(seconds * 1000)} old`;
  return `${table} by ${pid === undefined ? `the prepared transaction ${gid}` : `pid ${pid}`}, ${age}`;
}

function ending({ pid, gid }: Lock): string {
  if (pid !== undefined) return `SELECT pg_terminate_backend(${pid})`;
  return `COMMIT PREPARED ${quoteLiteral(gid)} or ROLLBACK PREPARED ${quoteLiteral(gid)}`;
}
