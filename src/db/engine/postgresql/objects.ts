import { timeoutSignal } from '../../../platform/waiting.ts';
import { requireAuthValue } from '../../../postgresql/connection.ts';
import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import { searchPathStatement } from '../../../postgresql/psql-script.ts';
import { quoteIdentifier, quoteLiteral } from '../../../postgresql/quote.ts';
import type { SafeSession } from '../../../postgresql/search-path-safe-session.ts';
import { neededForSubscriptions } from '../../../postgresql/subscription-workers.ts';
import { MigrationError, redactReason, sqlStateOf } from '../error.ts';
import type { EngineSystem } from '../input.ts';
import type { PostgresEntry } from '../journal.ts';
import type { Leftover } from '../state.ts';
import { removalName } from './names.ts';
import { lastRows, longTimeout, singleValue, withSession } from './session.ts';
import { cleanUpOwner } from './target.ts';

/** Creates the publication before the slot: decoding changes that are older than the publication fails permanently. */
export async function createPublicationAndSlot(session: SafeSession, name: string, version: number): Promise<void> {
  const operations = `insert,update,delete${version >= 110_000 ? ',truncate' : ''}`;
  await session.query(
    `CREATE PUBLICATION ${quoteIdentifier(name)} FOR ALL TABLES WITH (publish = '${operations}')`,
    longTimeout,
  );
  // Creating a replication slot waits for all transactions that are open on the server.
  await session.query(`SELECT pg_create_logical_replication_slot(${quoteLiteral(name)}, 'pgoutput')`, longTimeout);
}

/**
 * Creates the subscription, which starts the initial copy. The slot must exist already: within one server, CREATE
 * SUBSCRIPTION with create_slot would wait for itself.
 * @param owner the role that will own the subscription, if a superuser creates it, because its workers run code of the
 * source
 */
export async function createSubscription(
  session: SafeSession,
  name: string,
  source: PostgresqlEndpoint,
  owner: string | undefined,
): Promise<void> {
  const version = await assertEnoughWorkers(session);
  // Statement logging is turned off, because CREATE SUBSCRIPTION contains the password. Only a superuser may change the
  // settings of statement logging, so an error is ignored.
  await session
    .query("SET log_statement = 'none'; SET log_min_duration_statement = -1; SET log_min_error_statement = 'panic'")
    .catch(() => {});
  const quoted = quoteIdentifier(name);
  const command = (options: string) =>
    `CREATE SUBSCRIPTION ${quoted} CONNECTION ${quoteLiteral(connectionString(source, version))} PUBLICATION ${quoted}
     WITH (create_slot = false, slot_name = ${quoteLiteral(name)}, copy_data = true${options})`;
  const text =
    owner === undefined
      ? command('')
      : `BEGIN; ${version >= 160_000 ? '' : buildSubscriptionDdlGuardCreationSql(name)} ${command(disabledOptions(version))}; ${ownerStatements(quoted, owner, version)} ALTER SUBSCRIPTION ${quoted} ENABLE; COMMIT`;
  await session.query(text, longTimeout);
}

/**
 * With password_required = false the owner of the subscription is not permitted to change its connection, and the source
 * need not request a password.
 */
function disabledOptions(version: number): string {
  return `, enabled = false${version >= 160_000 ? ', password_required = false, run_as_owner = false' : ''}`;
}

/**
 * Before PostgreSQL 16 only a superuser can become the owner of a subscription. The role is a superuser only inside
 * this transaction, so no other session sees it as a superuser.
 */
function ownerStatements(subscription: string, role: string, version: number): string {
  const quoted = quoteIdentifier(role);
  const change = `ALTER SUBSCRIPTION ${subscription} OWNER TO ${quoted};`;
  if (version >= 160_000) return change;
  return `ALTER ROLE ${quoted} SUPERUSER; ${change} ALTER ROLE ${quoted} NOSUPERUSER;`;
}

/** @returns server_version_num of the target */
async function assertEnoughWorkers(session: SafeSession): Promise<number> {
  const [row] = await lastRows(
    session,
    `SELECT (SELECT count(*) FROM pg_subscription WHERE subenabled) AS taken,
     current_setting('max_logical_replication_workers') AS workers,
     current_setting('max_worker_processes') AS processes,
     current_setting('max_sync_workers_per_subscription') AS copies,
     coalesce(current_setting('max_active_replication_origins', true), current_setting('max_replication_slots')) AS origins,
     current_setting('server_version_num') AS version`,
  );
  const [enabled, workers, processes] = [Number(row?.taken), Number(row?.workers), Number(row?.processes)];
  const [copies, origins] = [Number(row?.copies), Number(row?.origins)];
  const needed = neededForSubscriptions(enabled + 1, { workers, copies });
  if (needed.workers > workers) {
    throw new MigrationError(
      `the target has no free logical replication worker: max_logical_replication_workers is ${workers}, and ${enabled} subscriptions are enabled; a new one needs 2 workers`,
    );
  }
  if (needed.processes > processes) {
    throw new MigrationError(
      `the target has no free background worker: max_worker_processes is ${processes}, and ${enabled} subscriptions are enabled; with a new one it must be at least ${needed.processes}`,
    );
  }
  if (needed.origins > origins) {
    throw new MigrationError(
      `the target has too few replication origins: up to ${needed.origins} workers need one each, and max_active_replication_origins (before PostgreSQL 18 max_replication_slots) allows ${origins}`,
    );
  }
  return Number(row?.version);
}

