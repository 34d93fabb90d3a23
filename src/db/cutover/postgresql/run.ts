import { timeoutSignal } from '../../../platform/timeout-signal.ts';
import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import { type EngineRun, startRun } from '../../engine/engine.ts';
import { defaultLimits, engineSystem } from '../../engine/input.ts';
import { engineName, replicationName } from '../../engine/postgresql/names.ts';
import { withSession } from '../../engine/postgresql/session.ts';
import { schemaCopier } from '../../engine/schema/copy.ts';
import type { DatabaseState, EngineState } from '../../engine/state.ts';
import { waitForRehearsalCatchUp } from '../catch-up.ts';
import { compareSequences } from '../compare-row-counts.ts';
import type { RehearsalRecordFile } from '../rehearsal-record.ts';
import type { DatabaseRehearsalResult, TableComparison } from '../rehearsal-report.ts';
import type { RehearsalRunParams, RehearsalRunResult } from '../run-params.ts';
import { createRehearsalJournal, type RehearsalEndpoints } from './clean-up.ts';
import { compareRehearsalRows, tryTableCopy } from './compare-rehearsal-rows.ts';
import { createRehearsalRolesAndDatabases } from './create-rehearsal-roles-and-databases.ts';
import { buildRehearsalEndpointsForDatabase, describeStalledDatabase } from './database-endpoints.ts';
import type { RehearsalPlan, RehearsalTargetBeforeChanges } from './plan.ts';
import { listTablesWithCopiedColumns, readSequenceStatesAsText } from './rehearsal-tables.ts';

/** The parameters of a rehearsal of PostgreSQL. */
export interface PostgresRehearsalParams extends RehearsalRunParams {
  readonly endpoints: RehearsalEndpoints<PostgresqlEndpoint>;
  readonly targetState: RehearsalTargetBeforeChanges;
  readonly plan: RehearsalPlan;
  readonly file: RehearsalRecordFile;
  readonly ignoreDbs: readonly string[];
  readonly method: 'continuous' | 'dump';
}

export function createPostgresRehearsalDeps(
  { clock, env, random }: Pick<RehearsalRunParams, 'clock' | 'env' | 'random'>,
  file: RehearsalRecordFile,
  endpoints: RehearsalEndpoints<PostgresqlEndpoint>,
) {
  return engineSystem({
    now: () => clock.now(),
    random,
    journal: createRehearsalJournal(file, endpoints),
    schemaCopy: schemaCopier({ env }),
    limits: { ...defaultLimits, pollInterval: 500 },
  });
}

/** Creates roles and databases, migrates, compares and stops. The created objects remain, and are in the record. */
export async function runPostgresRehearsal(params: PostgresRehearsalParams): Promise<RehearsalRunResult> {
  const { endpoints, plan, file, ignoreDbs, method, signal, clock } = params;
  const ports = createPostgresRehearsalDeps(params, file, endpoints);
  await createRehearsalRolesAndDatabases(params, ports);
  const { id } = file.current();
  const migration = startRun(
    {
      engine: 'postgresql',
      id,
      ...endpoints,
      ignoreDbs,
      method,
      deadline: Number.POSITIVE_INFINITY,
      finishWhenIdle: false,
      allowSuperuserObjects: params.allowSuperuserObjects,
    },
    ports,
  );
  try {
    const arrival = await waitForRehearsalCatchUp(migration, {
      clock,
      signal,
      poll: 250,
      stallTimeout: params.stallTimeout,
      onState: params.onState,
    });
    const comparisons = new Map<string, DatabaseComparison>();
    for (const state of migration.state().databases) {
      comparisons.set(state.name, await compareDatabase({ ...params, migration }, state, plan, ports));
    }
    params.onCompared();
    const last = migration.state();
    await migration.stop('stopped_by_user');
    const ended = migration.state();
    const databases: DatabaseRehearsalResult[] = [];
    for (const state of last.databases) {
      const look = comparisons.get(state.name) ?? emptyComparison;
      databases.push(
        await buildDatabaseResult(params, state, look, { ended, seconds: arrival.seconds.get(state.name) ?? 0 }, ports),
      );
    }
    const failed = last.databases.length === 0 && ended.reason !== undefined && ended.status === 'error';
    return { databases, errors: failed ? [ended.reason ?? ''] : [], warnings: ended.warnings };
  } finally {
    await migration.stop('interrupted');
  }
}

type Ports = ReturnType<typeof createPostgresRehearsalDeps>;

