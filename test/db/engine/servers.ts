import { randomUUID } from 'node:crypto';
import { vi } from 'vitest';
import { Secret } from '../../../src/base/secret.ts';
import { type EngineRun, startRun } from '../../../src/db/engine/engine.ts';
import {
  defaultLimits,
  type EngineSystem,
  engineSystem,
  type PostgresInput,
  type RedisInput,
} from '../../../src/db/engine/input.ts';
import { memoryJournal } from '../../../src/db/engine/journal.ts';
import type { SchemaCopier } from '../../../src/db/engine/schema/target.ts';
import type { EngineState } from '../../../src/db/engine/state.ts';
import { connectPostgresql } from '../../../src/postgresql/connection.ts';
import type { PostgresqlEndpoint } from '../../../src/postgresql/endpoint.ts';
import { makeSessionSafe } from '../../../src/postgresql/search-path-safe-session.ts';
import type { RedisEndpoint } from '../../../src/redis/endpoint.ts';
import { type Postgres, type PostgresOptions, ready, startPostgres } from '../../fixtures/postgres.ts';
import type { RedisServer } from '../../fixtures/redis.ts';

// Whoever imports this starts real servers, several at once.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

/** A source as a migration wants it. */
export function startSource(options: PostgresOptions = {}): Promise<Postgres> {
  return startPostgres({ version: 14, ...options, settings: { ...ready, ...options.settings } });
}

/** A target with workers for many databases, which looks for work twice a second. */
export function startTarget(options: PostgresOptions = {}): Promise<Postgres> {
  return startPostgres({
    version: 17,
    ...options,
    settings: {
      wal_level: 'logical',
      max_logical_replication_workers: 40,
      max_worker_processes: 60,
      max_replication_slots: 40,
      max_sync_workers_per_subscription: 2,
      wal_retrieve_retry_interval: '500ms',
      ...((options.version ?? 17) >= 18 ? { max_active_replication_origins: 60 } : {}),
      ...options.settings,
    },
  });
}

export function postgresEndpointOf(server: Postgres, more: Partial<PostgresqlEndpoint> = {}): PostgresqlEndpoint {
  return {
    host: '127.0.0.1',
    port: server.port,
    dbname: 'postgres',
    username: 'postgres',
    password: new Secret(server.password),
    ssl: 'disable',
    ...more,
  };
}

export function redisEndpointOf(server: RedisServer, more: Partial<RedisEndpoint> = {}): RedisEndpoint {
  return {
    host: server.host,
    port: server.port,
    username: undefined,
    password: undefined,
    db: undefined,
    ssl: 'disable',
    ...more,
  };
}

/** Waits that a test can sit out. */
export const shortEngineLimits = {
  ...defaultLimits,
  pollInterval: 100,
  obstacleDelay: 500,
  outageTimeout: 15_000,
  removalTimeout: 15_000,
};

export function testEngineDependencies(more: Partial<EngineSystem> = {}): EngineSystem {
  return engineSystem({
    now: Date.now,
    journal: memoryJournal(),
    schemaCopy: copySimpleSchema,
    limits: shortEngineLimits,
    ...more,
  });
}

export function makePostgresJob(
  source: PostgresqlEndpoint,
  target: PostgresqlEndpoint,
  more: Partial<PostgresInput> = {},
): PostgresInput {
  return {
    engine: 'postgresql',
    id: randomUUID(),
    source,
    target,
    ignoreDbs: [],
    deadline: Number.POSITIVE_INFINITY,
    finishWhenIdle: false,
    ...more,
  };
}

export function makeRedisJob(source: RedisEndpoint, target: RedisEndpoint, more: Partial<RedisInput> = {}): RedisInput {
  return {
    engine: 'redis',
    id: randomUUID(),
    source,
    target,
    deadline: Number.POSITIVE_INFINITY,
    finishWhenIdle: false,
    ...more,
  };
}

export function beginMigration(job: PostgresInput | RedisInput, ports = testEngineDependencies()): EngineRun {
  return startRun(job, ports);
}

