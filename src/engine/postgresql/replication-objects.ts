import type { PinnedSession } from '../../postgresql/pinned-session.ts';
import { quoteIdentifier, quoteLiteral } from '../../postgresql/quote.ts';
import type { PostgresqlSource } from '../../postgresql/source.ts';
import { MigrationError } from '../migration-error.ts';
import { migrationStatementTimeout, queryLastRows } from './engine-session.ts';
import { subscriptionConninfo } from './subscription-conninfo.ts';
import { createGuardStatements } from './subscription-guard.ts';

/** Creates the publication before the slot: decoding changes that are older than the publication fails permanently. */
export async function createPublicationAndSlot(session: PinnedSession, name: string, version: number): Promise<void> {
  const operations = `insert,update,delete${version >= 110_000 ? ',truncate' : ''}`;
  await session.query(
    `CREATE PUBLICATION ${quoteIdentifier(name)} FOR ALL TABLES WITH (publish = '${operations}')`,
    migrationStatementTimeout,
  );
  // Slot creation waits for all transactions that are open on the server.
  await session.query(
    `SELECT pg_create_logical_replication_slot(${quoteLiteral(name)}, 'pgoutput')`,
    migrationStatementTimeout,
  );
}

/**
 * Starts the initial copy. The slot exists already: within one server, CREATE SUBSCRIPTION with create_slot would wait for
 * itself.
 * @param owner the role that it belongs to, when a superuser creates it: its workers run code of the source
 */
export async function createSubscription(
  session: PinnedSession,
  name: string,
  source: PostgresqlSource,
  owner: string | undefined,
): Promise<void> {
  const version = await assertEnoughWorkers(session);
  // The statement holds the password, and the server may log statements. Only a superuser may change this.
  await session
    .query("SET log_statement = 'none'; SET log_min_duration_statement = -1; SET log_min_error_statement = 'panic'")
    .catch(() => {});
  const quoted = quoteIdentifier(name);
  const command = (options: string) =>
    `CREATE SUBSCRIPTION ${quoted} CONNECTION ${quoteLiteral(subscriptionConninfo(source, version))} PUBLICATION ${quoted}
     WITH (create_slot = false, slot_name = ${quoteLiteral(name)}, copy_data = true${options})`;
  const text =
    owner === undefined
      ? command('')
      : `BEGIN; ${version >= 160_000 ? '' : createGuardStatements(name)} ${command(disabledOptions(version))}; ${ownerStatements(quoted, owner, version)} ALTER SUBSCRIPTION ${quoted} ENABLE; COMMIT`;
  await session.query(text, migrationStatementTimeout);
}

/** With password_required = false the owner may not change the connection, and the source need not ask for a password. */
function disabledOptions(version: number): string {
  return `, enabled = false${version >= 160_000 ? ', password_required = false, run_as_owner = false' : ''}`;
}

/**
 * Before PostgreSQL 16 only a superuser can become the owner. The role is one inside this transaction alone, so no other session
 * ever sees it as a superuser.
 */
function ownerStatements(subscription: string, role: string, version: number): string {
  const quoted = quoteIdentifier(role);
  const change = `ALTER SUBSCRIPTION ${subscription} OWNER TO ${quoted};`;
  if (version >= 160_000) return change;
  return `ALTER ROLE ${quoted} SUPERUSER; ${change} ALTER ROLE ${quoted} NOSUPERUSER;`;
}

/**
 * Without a free worker a subscription waits without an error: each needs an apply worker and at least one worker for the
 * initial copy. Without a replication origin the copy fails again and again and leaves a slot on the source each time.
 * @returns server_version_num
 */
async function assertEnoughWorkers(session: PinnedSession): Promise<number> {
  const [row] = await queryLastRows(
    session,
    `SELECT (SELECT count(*) FROM pg_subscription WHERE subenabled) AS taken,
     current_setting('max_logical_replication_workers') AS workers,
     current_setting('max_sync_workers_per_subscription') AS copies,
     coalesce(current_setting('max_active_replication_origins', true), current_setting('max_replication_slots')) AS origins,
     current_setting('server_version_num') AS version`,
  );
  const [enabled, workers] = [Number(row?.taken), Number(row?.workers)];
  const [copies, origins] = [Number(row?.copies), Number(row?.origins)];
  if (enabled + 2 > workers) {
    throw new MigrationError(
      `the target has no free logical replication worker: max_logical_replication_workers is ${workers}, and ${enabled} subscriptions are enabled; a new one needs 2 workers`,
    );
  }
  const needed = Math.min(workers, (enabled + 1) * (1 + copies));
  if (needed > origins) {
    throw new MigrationError(
      `the target has too few replication origins: up to ${needed} workers need one each, and max_active_replication_origins (before PostgreSQL 18 max_replication_slots) allows ${origins}`,
    );
  }
  return Number(row?.version);
}
