import { afterAll, beforeAll } from 'vitest';
import type { PostgresInput } from '../../../src/db/engine/input.ts';
import type { Postgres, PostgresOptions } from '../../fixtures/postgres.ts';
import { makePostgresJob, postgresEndpointOf, startSource, startTarget } from './servers.ts';

export interface EngineServerPair {
  readonly source: Postgres;
  readonly target: Postgres;
  /** Makes a database of that name on the source, which is not on the target, and fills it. */
  fresh(name: string, ...setup: readonly string[]): Promise<void>;
  /** A job that moves these databases of the source alone. */
  job(databases: readonly string[], more?: Partial<PostgresInput>): Promise<PostgresInput>;
}

/** Two servers for all tests of a file. */
export function useServerPair(source: PostgresOptions = {}, target: PostgresOptions = {}): () => EngineServerPair {
  let found: EngineServerPair | undefined;
  beforeAll(async () => {
    const [from, to] = await Promise.all([startSource(source), startTarget(target)]);
    found = { source: from, target: to, ...ways(from, to) };
  });
  afterAll(async () => {
    await Promise.all([found?.source.stop(), found?.target.stop()]);
  });
  return () => {
    if (found === undefined) throw new Error('the servers have not started');
    return found;
  };
}

function ways(source: Postgres, target: Postgres): Pick<EngineServerPair, 'fresh' | 'job'> {
  return {
    async fresh(name, ...setup) {
      const quoted = `"${name.replaceAll('"', '""')}"`;
      await Promise.all([
        source.query(`DROP DATABASE IF EXISTS ${quoted}`),
        target.query(`DROP DATABASE IF EXISTS ${quoted}`),
      ]);
      await source.query(`CREATE DATABASE ${quoted}`);
      for (const statement of setup) await source.query(statement, name);
    },
    async job(databases, more = {}) {
      const all = await source.query('SELECT datname FROM pg_database');
      const ignoreDbs = all.map(({ datname }) => String(datname)).filter((name) => !databases.includes(name));
      return makePostgresJob(postgresEndpointOf(source), postgresEndpointOf(target), { ignoreDbs, ...more });
    },
  };
}
