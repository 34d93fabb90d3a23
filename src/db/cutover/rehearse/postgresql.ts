import { CliError } from '../../../base/errors.ts';
import { sanitizeReportLine } from '../../../base/sanitize.ts';
import { countOf } from '../../../base/text.ts';
import { timeoutSignal } from '../../../platform/waiting.ts';
import { firstNormalOid } from '../../../postgresql/catalog-oids.ts';
import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import { quoteIdentifier, quoteLiteral } from '../../../postgresql/quote.ts';
import type { SafeSession } from '../../../postgresql/search-path-safe-session.ts';
import {
  type DatabaseState,
  defaultLimits,
  type EngineRun,
  type EngineState,
  type EngineSystem,
  engineSystem,
  schemaCopier,
  startRun,
} from '../../engine/index.ts';
import {
  copyRoles,
  createDatabase,
  engineName,
  lastRows,
  replicationName,
  singleValue,
  sqlStateOf,
  withSession,
} from '../../engine/tools.ts';
import { compareSequences } from '../comparison.ts';
import { listTablesWithCopiedColumns, readSequenceStatesAsText } from '../postgresql/tables.ts';
import { waitForCatchUp } from './catch-up.ts';
import { type RehearsalEndpoints, rehearsalJournal } from './clean-up.ts';
import { type RehearsalPlan, readEmptyDatabases, type TargetState } from './plan.ts';
import type { CreatedObject, RecordFile } from './record.ts';
import type { RehearsalParams, RehearsalResult, RehearsedDatabase, TableComparison } from './report.ts';
import { compareRows, tryTableCopy } from './rows.ts';

/** The parameters of a rehearsal of PostgreSQL. */
interface PostgresRehearsalParams extends RehearsalParams {
  readonly endpoints: RehearsalEndpoints<PostgresqlEndpoint>;
  readonly targetState: TargetState;
  readonly plan: RehearsalPlan;
  readonly file: RecordFile;
  readonly ignoreDbs: readonly string[];
  readonly method: 'continuous' | 'dump';
}

export function postgresSystem(
  { clock, env, random }: Pick<RehearsalParams, 'clock' | 'env' | 'random'>,
  file: RecordFile,
  endpoints: RehearsalEndpoints<PostgresqlEndpoint>,
) {
  return engineSystem({
    now: () => clock.now(),
    random,
    journal: rehearsalJournal(file, endpoints),
    schemaCopy: schemaCopier({ env }),
    limits: { ...defaultLimits, pollInterval: 500 },
  });
}

/** Creates roles and databases, migrates, compares and stops. The created objects remain, and are in the record. */
export async function rehearsePostgres(params: PostgresRehearsalParams): Promise<RehearsalResult> {
  const { endpoints, plan, file, ignoreDbs, method, signal, clock } = params;
  const ports = postgresSystem(params, file, endpoints);
  await createTarget(params, ports);
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
    const arrival = await waitForCatchUp(migration, {
      clock,
      signal,
      poll: 250,
      stallTimeout: params.stallTimeout,
      onWait: params.onWait,
      readOpenTransactions: () => describeOpenTransactions(endpoints.source, ports, signal),
    });
    const comparisons = new Map<string, DatabaseComparison>();
    for (const state of migration.state().databases) {
      comparisons.set(state.name, await compareDatabase({ ...params, migration }, state, plan, ports));
    }
    params.onCompared();
    const last = migration.state();
    await migration.stop('stopped_by_user');
    const ended = migration.state();
    const databases: RehearsedDatabase[] = [];
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

type Ports = ReturnType<typeof postgresSystem>;

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
  const { tables, isBehind } = await compareRows({
    endpoints,
    ports,
    signal,
    maxRounds,
    stallTimeout,
    slot,
    onWait: params.onWait,
  });
  const errors = isBehind
    ? ['the target no longer receives changes of the source; the log of the target has the reason']
    : [];
  return { tables, sequences, errors };
}

