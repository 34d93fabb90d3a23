import { startPostgres } from './postgres.mjs';

/**
 * Two servers of PostgreSQL: one that is to be migrated and is not ready for it, and one behind the cluster of the sandbox.
 * undefined: they cannot be had here, which is told.
 */
export async function startServers(tell) {
  tell('Starting two servers of PostgreSQL, fetched once from the npm registry: a source, and one for the cluster …');
  const started = await Promise.allSettled([startPostgres(source), startPostgres(target)]);
  const [from, to] = started.map(({ value }) => value);
  const stop = () => Promise.all([from?.stop(), to?.stop()]);
  const failure = started.find(({ status }) => status === 'rejected');
  if (failure !== undefined) {
    await stop();
    tell(`PostgreSQL cannot be had here, so the story of the database is left out: ${failure.reason.message}`);
    return undefined;
  }
  await from.query('CREATE DATABASE shop');
  for (const statement of shop) await from.query(statement, 'shop');
  return {
    source: from,
    target: to,
    /** In a variable, because an argument could be read by others. */
    environment: { CLOUDCTL_CLUSTER_PG: `postgres://postgres:${to.password}@127.0.0.1:${to.port}/postgres` },
    stop,
  };
}

/** wal_level is the one a server begins with. */
const source = {
  version: 17,
  settings: { wal_level: 'replica', max_replication_slots: 10, max_wal_senders: 10 },
};

const target = {
  version: 18,
  settings: { max_logical_replication_workers: 8, max_worker_processes: 16, wal_retrieve_retry_interval: '500ms' },
};

/** One table that is written to has no key. */
const shop = [
  'CREATE TABLE customers (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL)',
  "INSERT INTO customers (name) SELECT 'customer ' || n FROM generate_series(1, 1000) n",
  'CREATE TABLE visits (customer bigint, at timestamptz DEFAULT now())',
  'INSERT INTO visits (customer) SELECT id FROM customers',
  'UPDATE visits SET at = now() WHERE customer < 100',
];
