import { countOf } from '../../../../base/text.ts';
import { failOutcome, passOutcome, warnOutcome } from '../../finding.ts';
import { declareServerCheck } from '../check.ts';
import { lockRoomOf } from '../lock-room.ts';
import { numericSetting, settingsQuery } from '../queries/settings.ts';
import { alterSystemFix } from '../settings.ts';

export const dumpLocksCheck = declareServerCheck({
  id: 'dump-locks',
  title: 'max_locks_per_transaction is sufficient for pg_dump',
  headline: 'max_locks_per_transaction is too low for pg_dump',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { settings: settingsQuery },
  evaluate({ settings }, { copy }) {
    const { processes, perProcess, room, limit } = lockRoomOf(
      (name) => (settings.has(name) ? numericSetting(settings, name) : undefined),
      settings.get('huge_pages')?.value === 'on',
    );
    const full = [...(copy?.perDatabase ?? [])].filter(([, { locks }]) => locks.all > room);
    const observed = `${countOf(room, 'lock')} available`;
    const [most] = full.toSorted(([, a], [, b]) => b.locks.all - a.locks.all);
    if (most === undefined) return passOutcome(observed);
    const [database, { tables, locks }] = most;
    const needed = Math.ceil((locks.all * 1.5) / processes);
    const more = {
      required: `max_locks_per_transaction at least ${needed}`,
      detail: `pg_dump locks every table of a database in one transaction, the views and other relations in the definitions that it reads, and the sequences if it dumps rows. ${database} needs ${locks.schema} locks for its schema and ${locks.all} for a whole dump, ${tables} of them for tables; ${perProcess} x ${processes} processes and prepared transactions = ${room} locks, for all sessions together: "out of shared memory". Application sessions that request a lock during the dump fail with the same error.`,
      fix: alterSystemFix(settings, { max_locks_per_transaction: String(needed) }),
    };
    const beyond = full.filter(([, one]) => one.locks.all > limit);
    if (beyond.length > 0) {
      const methods = beyond.some(([, one]) => one.locks.schema > limit) ? bothMethods : (['dump'] as const);
      return failOutcome(methods, observed, { ...more, only: beyond.map(([name]) => name) });
    }
    return warnOutcome(observed, more);
  },
});

/** A continuous migration dumps the schema, and replication copies the rows. */
const bothMethods = ['continuous', 'dump'] as const;
