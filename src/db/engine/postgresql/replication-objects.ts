import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import { quoteIdentifier, quoteLiteral } from '../../../postgresql/quote.ts';
import type { SearchPathSafeSession } from '../../../postgresql/search-path-safe-session.ts';
import { MigrationError } from '../migration-error.ts';
import { migrationStatementTimeout, queryLastRows } from './engine-session.ts';
import { buildSubscriptionConnectionString } from './subscription-connection-string.ts';
import { buildSubscriptionDdlGuardCreationSql } from './subscription-guard.ts';

/** Creates the publication before the slot: decoding changes that are older than the publication fails permanently. */
export async function createPublicationAndSlot(
  session: SearchPathSafeSession,
  name: string,
  version: number,
): Promise<void> {
  const operations = `insert,update,delete${version >= 110_000 ? ',truncate' : ''}`;
  await session.query(
    `CREATE PUBLICATION ${quoteIdentifier(name)} FOR ALL TABLES WITH (publish = '${operations}')`,
    migrationStatementTimeout,
  );
  // Creating a replication slot waits for all transactions that are open on the server.
  await session.query(
    `SELECT pg_create_logical_replication_slot(${quoteLiteral(name)}, 'pgoutput')`,
    migrationStatementTimeout,
  );
}

/**
 * Creates the subscription, which starts the initial copy. The slot must exist already: within one server, CREATE
 * SUBSCRIPTION with create_slot would wait for itself.
 * @param owner the role that will own the subscription, if a superuser creates it, because its workers run code of the
 * source
 */
export async function createSubscription(
  session: SearchPathSafeSession,
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
    `CREATE SUBSCRIPTION ${quoted} CONNECTION ${quoteLiteral(buildSubscriptionConnectionString(source, version))} PUBLICATION ${quoted}
     WITH (create_slot = false, slot_name = ${quoteLiteral(name)}, copy_data = true${options})`;
  const text =
    owner === undefined
      ? command('')
      : `BEGIN; ${version >= 160_000 ? '' : buildSubscriptionDdlGuardCreationSql(name)} ${command(disabledOptions(version))}; ${ownerStatements(quoted, owner, version)} ALTER SUBSCRIPTION ${quoted} ENABLE; COMMIT`;
  await session.query(text, migrationStatementTimeout);
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

/**
 * Without a free worker a subscription waits without an error: each subscription needs an apply worker and at least one
 * worker for the initial copy. Checks for free replication origins: without one the copy fails repeatedly, and leaves a
 * slot on the source each time.
 * @returns server_version_num of the target
 */
async function assertEnoughWorkers(session: SearchPathSafeSession): Promise<number> {
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
