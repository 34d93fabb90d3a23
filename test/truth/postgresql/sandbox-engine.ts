import { randomUUID } from 'node:crypto';
import { createEngine, type EngineRun } from '../../../src/db/engine/engine.ts';
import { redactReason } from '../../../src/db/engine/error.ts';
import { defaultLimits, engineSystem } from '../../../src/db/engine/input.ts';
import { memoryJournal } from '../../../src/db/engine/journal.ts';
import { createDatabase, listSourceDatabases } from '../../../src/db/engine/postgresql/databases.ts';
import { readIdentity, requireMigratable } from '../../../src/db/engine/postgresql/identity.ts';
import { copyRows } from '../../../src/db/engine/postgresql/rows.ts';
import { withSession } from '../../../src/db/engine/postgresql/session.ts';
import { copyRoles } from '../../../src/db/engine/postgresql/target.ts';
import { schemaCopier } from '../../../src/db/engine/schema/copy.ts';
import { type DatabaseState, type EngineState, initialDatabase } from '../../../src/db/engine/state.ts';
import { connectPostgresql } from '../../../src/postgresql/connection.ts';
import { objectsOn, postgresEndpointOf } from '../../db/engine/servers.ts';
import { anyMessage } from '../../postgresql/any-message.ts';
import {
  all,
  createErrorCounter,
  lastComplaint,
  type MigrationPlan,
  type MigrationResult,
  type StartedMigration,
  type TruthEngine,
} from './migrate.ts';

/** The engine of the sandbox (src/db/engine). */
export const sandboxEngine: TruthEngine = { start: startMigration, dump: copyPointInTime };

async function startMigration(plan: MigrationPlan): Promise<StartedMigration> {
  const { source, target, connection: endpoint, databases, timeLimit: patience } = plan;
  const logged = target.log().length;
  const engine = createEngine({
    now: Date.now,
    env: process.env,
    ports: {
      connectPostgres: connectAsItIs,
      limits: {
        ...defaultLimits,
        pollInterval: 200,
        connectTimeout: 5000,
        outageTimeout: patience / 2,
        removalTimeout: 10_000,
      },
    },
  });
  const refused = async (why: string): Promise<StartedMigration> => {
    await engine.close();
    return { problems: all(databases, [why]).problems, stop: async () => [] };
  };
  try {
    const plane = await engine.openDataPlane(
      `postgres://${plan.targetLogin?.username ?? 'postgres'}:secret@127.0.0.1:${target.port}/postgres?sslmode=disable`,
    );
    const { host, port, dbname, username } = endpoint;
    const migration = engine.start({
      id: plan.id ?? randomUUID(),
      dataPlane: plane,
      source: {
        host,
        port,
        dbname,
        username,
        disableSsl: endpoint.ssl === 'disable',
        ...(endpoint.password === undefined ? {} : { password: endpoint.password.reveal() }),
      },
      ignoreDbs: plan.ignored,
      deadline: Number.POSITIVE_INFINITY,
      finishWhenIdle: false,
      allowSuperuserObjects: true,
    });
    if (typeof migration === 'string') return await refused(`the request is refused: ${migration}`);
    const state = await settle(migration, patience, createErrorCounter(target));
    return {
      problems: new Map(databases.map((name) => [name, stateOf(state, name, () => lastComplaint(target, logged))])),
      stop: async () => {
        const left = await migration.stop();
        await engine.close();
        const objects = (await objectsOn(source).catch(() => [])).filter((one) => one.includes('cloudctl_'));
        return [
          ...left.map(({ side, object, reason }) => `left on the ${side}: ${object}: ${reason}`),
          ...objects.filter(() => left.length === 0).map((one) => `left without a word: ${one}`),
        ];
      },
    };
  } catch (error) {
    return refused(error instanceof Error ? error.message : String(error));
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

/** Until every table is ready, or the time is over, or it has ended. */
async function settle(
  migration: EngineRun,
  patience: number,
  repeats: (state: string) => boolean,
): Promise<EngineState> {
  for (const end = Date.now() + patience; Date.now() < end; ) {
    const state = migration.state();
    if (state.status !== 'running') return state;
    const stages = state.databases.map(({ phase, tables }) => [phase, tables.map(({ name, stage }) => [name, stage])]);
    if (repeats(JSON.stringify(stages))) return state;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  return migration.state();
}

function stateOf(state: EngineState, name: string, complaint: () => string): readonly string[] {
  const found = state.databases.find((one) => one.name === name);
  if (found === undefined) return [state.reason ?? 'the engine did not see it'];
  if (found.method === 'dump') return [found.warnings.find((text) => text.startsWith('dumped')) ?? 'dumped'];
  if (found.phase === 'streaming' && found.method === 'continuous') return [];
  return [found.error ?? `stood still: ${stood(found)}${complaint()}`];
}

function stood({ phase, tables, warnings }: DatabaseState): string {
  const waiting = tables.filter(({ stage }) => stage !== 'r').map(({ name, stage }) => `${name} ${stage}`);
  return [phase, ...waiting.slice(0, 3), ...warnings].join(', ');
}

/** Copies a point in time with the parts of the engine, which takes this way by itself only where it may not replicate. */
async function copyPointInTime(plan: MigrationPlan): Promise<MigrationResult> {
  const { connection: endpoint, target, databases, ignored, timeLimit: patience } = plan;
  const to = { ...postgresEndpointOf(target), ...plan.targetLogin };
  const ports = engineSystem({
    now: Date.now,
    journal: memoryJournal(),
    schemaCopy: schemaCopier({ env: process.env }),
  });
  const signal = AbortSignal.timeout(patience * 2);
  const opening = { name: 'truth', signal };
  try {
    const found = await withSession(endpoint, ports, opening, (from) =>
      withSession(to, ports, opening, async (session) => {
        requireMigratable(await readIdentity(from), await readIdentity(session));
        await copyRoles(from, session, ports.random);
        return listSourceDatabases(from, ignored);
      }),
    );
    const ways = new Map<string, readonly string[]>();
    for (const name of databases) {
      const database = found.find((one) => one.name === name);
      if (database === undefined) ways.set(name, ['it was not found']);
      else ways.set(name, await one(plan, () => move(name)));
      async function move(dbname: string): Promise<void> {
        if (database === undefined) return;
        const [source, sink] = [
          { ...endpoint, dbname },
          { ...to, dbname },
        ];
        await withSession(to, ports, opening, (session) => createDatabase(session, database));
        const copied = await ports.schemaCopy(source, sink, signal);
        if (copied.kind === 'refused') throw new Error(`the schema cannot be copied: ${copied.objects.join(', ')}`);
        await copyRows({ source, target: sink, deps: ports, signal, name: 'truth' }, initialDatabase(dbname));
      }
    }
    return { problems: ways, remarks: [] };
  } catch (error) {
    return all(databases, [redactReason(error, endpoint.password)]);
  }
}

async function one(plan: MigrationPlan, move: () => Promise<void>): Promise<readonly string[]> {
  try {
    await move();
    return [];
  } catch (error) {
    return [redactReason(error, plan.connection.password)];
  }
}
