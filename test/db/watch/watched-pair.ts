import { type Postgres, type PostgresOptions, ready, startPostgres } from '../../fixtures/postgres.ts';

/** A source and a target that replicate as an engine of migrations makes them. */
export interface WatchedPair {
  readonly source: Postgres;
  readonly target: Postgres;
  /** Publication, slot and subscription of one database, in the order that works; the schema must be on both. */
  replicate(database: string): Promise<void>;
  stop(): Promise<void>;
}

/** Workers come back at once after a failure, and positions are confirmed every second, so that tests are short. */
const quick = { ...ready, wal_retrieve_retry_interval: '500ms', wal_receiver_status_interval: '1s' };

export async function startWatchedPair(version: NonNullable<PostgresOptions['version']>): Promise<WatchedPair> {
  const [source, target] = await Promise.all([
    startPostgres({ version, settings: quick }),
    startPostgres({ version, settings: { ...quick, max_logical_replication_workers: 10 } }),
  ]);
  return {
    source,
    target,
    async replicate(database) {
      await source.query('CREATE PUBLICATION cloudctl_p FOR ALL TABLES', database);
      await source.query(`SELECT pg_create_logical_replication_slot('cloudctl_${database}', 'pgoutput')`, database);
      await target.query(
        `CREATE SUBSCRIPTION cloudctl_${database} CONNECTION 'host=127.0.0.1 port=${source.port} user=postgres password=${source.password} dbname=${database}' PUBLICATION cloudctl_p WITH (create_slot = false, slot_name = 'cloudctl_${database}')`,
        database,
      );
    },
    async stop() {
      await Promise.all([source.stop(), target.stop()]);
    },
  };
}

/** The same database with the same tables on both sides. */
export async function makeDatabase({ source, target }: WatchedPair, name: string, ddl: string): Promise<void> {
  await Promise.all([source, target].map((server) => server.query(`CREATE DATABASE ${name}`)));
  await Promise.all([source, target].map((server) => server.query(ddl, name)));
}
