import { fail, pass, warn } from '../../finding.ts';
import { alterSystemFix } from '../alter-system.ts';
import { serverCheck } from '../check.ts';
import { numericSettingOf, type ServerSettings, settingsQuery } from '../queries/settings.ts';
import { countText } from '../units.ts';

/** Locks for which the server finds room beside its table of them, in shared memory that nothing else took. */
const spare = 1000;

/** As many more, where the memory comes in huge pages, of which the last is seldom full. */
const spareOfHugePages = 8000;

export const dumpLocksCheck = serverCheck({
  id: 'dump-locks',
  title: 'max_locks_per_transaction is sufficient for pg_dump',
  headline: 'max_locks_per_transaction is too low for pg_dump',
  severity: { continuous: 'blocker', dump: 'blocker' },
  needs: 'connection',
  queries: { settings: settingsQuery },
  evaluate({ settings }, { copy }) {
    const places = placesOf(settings);
    const room = places * numericSettingOf(settings, 'max_locks_per_transaction', 64);
    const full = [...(copy?.perDatabase ?? [])].filter(([, { tables }]) => tables > room);
    const observed = `room for ${countText(room, 'lock')}`;
    const [most] = full.toSorted(([, a], [, b]) => b.tables - a.tables);
    if (most === undefined) return pass(observed);
    const [database, { tables }] = most;
    const limit = room * 1.1 + spare + (settings.get('huge_pages')?.value === 'on' ? spareOfHugePages : 0);
    const beyond = full.filter(([, one]) => one.tables > limit).map(([name]) => name);
    const needed = Math.ceil((tables * 1.5) / places);
    const more = {
      required: `max_locks_per_transaction at least ${needed}`,
      detail: `pg_dump locks every table of a database in one transaction, and both methods read the schema with it. ${database} has ${tables} tables; ${numericSettingOf(settings, 'max_locks_per_transaction', 64)} x ${places} processes and prepared transactions is room for ${room} locks, of all sessions together: "out of shared memory". The sessions of the application that need a lock meanwhile are told the same.`,
      fix: alterSystemFix(settings, { max_locks_per_transaction: String(needed) }),
    };
    return beyond.length === 0
      ? warn(observed, more)
      : fail(['continuous', 'dump'], observed, { ...more, only: beyond });
  },
});

/** Processes the server makes room for; before 12 senders were among the connections, since 18 the workers of autovacuum have places of their own. */
function placesOf(settings: ServerSettings): number {
  const workers = numericSettingOf(
    settings,
    'autovacuum_worker_slots',
    numericSettingOf(settings, 'autovacuum_max_workers', 3),
  );
  const others = ['max_connections', 'max_prepared_transactions', 'max_worker_processes', 'max_wal_senders'] as const;
  return workers + 1 + others.reduce((sum, name) => sum + numericSettingOf(settings, name), 0);
}
