import { randomUUID } from 'node:crypto';
import { createMigrationEngine } from '../../../src/engine/migration-engine.ts';
import { defaultEngineLimits } from '../../../src/engine/migration-job.ts';
import {
  type DatabaseMigrationState,
  hasMigrationEnded,
  type MigrationState,
} from '../../../src/engine/migration-state.ts';
import type { RunningMigration } from '../../../src/engine/running-migration.ts';
import { connectPostgresql } from '../../../src/postgresql/connection.ts';
import type { PostgresqlSource } from '../../../src/postgresql/source.ts';
import { objectsOn } from '../../engine/engine-servers.ts';
import type { Postgres } from '../../fixtures/postgres.ts';
import { anyMessage } from '../../postgresql/any-message.ts';
import { differences, runApplicationStatements, statementsOf, within } from './rows.ts';

/** By database: what did not hold; nothing where the migration works. */
export type ProblemsByDatabase = ReadonlyMap<string, readonly string[]>;

export interface MigrationResult {
  readonly problems: ProblemsByDatabase;
  readonly remarks: readonly string[];
}

export interface MigrationPlan {
  readonly source: Postgres;
  readonly target: Postgres;
  readonly connection: PostgresqlSource;
  readonly databases: readonly string[];
  readonly ignored: readonly string[];
  readonly quiet: readonly string[];
  /** Of the application, in the first database. */
  readonly app: readonly string[];
  /** Losses the preflight has announced. */
  readonly announced: readonly string[];
  /** Of the migration; a fresh one unless told. */
  readonly id: string | undefined;
  /** Milliseconds for the copy, and as many for what is written later. */
  readonly timeLimit: number;
}

/**
 * Migrates for real and looks whether it is true (the oracle): every table ready in time, what is written on the source later
 * arrives, all rows equal, no statement of the application fails, no commit waits, not even while the target is away.
 */
export async function migrate(plan: MigrationPlan): Promise<MigrationResult> {
  const { source, target, connection: door, databases, ignored, timeLimit: patience } = plan;
  const logged = target.log().length;
  const spoken = new Map<string, readonly string[]>();
  for (const [at, name] of databases.entries()) {
    // Where nobody can enter nothing can be said.
    spoken.set(name, await statementsOf(source, name, plan.quiet, at === 0 ? plan.app : []).catch(() => []));
  }
  const engine = createMigrationEngine({
    now: Date.now,
    env: process.env,
    ports: {
      connectPostgres: connectAsItIs,
      limits: {
        ...defaultEngineLimits,
        pollInterval: 200,
        connectTimeout: 5000,
        outageTimeout: patience / 2,
        removalTimeout: 10_000,
      },
    },
  });
  try {
    const plane = await engine.openDataPlane(
      `postgres://postgres:secret@127.0.0.1:${target.port}/postgres?sslmode=disable`,
    );
    const { host, port, dbname, username } = door;
    const migration = engine.start({
      id: plan.id ?? randomUUID(),
      dataPlane: plane,
      source: {
        host,
        port,
        dbname,
        username,
        disableSsl: door.ssl === 'disable',
        ...(door.password === undefined ? {} : { password: door.password.reveal() }),
      },
      ignoreDbs: ignored,
      deadline: Number.POSITIVE_INFINITY,
      finishWhenIdle: false,
      allowSuperuserObjects: true,
    });
    if (typeof migration === 'string') return all(databases, [`the request is refused: ${migration}`]);
    const state = await settle(migration, patience);
    const ways = new Map<string, string[]>();
    for (const name of databases) ways.set(name, [...stateOf(state, name, () => lastComplaint(target, logged))]);
    const living = databases.filter((name) => ways.get(name)?.length === 0);
    for (const name of living)
      ways.get(name)?.push(...(await runApplicationStatements(source, name, spoken.get(name) ?? [])));
    const [first] = living.filter((name) => (spoken.get(name) ?? []).length > 0);
    if (first !== undefined) ways.get(first)?.push(...(await speakAway(source, target, first)));
    for (const name of living) ways.get(name)?.push(...(await equal(plan, name, logged)));
    const left = await migration.stop();
    const objects = (await objectsOn(source).catch(() => [])).filter((one) => one.includes('cloudctl_'));
    return {
      problems: ways,
      remarks: [
        ...left.map(({ side, object, reason }) => `left on the ${side}: ${object}: ${reason}`),
        ...objects.filter(() => left.length === 0).map((one) => `left without a word: ${one}`),
      ],
    };
  } finally {
    await engine.close();
  }
}