/** Waits until the migration stands so, 60 s at most, and not longer than it lives. */
export async function waitForState(
  migration: EngineRun,
  holds: (state: EngineState) => boolean,
  limit = 60_000,
): Promise<EngineState> {
  let over = false;
  void migration.ended.then(() => {
    over = true;
  });
  for (const end = Date.now() + limit; Date.now() < end; ) {
    const isOver = over;
    const state = migration.state();
    if (holds(state)) return state;
    if (isOver) throw new Error(`it ended: ${JSON.stringify(state)}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`it never came: ${JSON.stringify(migration.state())}`);
}

/** Waits until it holds, 60 s at most. */
export async function waitUntil(holds: () => Promise<boolean>, what: string): Promise<void> {
  for (const end = Date.now() + 60_000; Date.now() < end; ) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`it never came: ${what}`);
}

/** Publications of every database, slots and walsenders: what a migration makes on its source. */
export async function objectsOn(server: Postgres): Promise<readonly string[]> {
  const slots = await server.query('SELECT slot_name FROM pg_replication_slots');
  const databases = await server.query('SELECT datname FROM pg_database WHERE datallowconn AND NOT datistemplate');
  const publications = await Promise.all(
    databases.map(async ({ datname }) => {
      const found = await server.query('SELECT pubname FROM pg_publication', String(datname));
      return found.map(({ pubname }) => `publication ${pubname} in ${datname}`);
    }),
  );
  return [...slots.map(({ slot_name: name }) => `slot ${name}`), ...publications.flat()];
}

export async function subscriptionsOn(server: Postgres): Promise<readonly string[]> {
  return (await server.query('SELECT subname FROM pg_subscription')).map(({ subname }) => String(subname));
}

/** Roles of migrations that could still log in, and databases that such a role still owns. */
export async function ownersOn(server: Postgres): Promise<readonly string[]> {
  const rows =
    await server.query(`SELECT rolname AS name FROM pg_roles WHERE rolname ~ '^cloudctl_' AND (rolcanlogin OR rolsuper)
    UNION ALL SELECT datname FROM pg_database WHERE pg_get_userbyid(datdba) ~ '^cloudctl_'`);
  return rows.map(({ name }) => String(name));
}

/** Copies plain tables with their keys and sequences and nothing else: the engine's tests are not about schemas. */
export const copySimpleSchema: SchemaCopier = async (from, to, signal) => {
  const source = await makeSessionSafe(await connectPostgresql(from, { dbname: from.dbname, limit: 10_000, signal }));
  const target = await makeSessionSafe(await connectPostgresql(to, { dbname: to.dbname, limit: 10_000, signal }));
  try {
    const [rows = []] = await source.query(statements);
    for (const { statement } of rows) await target.query(statement ?? '');
    return { kind: 'copied', by: 'test', warnings: [] };
  } finally {
    await Promise.all([source.end(), target.end()]);
  }
};

const own = "n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'";
const statements = `
  SELECT statement FROM (
    SELECT 1 AS step, n.oid AS place, format('CREATE SCHEMA IF NOT EXISTS %I', n.nspname) AS statement FROM pg_namespace n WHERE ${own}
    UNION ALL
    SELECT 2, c.oid, format('CREATE SEQUENCE %I.%I', n.nspname, c.relname)
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'S' AND ${own}
    UNION ALL
    SELECT 3, c.oid, format('CREATE TABLE %I.%I (%s)', n.nspname, c.relname,
      string_agg(format('%I %s%s', a.attname, format_type(a.atttypid, a.atttypmod),
        CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END), ', ' ORDER BY a.attnum))
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE c.relkind = 'r' AND ${own} GROUP BY c.oid, n.nspname, c.relname
    UNION ALL
    SELECT CASE k.contype WHEN 'p' THEN 4 ELSE 5 END, k.oid,
      format('ALTER TABLE %I.%I ADD CONSTRAINT %I %s', n.nspname, c.relname, k.conname, pg_get_constraintdef(k.oid))
    FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE k.contype IN ('p', 'f') AND ${own}
    UNION ALL
    SELECT 6, c.oid,
      format('CREATE MATERIALIZED VIEW %I.%I AS %s WITH NO DATA', n.nspname, c.relname, rtrim(pg_get_viewdef(c.oid), ';'))
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'm' AND ${own}
  ) AS all_steps ORDER BY step, place`;
