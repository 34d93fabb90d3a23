import { timeoutSignal } from '../../../platform/timeout-signal.ts';
import { quoteIdentifier, quoteLiteral } from '../../../postgresql/quote.ts';
import type { SearchPathSafeSession } from '../../../postgresql/search-path-safe-session.ts';
import type { MigrationLeftoverObject } from '../engine-migration-state.ts';
import type { MigrationEngineDependencies } from '../migration-engine-input.ts';
import { getSqlStateOrSystemCode, redactErrorReason } from '../migration-error.ts';
import type { PostgresMigrationCleanupEntry } from '../migration-journal.ts';
import { queryLastRows, querySingleValue, withEngineDatabaseSession } from './engine-session.ts';
import { removalSessionApplicationName } from './replication-object-names.ts';
import { buildSubscriptionDdlGuardRemovalSql } from './subscription-guard.ts';
import { cleanUpTargetOwnerRole } from './target-owner.ts';

/**
 * Removes the subscription, the slots and the publication of one database, whatever their state. Rows stay. Retries the
 * removal until `removalTimeout` has passed.
 * @returns the objects that could not be removed
 */
export async function removeReplicationObjects(
  entry: PostgresMigrationCleanupEntry,
  deps: MigrationEngineDependencies,
): Promise<readonly MigrationLeftoverObject[]> {
  const signal = timeoutSignal(deps.limits.removalTimeout);
  const context = { entry, deps, signal };
  const syncSlots: TableSyncSlots = { owner: entry.subscriptionOid ?? 'any', mayExist: true };
  const subscription = await retryUntilTimeout(context, 'target', (session) =>
    removeSubscription(session, context, syncSlots),
  );
  const [slot, publication] = [
    await retryUntilTimeout(context, 'source', (session) => removeSlots(session, entry, syncSlots)),
    await retryUntilTimeout(context, 'source', (session) => removePublication(session, entry)),
  ];
  const { name } = entry;
  const leftover = (
    side: MigrationLeftoverObject['side'],
    object: string,
    statement: string,
    error: unknown,
  ): MigrationLeftoverObject[] =>
    error === undefined
      ? []
      : [
          {
            side,
            database: entry[side].dbname,
            object,
            statement,
            reason: redactErrorReason(error, entry.source.password, entry.target.password),
          },
        ];
  const quoted = quoteIdentifier(name);
  return [
    ...leftover(
      'target',
      `subscription ${name}`,
      `ALTER SUBSCRIPTION ${quoted} DISABLE; ALTER SUBSCRIPTION ${quoted} SET (slot_name = NONE); DROP SUBSCRIPTION ${quoted}`,
      subscription,
    ),
    ...leftover('source', `replication slot ${name}`, `SELECT pg_drop_replication_slot(${quoteLiteral(name)})`, slot),
    ...(syncSlots.owner === 'none' || !syncSlots.mayExist
      ? []
      : leftover(
          'source',
          `replication slots pg_${syncSlots.owner === 'any' ? '<oid>' : syncSlots.owner}_sync_<table>_${entry.targetSystem}`,
          `SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE database = current_database() AND ${syncSlotCondition(entry, syncSlots)}`,
          slot,
        )),
    ...leftover('source', `publication ${name}`, `DROP PUBLICATION ${quoted}`, publication),
  ];
}

/**
 * Revokes the login of the role that wrote to the target, and restores the owner of the database.
 * @returns the role if one of these steps failed
 */
export async function restoreTargetDatabaseOwner(
  entry: PostgresMigrationCleanupEntry,
  deps: MigrationEngineDependencies,
): Promise<readonly MigrationLeftoverObject[]> {
  if (entry.former === undefined) return [];
  const signal = timeoutSignal(deps.limits.removalTimeout);
  let isMissing = true;
  const releaseIn = (dbname: string) =>
    retryUntilTimeout(
      { entry: { ...entry, target: { ...entry.target, dbname } }, deps, signal },
      'target',
      (session) => {
        isMissing = false;
        return cleanUpTargetOwnerRole(session, entry);
      },
    );
  let error = await releaseIn(entry.target.dbname);
  // The role is removed even if the database does not exist, because a role belongs to the server.
  if (error === undefined && isMissing) error = await releaseIn('postgres');
  if (error === undefined) return [];
  const { name, target } = entry;
  const reason = redactErrorReason(error, target.password);
  const statement = `ALTER ROLE ${quoteIdentifier(name)} NOSUPERUSER NOBYPASSRLS NOLOGIN PASSWORD NULL`;
  return [{ side: 'target', database: target.dbname, object: `role ${name}`, statement, reason }];
}

interface RemovalContext {
  readonly entry: PostgresMigrationCleanupEntry;
  readonly deps: MigrationEngineDependencies;
  readonly signal: AbortSignal;
}

type RemovalStep = (session: SearchPathSafeSession) => Promise<void>;

/**
 * The subscription whose table synchronization slots are removed: its oid, or `any` for all subscriptions of the target
 * if the target cannot be queried.
 */
interface TableSyncSlots {
  owner: string | 'any' | 'none';
  /**
   * Whether slots may be left; false if every table was replicated, because the synchronization workers then dropped their
   * slots.
   */
  mayExist: boolean;
}

/**
 * Resolves with undefined after a success, else with the last error. A database that does not exist (3D000) contains no
 * objects, so nothing is left to remove.
 */