/**
 * The engine of the service may keep what is stored for its sessions: a role, and that they are read-only. Ours sets both, so
 * the statements for that are replaced.
 */
const connectAsItIs: typeof connectPostgresql = async (source, options) => {
  const session = await connectPostgresql(source, options);
  return {
    ...session,
    query: (message, limit) =>
      session.query(
        anyMessage(
          message.replace('SET role TO none', setStoredRole).replace('; SET default_transaction_read_only TO off', ''),
        ),
        limit,
      ),
  };
};

const setStoredRole = `SELECT pg_catalog.set_config('role', pg_catalog.substr(assignment, 6), false)
  FROM pg_catalog.pg_db_role_setting s, pg_catalog.unnest(s.setconfig) AS assignment
  WHERE assignment LIKE 'role=%' AND s.setrole = (SELECT oid FROM pg_catalog.pg_roles WHERE rolname = session_user)`;

export function all(databases: readonly string[], why: readonly string[]): MigrationResult {
  return { problems: new Map(databases.map((name) => [name, why])), remarks: [] };
}

/** Until every table is ready, or the time is over, or it has ended. */
async function settle(migration: RunningMigration, patience: number): Promise<MigrationState> {
  for (const end = Date.now() + patience; Date.now() < end; ) {
    const state = migration.state();
    // One database that failed makes the status an error while the others go on.
    const isOver = state.status !== 'error' || state.databases.every(isSettled);
    if (state.status !== 'running' && isOver) return state;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return migration.state();
}

function isSettled(database: DatabaseMigrationState): boolean {
  return hasMigrationEnded(database) || database.phase === 'streaming';
}

function stateOf(state: MigrationState, name: string, complaint: () => string): readonly string[] {
  const found = state.databases.find((one) => one.name === name);
  if (found === undefined) return [state.reason ?? 'the engine did not see it'];
  if (found.method === 'dump') return [found.warnings.find((text) => text.startsWith('dumped')) ?? 'dumped'];
  if (found.phase === 'streaming' && found.method === 'continuous') return [];
  return [found.error ?? `stood still: ${stood(found)}${complaint()}`];
}

function stood({ phase, tables, warnings }: DatabaseMigrationState): string {
  const waiting = tables.filter(({ stage }) => stage !== 'r').map(({ name, stage }) => `${name} ${stage}`);
  return [phase, ...waiting.slice(0, 3), ...warnings].join(', ');
}

/** What the target has complained of since. */
function lastComplaint(target: Postgres, since: number): string {
  const lines = target.log().slice(since).split('\n');
  const found = lines.findLast((line) => line.includes('ERROR:'));
  return found === undefined ? '' : `; the target's log: ${found.replace(/^.*?ERROR: +/, '')}`;
}

/** A target that is away must not be felt. */
async function speakAway(source: Postgres, target: Postgres, database: string): Promise<readonly string[]> {
  const turn = (how: 'DISABLE' | 'ENABLE') =>
    within(target, database, async (session) => {
      const { rows } = await session.query(
        'SELECT subname FROM pg_subscription WHERE subdbid = (SELECT oid FROM pg_database WHERE datname = current_database())',
      );
      for (const { subname } of rows) await session.query(`ALTER SUBSCRIPTION "${subname}" ${how}`);
    });
  await turn('DISABLE');
  const complaints = await runApplicationStatements(source, database, [
    "INSERT INTO base VALUES (100002, 'while it was away')",
  ]);
  await turn('ENABLE');
  return complaints.map((text) => `while the target was away: ${text}`);
}

async function equal(
  { source, target, announced, timeLimit: patience }: MigrationPlan,
  name: string,
  logged: number,
): Promise<readonly string[]> {
  for (const end = Date.now() + patience; ; ) {
    const found = await differences(source, target, name, announced);
    if (found.length === 0) return [];
    if (Date.now() > end) return [`${found.slice(0, 3).join(', ')}${lastComplaint(target, logged)}`];
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
