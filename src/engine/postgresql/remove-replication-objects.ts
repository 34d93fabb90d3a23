import type { CopySession } from '../../postgresql/connection.ts';
import { quoteIdentifier, quoteLiteral } from '../../postgresql/quote.ts';
import { engineErrorCode, redactedReason } from '../migration-error.ts';
import type { EngineDependencies } from '../migration-job.ts';
import type { PostgresJournalEntry } from '../migration-journal.ts';
import type { LeftoverObject } from '../migration-state.ts';
import { queryLastRows, querySingleValue, withEngineSession } from './engine-session.ts';
import { removalApplicationName } from './object-names.ts';

/**
 * Removes what was made for one database, in whatever state it is: subscription, slots, publication. The data stays.
 * Tries again until `waits.removal` is over; what then still stands is named.
 */
export async function removeReplicationObjects(
  entry: PostgresJournalEntry,
  ports: EngineDependencies,
): Promise<readonly LeftoverObject[]> {
  const signal = AbortSignal.timeout(ports.limits.removalTimeout);
  const context = { entry, ports, signal };
  const copies: TableSyncSlots = { owner: 'any' };
  const subscription = await retryUntilTimeout(context, 'target', (session) =>
    removeSubscription(session, entry, copies),
  );
  const [slot, publication] = [
    await retryUntilTimeout(context, 'source', (session) => removeSlots(session, entry, copies)),
    await retryUntilTimeout(context, 'source', (session) => removePublication(session, entry)),
  ];
  const { name } = entry;
  const leftover = (
    side: LeftoverObject['side'],
    object: string,
    statement: string,
    error: unknown,
  ): LeftoverObject[] =>
    error === undefined
      ? []
      : [
          {
            side,
            database: entry[side].dbname,
            object: `${object} ${name}`,
            statement,
            reason: redactedReason(error, entry.source.password, entry.target.password),
          },
        ];
  const quoted = quoteIdentifier(name);
  return [
    ...leftover(
      'target',
      'subscription',
      `ALTER SUBSCRIPTION ${quoted} DISABLE; ALTER SUBSCRIPTION ${quoted} SET (slot_name = NONE); DROP SUBSCRIPTION ${quoted}`,
      subscription,
    ),
    ...leftover('source', 'replication slot', `SELECT pg_drop_replication_slot(${quoteLiteral(name)})`, slot),
    ...leftover('source', 'publication', `DROP PUBLICATION ${quoted}`, publication),
  ];
}

interface RemovalContext {
  readonly entry: PostgresJournalEntry;
  readonly ports: EngineDependencies;
  readonly signal: AbortSignal;
}

type RemovalStep = (session: CopySession) => Promise<void>;

/** Whose initial copies may have left slots: those of a subscription by its oid; any of the target when it cannot be asked. */
interface TableSyncSlots {
  owner: string | 'any' | 'none';
}

/** undefined: done. Otherwise why not; a database that is not there holds nothing. */
async function retryUntilTimeout(
  { entry, ports, signal }: RemovalContext,
  side: LeftoverObject['side'],
  step: RemovalStep,
): Promise<unknown> {
  for (let attempt = 0; ; attempt++) {
    try {
      // One try is made in any case, even when another step has used up the time.
      const own = attempt === 0 ? AbortSignal.timeout(ports.limits.removalTimeout) : signal;
      await withEngineSession(entry[side], ports, { name: removalApplicationName, signal: own }, step);
      return undefined;
    } catch (error) {
      if (engineErrorCode(error) === '3D000') return undefined;
      if (signal.aborted || permanentErrorCodes.test(engineErrorCode(error) ?? '')) return error;
      try {
        await ports.sleep(Math.min(100 * 2 ** attempt, 1000), signal);
      } catch {
        return error;
      }
    }
  }
}

/** Of no avail to try again: it is not allowed, or nobody is let in (invalid_authorization_specification). */
const permanentErrorCodes = /^(42501|28...)$/;

async function removeSubscription(
  session: CopySession,
  entry: PostgresJournalEntry,
  copies: TableSyncSlots,
): Promise<void> {
  await terminateSessions(session, entry.name);
  const quoted = quoteIdentifier(entry.name);
  const found = await querySingleValue(
    session,
    `SELECT s.oid FROM pg_subscription s JOIN pg_database d ON d.oid = s.subdbid
     WHERE d.datname = current_database() AND s.subname = ${quoteLiteral(entry.name)}`,
  );
  if (copies.owner === 'any') copies.owner = 'none';
  if (found === undefined) return;
  copies.owner = found;
  await session.query(`ALTER SUBSCRIPTION ${quoted} DISABLE`);
  await session.query(`ALTER SUBSCRIPTION ${quoted} SET (slot_name = NONE)`);
  await session.query(`DROP SUBSCRIPTION ${quoted}`);
}

/** Our own, and those of the initial copies, which their workers could not remove any more. */
async function removeSlots(
  session: CopySession,
  entry: PostgresJournalEntry,
  { owner: of }: TableSyncSlots,
): Promise<void> {
  await terminateSessions(session, entry.name);
  const own = `slot_name = ${quoteLiteral(entry.name)}`;
  const copy = `slot_name ~ ${quoteLiteral(`^pg_${of === 'any' ? '[0-9]+' : of}_sync_[0-9]+_${entry.targetSystem}$`)}`;
  // While the target cannot be asked, what is in use may be somebody else's.
  const copies = of === 'none' ? 'false' : of === 'any' ? `(${copy} AND NOT active)` : copy;
  const ours = `database = current_database() AND (${own} OR ${copies})`;
  await session.query(`SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE active AND ${ours}`);
  for (const { slot_name: slot } of await queryLastRows(
    session,
    `SELECT slot_name FROM pg_replication_slots WHERE ${ours}`,
  )) {
    await session.query(`SELECT pg_drop_replication_slot(${quoteLiteral(slot ?? '')})`);
  }
}

async function removePublication(session: CopySession, entry: PostgresJournalEntry): Promise<void> {
  // A server that takes no writes would refuse to remove even what is not there.
  const found = await querySingleValue(
    session,
    `SELECT 1 FROM pg_publication WHERE pubname = ${quoteLiteral(entry.name)}`,
  );
  if (found !== undefined) await session.query(`DROP PUBLICATION IF EXISTS ${quoteIdentifier(entry.name)}`);
}

/**
 * A statement goes on when whoever sent it has died: one that waits to make a slot would make it after the removal.
 * Throws while one is still alive.
 */
async function terminateSessions(session: CopySession, name: string): Promise<void> {
  const ours = `application_name = ${quoteLiteral(name)} AND pid <> pg_backend_pid()`;
  const [ended] = await session.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${ours}`);
  if (ended === undefined || ended.length === 0) return;
  const left = await querySingleValue(
    session,
    `SELECT pg_sleep(0.05); SELECT count(*) FROM pg_stat_activity WHERE ${ours}`,
  );
  if (left !== '0') throw new Error('a session of the migration has not ended yet');
}