/** The transactions that have written and are open, as the object of a sentence; undefined if there is none. */
async function describeOpenTransactions(
  source: PostgresqlEndpoint,
  ports: Ports,
  signal: AbortSignal,
): Promise<string | undefined> {
  const rows = await withSession(source, ports, { name: engineName, signal }, (session) =>
    lastRows(
      session,
      `SELECT who, to_char(since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS since
       FROM (
         SELECT concat_ws(' ', 'pid', pid, usename) AS who, xact_start AS since
         FROM pg_stat_activity WHERE backend_xid IS NOT NULL AND pid <> pg_backend_pid()
         UNION ALL SELECT concat_ws(' ', 'prepared', gid), prepared FROM pg_prepared_xacts
       ) open ORDER BY since NULLS LAST`,
    ),
  );
  const [oldest] = rows;
  if (oldest === undefined) return undefined;
  const since = oldest.since == null ? '' : ` since ${oldest.since}`;
  return sanitizeReportLine(
    `${countOf(rows.length, 'transaction')} with writes on the source, the oldest${since}: ${oldest.who}`,
  );
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
): Promise<RehearsedDatabase> {
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

interface CreationParams {
  readonly endpoints: RehearsalEndpoints<PostgresqlEndpoint>;
  readonly plan: Pick<RehearsalPlan, 'missing' | 'filled'>;
  readonly file: RecordFile;
  readonly signal: AbortSignal;
}

/**
 * The rehearsal creates roles and databases itself before the migration starts, so that its record lists exactly what
 * must be removed: objects that a statement of this function created. Throws a CliError if another program has created
 * one of the databases since the plan, or has filled an empty one.
 */
export async function createTarget(
  { endpoints, plan, file, signal }: CreationParams,
  ports: EngineSystem,
): Promise<void> {
  const opening = { name: engineName, signal };
  // Between the plan and this moment the user has confirmed the rehearsal, which may have taken hours.
  const names = plan.filled.map(({ name }) => name);
  const filled = await readEmptyDatabases(endpoints.target, names, ports, signal);
  await withSession(endpoints.source, ports, opening, (source) =>
    withSession(endpoints.target, ports, opening, async (target) => {
      const there = await listRoleNames(target);
      const wanted = (await listRoleNames(source)).filter((name) => !there.includes(name));
      file.change({ roles: wanted.map((name) => ({ name })), filled });
      await createRoles(source, target, { wanted, file, random: ports.random });
      for (const { name, ...properties } of plan.missing) {
        const others = file.current().databases;
        file.change({ databases: [...others, { name }] });
        let isCreated = false;
        const session = observeStatements(target, async (text) => {
          isCreated ||= text.startsWith('CREATE DATABASE ');
        });
        await createDatabase(session, { name, ...properties }).catch((error: unknown) => {
          // duplicate_database, or unique_violation if another session creates the database at the same time
          if (!['42P04', '23505'].includes(sqlStateOf(error) ?? '')) throw error;
        });
        if (!isCreated) {
          file.change({ databases: others });
          throw databaseOfOthersError(name);
        }
        const oid = await singleValue(target, `SELECT oid FROM pg_database WHERE datname = ${quoteLiteral(name)}`);
        file.change({ databases: [...others, { name, ...(oid === undefined ? {} : { oid }) }] });
      }
    }),
  );
}

/** Creates the roles of the source. The record keeps those that a CREATE ROLE of this session created. */
async function createRoles(
  source: SafeSession,
  target: SafeSession,
  {
    wanted,
    file,
    random,
  }: {
    readonly wanted: readonly string[];
    readonly file: RecordFile;
    readonly random: (bytes: number) => Uint8Array;
  },
): Promise<void> {
  const created: CreatedObject[] = [];
  const session = observeStatements(target, async (text) => {
    const name = wanted.find((one) => text.startsWith(`CREATE ROLE ${quoteIdentifier(one)} `));
    if (name === undefined) return;
    const oid = await singleValue(target, `SELECT oid FROM pg_roles WHERE rolname = ${quoteLiteral(name)}`);
    created.push({ name, ...(oid === undefined ? {} : { oid }) });
    file.change({ roles: [...created, ...file.current().roles.filter((role) => role.name !== name)] });
  });
  await copyRoles(source, session, random);
  file.change({ roles: created });
}

/** A session that reports each statement after it has succeeded. */
function observeStatements(session: SafeSession, onSuccess: (text: string) => Promise<void>): SafeSession {
  return {
    ...session,
    async query(text, limit) {
      const rows = await session.query(text, limit);
      await onSuccess(text);
      return rows;
    },
  };
}

async function listRoleNames(session: SafeSession): Promise<readonly string[]> {
  const rows = await lastRows(
    session,
    `SELECT rolname AS name FROM pg_roles WHERE oid >= ${firstNormalOid} ORDER BY 1`,
  );
  return rows.map(({ name }) => name ?? '');
}

function databaseOfOthersError(name: string): CliError {
  return new CliError('preflight_blocked', `another program has created the database ${name} on the target`, {
    detail: 'the database did not exist when the rehearsal was planned; it was not changed',
    hint: 'run the command again after the other program has ended',
  });
}

function buildRehearsalEndpointsForDatabase(
  { source, target }: RehearsalEndpoints<PostgresqlEndpoint>,
  dbname: string,
): RehearsalEndpoints<PostgresqlEndpoint> {
  return { source: { ...source, dbname }, target: { ...target, dbname } };
}

function describeStalledDatabase({ phase, method }: DatabaseState, stallTimeout: number): string {
  const why =
    phase === 'connecting'
      ? ': an open transaction on the source blocks the creation of a replication slot'
      : method === 'dump'
        ? ': the dump made no progress'
        : '';
  return `no progress for ${Math.round(stallTimeout / 1000)} s in the phase ${phase}${why}`;
}
