import type { CopySession } from '../../postgresql/connection.ts';
import { quoteIdentifier, quoteLiteral } from '../../postgresql/quote.ts';
import type { PostgresqlSource } from '../../postgresql/source.ts';
import { MigrationError } from '../migration-error.ts';
import { migrationStatementTimeout, queryLastRows } from './engine-session.ts';
import { subscriptionConninfo } from './subscription-conninfo.ts';

/**
 * The publication first: a slot that is older than its publication finds changes of a time when there was none, and
 * decoding them fails for ever.
 */
export async function createPublicationAndSlot(session: CopySession, name: string, version: number): Promise<void> {
  const kinds = `insert,update,delete${version >= 110_000 ? ',truncate' : ''}`;
  await session.query(
    `CREATE PUBLICATION ${quoteIdentifier(name)} FOR ALL TABLES WITH (publish = '${kinds}')`,
    migrationStatementTimeout,
  );
  // It waits for every transaction that is open anywhere on the server.
  await session.query(
    `SELECT pg_create_logical_replication_slot(${quoteLiteral(name)}, 'pgoutput')`,
    migrationStatementTimeout,
  );
}

/** Starts the copy. The slot is there: a subscription that made one itself would wait for itself within one server. */
export async function createSubscription(session: CopySession, name: string, source: PostgresqlSource): Promise<void> {
  await assertEnoughWorkers(session);
  // The statement holds the password, and a server may log statements; who may not change that is no superuser.
  await session
    .query("SET log_statement = 'none'; SET log_min_duration_statement = -1; SET log_min_error_statement = 'panic'")
    .catch(() => {});
  await session.query(
    `CREATE SUBSCRIPTION ${quoteIdentifier(name)} CONNECTION ${quoteLiteral(subscriptionConninfo(source))}
     PUBLICATION ${quoteIdentifier(name)} WITH (create_slot = false, slot_name = ${quoteLiteral(name)}, copy_data = true)`,
    migrationStatementTimeout,
  );
}

/**
 * A subscription without a worker would wait in silence: each needs one for good, and the copies one at least. A copy
 * without a replication origin fails again and again, and each time leaves a slot on the source.
 */
async function assertEnoughWorkers(session: CopySession): Promise<void> {
  const [row] = await queryLastRows(
    session,
    `SELECT (SELECT count(*) FROM pg_subscription WHERE subenabled) AS taken,
     current_setting('max_logical_replication_workers') AS workers,
     current_setting('max_sync_workers_per_subscription') AS copies,
     coalesce(current_setting('max_active_replication_origins', true), current_setting('max_replication_slots')) AS origins`,
  );
  const [taken, workers] = [Number(row?.taken), Number(row?.workers)];
  const [copies, origins] = [Number(row?.copies), Number(row?.origins)];
  if (taken + 2 > workers) {
    throw new MigrationError(
      `the target has no worker left: max_logical_replication_workers is ${workers}, ${taken} subscriptions have one each, and one copies tables`,
    );
  }
  const wanted = Math.min(workers, (taken + 1) * (1 + copies));
  if (wanted > origins) {
    throw new MigrationError(
      `the target has too few replication origins: ${wanted} workers may want one each, and max_active_replication_origins (before PostgreSQL 18 max_replication_slots) allows ${origins}`,
    );
  }
}