/**
 * Removes the subscription, the slots and the publication of one database, whatever their state. Rows stay. Retries the
 * removal until `removalTimeout` has passed.
 * @returns the objects that could not be removed
 */
export async function removeObjects(entry: PostgresEntry, deps: EngineSystem): Promise<readonly Leftover[]> {
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
  const leftover = (side: Leftover['side'], object: string, statement: string, error: unknown): Leftover[] =>
    error === undefined
      ? []
      : [
          {
            side,
            database: entry[side].dbname,
            object,
            statement,
            reason: redactReason(error, entry.source.password, entry.target.password),
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
    ...leftover(
      'source',
      `replication slot ${name}`,
      `SELECT pg_catalog.pg_drop_replication_slot(${quoteLiteral(name)})`,
      slot,
    ),
    ...(syncSlots.owner === 'none' || !syncSlots.mayExist
      ? []
      : leftover(
          'source',
          `replication slots pg_${syncSlots.owner === 'any' ? '<oid>' : syncSlots.owner}_sync_<table>_${entry.targetSystem}`,
          `${searchPathStatement} SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE database = current_database() AND ${syncSlotCondition(entry, syncSlots)}`,
          slot,
        )),
    ...leftover('source', `publication ${name}`, `DROP PUBLICATION ${quoted}`, publication),
  ];
}

/**
 * Revokes the login of the role that wrote to the target, and restores the owner of the database.
 * @returns the role if one of these steps failed
 */
export async function restoreOwner(entry: PostgresEntry, deps: EngineSystem): Promise<readonly Leftover[]> {
  if (entry.former === undefined) return [];
  const signal = timeoutSignal(deps.limits.removalTimeout);
  let isMissing = true;
  const releaseIn = (dbname: string) =>
    retryUntilTimeout(
      { entry: { ...entry, target: { ...entry.target, dbname } }, deps, signal },
      'target',
      (session) => {
        isMissing = false;
        return cleanUpOwner(session, entry);
      },
    );
  let error = await releaseIn(entry.target.dbname);
  // The role is removed even if the database does not exist, because a role belongs to the server.
  if (error === undefined && isMissing) error = await releaseIn('postgres');
  if (error === undefined) return [];
  const { name, target } = entry;
  const reason = redactReason(error, target.password);
  const statement = `ALTER ROLE ${quoteIdentifier(name)} NOSUPERUSER NOBYPASSRLS NOLOGIN PASSWORD NULL`;
  return [{ side: 'target', database: target.dbname, object: `role ${name}`, statement, reason }];
}

interface RemovalContext {
  readonly entry: PostgresEntry;
  readonly deps: EngineSystem;
  readonly signal: AbortSignal;
}

type RemovalStep = (session: SafeSession) => Promise<void>;

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
  side: Leftover['side'],
  step: RemovalStep,
): Promise<unknown> {
  for (let attempt = 0; ; attempt++) {
    try {
      // The first attempt has its own time limit, even if an earlier step has used up the shared time limit.
      const ownSlot = attempt === 0 ? timeoutSignal(deps.limits.removalTimeout) : signal;
      await withSession(entry[side], deps, { name: removalName, signal: ownSlot }, step);
      return undefined;
    } catch (error) {
      if (sqlStateOf(error) === '3D000') return undefined;
      if (signal.aborted || permanentErrorCodes.test(sqlStateOf(error) ?? '')) return error;
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
  session: SafeSession,
  { entry, deps }: RemovalContext,
  syncSlots: TableSyncSlots,
): Promise<void> {
  await terminateSessions(session, entry.name);
  const [found] = await lastRows(
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
async function removeGuard(session: SafeSession, { name, former }: PostgresEntry): Promise<void> {
  if (former === undefined) return;
  for (const statement of buildSubscriptionDdlGuardRemovalSql(name)) await session.query(statement);
}

/** Drops the slot of the migration and the slots of initial copies that their workers did not drop. */
async function removeSlots(session: SafeSession, entry: PostgresEntry, syncSlots: TableSyncSlots): Promise<void> {
  await terminateSessions(session, entry.name);
  const ownSlot = `slot_name = ${quoteLiteral(entry.name)}`;
  const condition = `database = current_database() AND (${ownSlot} OR ${syncSlotCondition(entry, syncSlots)})`;
  await session.query(
    `SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE active AND ${condition}`,
  );
  for (const { slot_name: slot } of await lastRows(
    session,
    `SELECT slot_name FROM pg_replication_slots WHERE ${condition}`,
  )) {
    await session.query(`SELECT pg_drop_replication_slot(${quoteLiteral(slot ?? '')})`);
  }
}

function syncSlotCondition({ targetSystem }: PostgresEntry, { owner }: TableSyncSlots): string {
  if (owner === 'none') return 'false';
  const pattern = `^pg_${owner === 'any' ? '[0-9]+' : owner}_sync_[0-9]+_${targetSystem}$`;
  // While the target cannot be queried, an active slot is kept, because it may belong to another subscription.
  return `slot_name ~ ${quoteLiteral(pattern)}${owner === 'any' ? ' AND NOT active' : ''}`;
}

async function removePublication(session: SafeSession, entry: PostgresEntry): Promise<void> {
  // DROP PUBLICATION IF EXISTS is not sent to a read-only server, which rejects it even if the publication does not
  // exist.
  const found = await singleValue(session, `SELECT 1 FROM pg_publication WHERE pubname = ${quoteLiteral(entry.name)}`);
  if (found !== undefined) await session.query(`DROP PUBLICATION IF EXISTS ${quoteIdentifier(entry.name)}`);
}

/**
 * Sessions of the migration are ended first: a statement continues after its client has died, and could create the slot
 * after this removal. Throws while a session of the migration is still running.
 */
async function terminateSessions(session: SafeSession, name: string): Promise<void> {
  const condition = `application_name = ${quoteLiteral(name)} AND pid <> pg_backend_pid()`;
  const [ended] = await session.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${condition}`);
  if (ended === undefined || ended.length === 0) return;
  const left = await singleValue(
    session,
    `SELECT pg_sleep(0.05); SELECT count(*) FROM pg_stat_activity WHERE ${condition}`,
  );
  if (left !== '0') throw new Error('a session of the migration is still running');
}

/**
 * Connection string with which the target server connects to the source, password included.
 * https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING
 * @param version server_version_num of the target; libpq before version 16 does not know require_auth
 */
export function connectionString(source: PostgresqlEndpoint, version: number): string {
  const requireAuth = version >= 160_000 ? requireAuthValue(source) : undefined;
  const password = source.password?.reveal() ?? '';
  const options: readonly (readonly [string, string])[] = [
    ['host', source.host],
    ...(source.address === undefined ? [] : [['hostaddr', source.address] as const]),
    ['port', String(source.port)],
    ['dbname', source.dbname],
    ['user', source.username],
    ...(password === '' ? [] : [['password', password] as const]),
    ['sslmode', source.ssl],
    ...(requireAuth === undefined ? [] : [['require_auth', requireAuth] as const]),
    // connect_timeout is set, because a source that does not respond would otherwise block DROP SUBSCRIPTION.
    ['connect_timeout', '10'],
  ];
  return options.map(([name, value]) => `${name}=${quoteValue(value)}`).join(' ');
}

function quoteValue(value: string): string {
  return `'${value.replace(/[\\']/g, '\\$&')}'`;
}

/**
 * Before PostgreSQL 16 the owner of a subscription can change its connection, and code of the source runs as this
 * owner. With a changed connection the target could connect to itself as its operating system user, which pg_hba.conf
 * often trusts. Only an event trigger can prevent such a change; the trigger and its schema belong to the superuser, so
 * the owner of the subscription cannot remove them.
 * @param name name of the subscription
 */
function buildSubscriptionDdlGuardCreationSql(name: string): string {
  const quoted = quoteIdentifier(name);
  return `CREATE SCHEMA ${quoted};
    CREATE FUNCTION ${quoted}.refuse() RETURNS event_trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $guard$
      BEGIN
        IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
          RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege', MESSAGE = 'only a superuser may change subscriptions now';
        END IF;
      END $guard$;
    CREATE EVENT TRIGGER ${quoted} ON ddl_command_start
      WHEN TAG IN ('CREATE SUBSCRIPTION', 'ALTER SUBSCRIPTION', 'DROP SUBSCRIPTION') EXECUTE FUNCTION ${quoted}.refuse();
    ALTER EVENT TRIGGER ${quoted} ENABLE ALWAYS;`;
}

/** SQL that removes the guard of a subscription; each statement succeeds even if its object does not exist. */
function buildSubscriptionDdlGuardRemovalSql(name: string): readonly string[] {
  const quoted = quoteIdentifier(name);
  return [
    `DROP EVENT TRIGGER IF EXISTS ${quoted}`,
    `DROP FUNCTION IF EXISTS ${quoted}.refuse()`,
    `DROP SCHEMA IF EXISTS ${quoted}`,
  ];
}