async function retryUntilTimeout(
  { entry, deps, signal }: RemovalContext,
  side: MigrationLeftoverObject['side'],
  step: RemovalStep,
): Promise<unknown> {
  for (let attempt = 0; ; attempt++) {
    try {
      // The first attempt has its own time limit, even if an earlier step has used up the shared time limit.
      const ownSlot = attempt === 0 ? timeoutSignal(deps.limits.removalTimeout) : signal;
      await withEngineDatabaseSession(
        entry[side],
        deps,
        { name: removalSessionApplicationName, signal: ownSlot },
        step,
      );
      return undefined;
    } catch (error) {
      if (getSqlStateOrSystemCode(error) === '3D000') return undefined;
      if (signal.aborted || permanentErrorCodes.test(getSqlStateOrSystemCode(error) ?? '')) return error;
      try {
        await deps.sleep(Math.min(100 * 2 ** attempt, 1000), signal);
      } catch {
        return error;
      }
    }
  }
}

/** SQLSTATEs after which no retry can succeed: insufficient_privilege and invalid_authorization_specification. */
const permanentErrorCodes = /^(42501|28...)$/;

async function removeSubscription(
  session: SearchPathSafeSession,
  { entry, deps }: RemovalContext,
  syncSlots: TableSyncSlots,
): Promise<void> {
  await terminateSessions(session, entry.name);
  const [found] = await queryLastRows(
    session,
    `SELECT s.oid, s.subname,
       EXISTS (SELECT 1 FROM pg_subscription_rel r WHERE r.srsubid = s.oid AND r.srsubstate <> 'r') AS copying FROM pg_subscription s JOIN pg_database d ON d.oid = s.subdbid
     WHERE d.datname = current_database()
       AND (s.subname = ${quoteLiteral(entry.name)} OR pg_get_userbyid(s.subowner) = ${quoteLiteral(entry.name)})`,
  );
  if (syncSlots.owner === 'any') syncSlots.owner = 'none';
  if (found === undefined) return removeGuard(session, entry);
  syncSlots.owner = found.oid ?? 'none';
  syncSlots.mayExist = found.copying === 't';
  // The oid of the subscription is recorded before the subscription is dropped, because the next process needs it to
  // find the names of the slots.
  if (found.oid != null) deps.journal.recordIntent({ ...entry, subscriptionOid: found.oid });
  const quoted = quoteIdentifier(found.subname ?? entry.name);
  await session.query(`ALTER SUBSCRIPTION ${quoted} DISABLE`);
  await session.query(`ALTER SUBSCRIPTION ${quoted} SET (slot_name = NONE)`);
  await session.query(`DROP SUBSCRIPTION ${quoted}`);
  await removeGuard(session, entry);
}

/** A target without a superuser has no event trigger that guards the subscription. */
async function removeGuard(
  session: SearchPathSafeSession,
  { name, former }: PostgresMigrationCleanupEntry,
): Promise<void> {
  if (former === undefined) return;
  for (const statement of buildSubscriptionDdlGuardRemovalSql(name)) await session.query(statement);
}

/** Drops the slot of the migration and the slots of initial copies that their workers did not drop. */
async function removeSlots(
  session: SearchPathSafeSession,
  entry: PostgresMigrationCleanupEntry,
  syncSlots: TableSyncSlots,
): Promise<void> {
  await terminateSessions(session, entry.name);
  const ownSlot = `slot_name = ${quoteLiteral(entry.name)}`;
  const condition = `database = current_database() AND (${ownSlot} OR ${syncSlotCondition(entry, syncSlots)})`;
  await session.query(
    `SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE active AND ${condition}`,
  );
  for (const { slot_name: slot } of await queryLastRows(
    session,
    `SELECT slot_name FROM pg_replication_slots WHERE ${condition}`,
  )) {
    await session.query(`SELECT pg_drop_replication_slot(${quoteLiteral(slot ?? '')})`);
  }
}

function syncSlotCondition({ targetSystem }: PostgresMigrationCleanupEntry, { owner }: TableSyncSlots): string {
  if (owner === 'none') return 'false';
  const pattern = `^pg_${owner === 'any' ? '[0-9]+' : owner}_sync_[0-9]+_${targetSystem}$`;
  // While the target cannot be queried, an active slot is kept, because it may belong to another subscription.
  return `slot_name ~ ${quoteLiteral(pattern)}${owner === 'any' ? ' AND NOT active' : ''}`;
}

async function removePublication(session: SearchPathSafeSession, entry: PostgresMigrationCleanupEntry): Promise<void> {
  // DROP PUBLICATION IF EXISTS is not sent to a read-only server, which rejects it even if the publication does not
  // exist.
  const found = await querySingleValue(
    session,
    `SELECT 1 FROM pg_publication WHERE pubname = ${quoteLiteral(entry.name)}`,
  );
  if (found !== undefined) await session.query(`DROP PUBLICATION IF EXISTS ${quoteIdentifier(entry.name)}`);
}

/**
 * Sessions of the migration are ended first: a statement continues after its client has died, and could create the slot
 * after this removal. Throws while a session of the migration is still running.
 */
async function terminateSessions(session: SearchPathSafeSession, name: string): Promise<void> {
  const condition = `application_name = ${quoteLiteral(name)} AND pid <> pg_backend_pid()`;
  const [ended] = await session.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${condition}`);
  if (ended === undefined || ended.length === 0) return;
  const left = await querySingleValue(
    session,
    `SELECT pg_sleep(0.05); SELECT count(*) FROM pg_stat_activity WHERE ${condition}`,
  );
  if (left !== '0') throw new Error('a session of the migration is still running');
}