interface DatabaseComparison {
  readonly tables: readonly TableComparison[];
  readonly sequences: ReadonlyMap<string, string | null>;
  readonly errors: readonly string[];
}

const emptyComparison: DatabaseComparison = { tables: [], sequences: new Map(), errors: [] };

/** Compares the rows of a database while it is replicated. The rows of a failed database are not counted. */
async function compareDatabase(
  { migration, ...params }: PostgresRehearsalParams & { readonly migration: EngineRun },
  state: DatabaseState,
  plan: RehearsalPlan,
  ports: Ports,
): Promise<DatabaseComparison> {
  const { signal, stallTimeout, maxRounds } = params;
  if (state.phase === 'error') return emptyComparison;
  const isCopied = state.phase === 'streaming' || state.phase === 'done';
  const isStuck = state.phase === 'copying' && state.method === 'continuous' && state.tables.length > 0;
  if (!isCopied && !isStuck) return { ...emptyComparison, errors: [describeStalledDatabase(state, stallTimeout)] };
  const endpoints = buildRehearsalEndpointsForDatabase(params.endpoints, state.name);
  const isLive = state.phase !== 'done';
  const oid = plan.databases.find(({ name }) => name === state.name)?.oid ?? '';
  const waiting = new Set(state.tables.filter(({ stage }) => stage !== 'r').map(({ name }) => name));
  const slot = isLive
    ? { name: replicationName(params.file.current().id, oid), version: plan.source.version }
    : undefined;
  const sequences = await withSession(endpoints.source, ports, { name: engineName, signal }, readSequenceStatesAsText);
  if (isLive && waiting.size > 0) {
    // The test copy logs in to the target with the same role as the migration, because it evaluates constraints that the
    // source defines.
    const login = migration.targetLogin(state.name) ?? endpoints.target;
    const stuck = await findCopyErrors({ ...endpoints, target: login }, waiting, ports, signal);
    return { tables: stuck, sequences: new Map(), errors: [] };
  }
  const { tables, isBehind } = await compareRehearsalRows({
    endpoints,
    ports,
    signal,
    maxRounds,
    stallTimeout,
    slot,
  });
  const errors = isBehind
    ? ['the target no longer receives changes of the source; the log of the target has the reason']
    : [];
  return { tables, sequences, errors };
}

/** Copies, without replication, the tables whose replication failed, to get the error message of the target. */
async function findCopyErrors(
  endpoints: RehearsalEndpoints<PostgresqlEndpoint>,
  waiting: ReadonlySet<string>,
  ports: Ports,
  signal: AbortSignal,
): Promise<readonly TableComparison[]> {
  const all = await withSession(endpoints.source, ports, { name: engineName, signal }, listTablesWithCopiedColumns);
  const found: TableComparison[] = [];
  for (const table of all.filter(({ table: { schema, name } }) => waiting.has(`${schema}.${name}`))) {
    const limit = timeoutSignal(60_000, signal);
    const error = found.length < 10 ? await tryTableCopy(endpoints, table, ports, limit) : undefined;
    signal.throwIfAborted();
    const reason = limit.aborted ? undefined : error;
    found.push({
      name: table.name,
      rows_source: null,
      rows_target: null,
      state: 'not_copied',
      ...(reason === undefined ? {} : { error: reason }),
    });
  }
  return found;
}

/** Sequences are copied when the migration stops, so they are compared last. */
async function buildDatabaseResult(
  params: PostgresRehearsalParams,
  { name, method, error }: DatabaseState,
  { tables, sequences, errors }: DatabaseComparison,
  { ended, seconds }: { readonly ended: EngineState; readonly seconds: number },
  ports: Ports,
): Promise<DatabaseRehearsalResult> {
  const opening = { name: engineName, signal: params.signal };
  const endpoints = buildRehearsalEndpointsForDatabase(params.endpoints, name);
  const after =
    sequences.size === 0 ? sequences : await withSession(endpoints.source, ports, opening, readSequenceStatesAsText);
  const there =
    sequences.size === 0 ? sequences : await withSession(endpoints.target, ports, opening, readSequenceStatesAsText);
  const warnings = ended.databases.find((one) => one.name === name)?.warnings ?? [];
  return {
    name,
    method: method ?? null,
    seconds: Math.round(seconds * 10) / 10,
    tables,
    sequences: compareSequences(sequences, there, after),
    errors: [...(error === undefined ? [] : [error]), ...errors],
    warnings,
  };
}
