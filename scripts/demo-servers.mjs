import { startPostgres } from './postgres.mjs';

/**
 * Starts two PostgreSQL servers: the source, which is not ready for a migration, and the server behind the sandbox's cluster.
 * undefined: they could not be installed; the reason is printed.
 */
export async function startServers(tell) {
  tell('Starting two PostgreSQL servers, downloaded once from the npm registry: a source, and one for the cluster …');
  const started = await Promise.allSettled([startPostgres(source), startPostgres(target)]);
  const [from, to] = started.map((one) => (one.status === 'fulfilled' ? one.value : undefined));
  const stop = () => Promise.all([from?.stop(), to?.stop()]);
  const failure = started.find((one) => one.status === 'rejected');
  if (failure !== undefined) {
    await stop();
    tell(`The database part of the demo is skipped: PostgreSQL could not be started: ${failure.reason.message}`);
    return undefined;
  }
  await from.query('CREATE DATABASE shop');
  for (const statement of shop) await from.query(statement, 'shop');
  return {
    source: from,
    target: to,
    /** A variable, because other users can read arguments. */
    environment: { CLOUDCTL_CLUSTER_PG: `postgres://postgres:${to.password}@127.0.0.1:${to.port}/postgres` },
    stop,
  };
}

/** wal_level has its default. */
/** @type {import('./postgres.mjs').PostgresOptions} */
const source = {
  version: 17,
  settings: { wal_level: 'replica', max_replication_slots: 10, max_wal_senders: 10 },
};

/** @type {import('./postgres.mjs').PostgresOptions} */
const target = {
  version: 18,
  settings: { max_logical_replication_workers: 8, max_worker_processes: 16, wal_retrieve_retry_interval: '500ms' },
};

/** One table without a key is written to. */
const shop = [
  'CREATE TABLE customers (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL)',
  "INSERT INTO customers (name) SELECT 'customer ' || n FROM generate_series(1, 1000) n",
  'CREATE TABLE visits (customer bigint, at timestamptz DEFAULT now())',
  'INSERT INTO visits (customer) SELECT id FROM customers',
  'UPDATE visits SET at = now() WHERE customer < 100',
];
