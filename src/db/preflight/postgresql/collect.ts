import { ConnectError } from '../../../platform/network-errors.ts';
import { connectPostgresql, type PostgresqlSession } from '../../../postgresql/connection.ts';
import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import { QueryError } from '../../../postgresql/query-error.ts';
import { copyTransaction, readRows } from '../../../postgresql/table-rows.ts';
import type { CheckFinding } from '../finding.ts';
import type { PreflightOptions } from '../options.ts';
import { type PreflightQuery, type QueryResult, type QueryResults, queryValue } from '../query.ts';
import type { CollectedFacts, PreflightRun } from '../run.ts';
import { evaluateDatabaseChecks, type PostgresqlCheck } from './check.ts';
import { scanAndEvaluate, selectRowChecks } from './deep/scan.ts';
import { databasesToMigrate } from './each-database.ts';
import { resultsForEffects, resultsOfChecks } from './fix-effects.ts';
import { addBlockingLocks } from './login.ts';
import { catalogLocksQuery, lockedDatabasesQuery } from './queries/activity.ts';
import { databasesQuery, laterInstanceQuery, type PostgresqlDatabase } from './queries/cluster.ts';
import { featuresQuery } from './queries/database-overview.ts';
import { sharedAccessQuery } from './queries/privileges.ts';
import { type WalPosition, walPositionQuery } from './queries/replication.ts';
import { roleSettingsQuery } from './queries/roles.ts';
import { capacityQuery, connectionBudget, settingsQuery } from './queries/settings.ts';
import { dumpLocksQuery, type SizeSummary, sizesQuery, summarizeSizes } from './queries/tables.ts';
import { type AnyPostgresqlQuery, preflightTransaction, type RowSearcher } from './query.ts';
import {
  countStatements,
  type DatabaseOutcome,
  type DatabaseQueryOptions,
  failureReason,
  isTransient,
  querySession,
  runInDatabase,
} from './run-queries.ts';
import { sizeSetting } from './settings.ts';
import type { OpenedPostgresql } from './source.ts';
import type { ConnectedFacts, DatabaseAccess, PostgresqlFacts, WalRate } from './source-facts.ts';

/** Input of a PostgreSQL preflight in addition to the input that both engines share. */
export interface PostgresqlInput {
  readonly checks: readonly PostgresqlCheck[];
  /** The maximum number of connections to the source that are open at once. */
  readonly concurrency: number;
  /** Milliseconds between the two readings of the WAL position, if a check needs them. */
  readonly walInterval: number;
  /** Selects the databases that are queried from those that --ignore-dbs leaves (default: all of them). */
  readonly limitDatabases?: (names: readonly string[]) => readonly string[];
  /**
   * Called when a check needs the WAL rate: calls `measure`, or returns the rate that another preflight of the same
   * server measured (default: calls `measure`).
   */
  readonly shareWalRate?: (measure: () => Promise<WalRate | undefined>) => Promise<WalRate | undefined>;
}

export interface CollectedPostgresqlFacts extends CollectedFacts {
  /** The facts that were known before the first query. */
  readonly facts: PostgresqlFacts;
  readonly databases: readonly string[];
  readonly access: ReadonlyMap<string, DatabaseAccess>;
  /** Results of the queries that are sent once for the server. */
  readonly results: QueryResults;
  /** Why the connection ended, for the second time, before all queries of the server had a result. */
  readonly lost: string | undefined;
  /** Findings of the checks that are evaluated for each database. */
  readonly findings: readonly CheckFinding[];
  /** Query results of databases, kept because checks need them when fixes are simulated. */
  readonly retained: ReadonlyMap<string, QueryResults>;
  readonly sizes: ReadonlyMap<string, SizeSummary>;
  readonly walRate: WalRate | undefined;
}

function createEmptyFacts(facts: PostgresqlFacts): CollectedPostgresqlFacts {
  return {
    facts,
    databases: [],
    access: new Map(),
    results: new Map(),
    lost: undefined,
    findings: [],
    retained: new Map(),
    sizes: new Map(),
    walRate: undefined,
    waited: 0,
  };
}

/**
 * Whether a check depends on the current rate of writes: then the preflight waits until the interval between the two
 * readings of the WAL position is over. Otherwise the second WAL position is read directly after the last query.
 */
export function needsWalInterval(
  results: QueryResults,
  { method, sourceDiskFree }: Pick<PreflightOptions, 'method' | 'sourceDiskFree'>,
): boolean {
  const settings = queryValue(results, settingsQuery);
  const isWalLimited =
    settings?.has('max_slot_wal_keep_size') === true && sizeSetting(settings, 'max_slot_wal_keep_size') >= 0;
  return isWalLimited || method === 'dump' || sourceDiskFree !== undefined;
}

/**
 * Reads the WAL position a second time, at the earliest `interval` milliseconds after the first reading. Returns
 * undefined if the server is in recovery, or if the deadline of the preflight passed.
 */
async function measureWalRate(
  first: WalPosition | undefined,
  readAt: number,
  {
    interval,
    dbname,
    queryOptions,
  }: { readonly interval: number; readonly dbname: string; readonly queryOptions: DatabaseQueryOptions },
): Promise<WalRate | undefined> {
  const { clock, signal } = queryOptions;
  if (first === undefined) return undefined;
  await clock.sleep(Math.max(0, interval - (clock.now() - readAt)), signal).catch(() => {});
  if (signal.aborted) return undefined;
  const { results } = await runInDatabase(dbname, [walPositionQuery, laterInstanceQuery], queryOptions);
  const second = queryValue(results, walPositionQuery);
  // The times of both readings of the WAL position are from the clock of the server.
  if (second === undefined) return undefined;
  const instance = queryValue(results, laterInstanceQuery);
  return { bytes: second.bytes - first.bytes, seconds: second.at - first.at, instance };
}

/** Time limit in milliseconds for searching all tables of one database. */
const searchTimeout = 30_000;

/** Time limit in milliseconds for searching one table; the server cancels its statement after 15 s. */
const tableTimeout = 20_000;

/**
 * Maximum number of bytes that are read from one table. The rows of a table of at most 256 MB can be longer than this,
 * because the table stores them compressed; such a table is not read to its end.
 */
const searchedBytes = 512 * 1024 * 1024;

/**
 * Completes the query results with what a search in the rows of tables found. Connections are opened one at a time, and
 * only when there is a table to search.
 */
async function completeResults(
  dbname: string,
  queries: readonly AnyPostgresqlQuery[],
  results: QueryResults,
  options: DatabaseQueryOptions,
): Promise<QueryResults> {
  const completed = new Map<AnyPostgresqlQuery, QueryResult<unknown>>();
  const tables = createTableSearch(dbname, options);
  try {
    for (const query of queries) {
      const result = results.get(query);
      if (query.searchRows === undefined || result?.kind !== 'known') continue;
      completed.set(query, { kind: 'known', value: await query.searchRows(result.value, tables.search) });
    }
  } finally {
    await tables.end();
  }
  return new Map<PreflightQuery<unknown>, QueryResult<unknown>>([...results, ...completed]);
}

function createTableSearch(
  dbname: string,
  { source, version, clock, signal, onSend }: DatabaseQueryOptions,
): { readonly search: RowSearcher; end(): Promise<void> } {
  const end = clock.now() + searchTimeout;
  let session: PostgresqlSession | undefined;
  const close = async () => {
    const open = session;
    session = undefined;
    await open?.end();
  };
  return {
    end: close,
    async search(table, isFound, format) {
      const time = Math.min(end - clock.now(), tableTimeout);
      if (time <= 0 || signal.aborted) return 'unseen';
      try {
        session ??= await connectPostgresql(source, { dbname, limit: time, signal });
        const text = preflightTransaction(copyTransaction(table, version, format), version);
        onSend(dbname, text);
        const read = await readRows(session, text, isFound, { time, bytes: searchedBytes });
        if (read !== 'complete') await close();
        return read === 'stopped' ? 'violate' : read === 'complete' ? 'fit' : 'unseen';
      } catch (error) {
        // The search has no result if the table is locked or dropped, if it is no longer a table, or if the connection
        // is refused.
        if (!(error instanceof QueryError || error instanceof ConnectError)) throw error;
        await close();
        return 'unseen';
      }
    },
  };
}

/**
 * Runs the queries of the checks on the server and in every database. The checks of a database are evaluated as soon as
 * its queries are done, so that the query results can be discarded. Ends the session.
 */
export async function collectPostgresqlFacts(
  opened: OpenedPostgresql,
  run: PreflightRun<PostgresqlEndpoint>,
  settings: PostgresqlInput,
): Promise<CollectedPostgresqlFacts> {
  const { session, facts } = opened;
  if (session === undefined || facts.connection.kind !== 'entered') return createEmptyFacts(facts);
  const { options, clock, signal, onProgress } = run;
  const beforeQueries = queryDatabaseOptions(opened, facts.connection, run);
  try {
    const first = await runOnOpenSession(session, planQueries, facts.dbname, beforeQueries);
    const readAt = clock.now();
    const serverResults = first.results;
    const queryOptions = { ...beforeQueries, serverResults };
    let lost = failureReason(first);
    const known = queryValue(serverResults, databasesQuery);
    const { limitDatabases = (all) => all, shareWalRate } = settings;
    const names =
      known === undefined ? [facts.dbname] : limitDatabases(databasesToMigrate(known, options.ignoreDbs, run.nearest));
    onProgress(0, names.length);
    const state: CollectState = {
      run,
      settings,
      session,
      facts,
      queryOptions,
      known,
      names,
      access: new Map(),
      sizes: new Map(),
      findings: new Map(),
      retained: new Map(),
      beforeScan: new Map(),
    };
    const serverQueries = queriesOf(settings.checks, 'server').filter((query) => !serverResults.has(query));
    const server = runOnOpenSession(session, serverQueries, facts.dbname, queryOptions).then(
      (outcome): QueryResults => {
        lost ??= failureReason(outcome);
        return new Map([...serverResults, ...outcome.results]);
      },
    );
    const capacity = queryValue(serverResults, capacityQuery);
    const free = capacity === undefined ? 1 : connectionBudget(capacity);
    await queryAllDatabases(state, server, Math.max(1, Math.min(settings.concurrency, free)));
    const results = await server;
    const interval = needsWalInterval(results, run.options) ? settings.walInterval : 0;
    const waitingSince = clock.now();
    const position = queryValue(results, walPositionQuery);
    const measure = () => measureWalRate(position, readAt, { interval, dbname: facts.dbname, queryOptions });
    const walRate = await (interval === 0 || shareWalRate === undefined ? measure() : shareWalRate(measure));
    const waited = interval === 0 ? 0 : clock.now() - waitingSince;
    if (signal.aborted) onProgress(state.findings.size, names.length);
    const scanning = {
      query: beforeQueries,
      known: known ?? [],
      facts: databaseFacts(state),
      findings: state.findings,
    };
    const scans = await scanAndEvaluate(state.beforeScan, { run, checks: settings.checks, ...scanning });
    return {
      facts: { ...facts, scans },
      databases: names,
      access: state.access,
      results,
      lost,
      findings: names.flatMap((name) => state.findings.get(name) ?? evaluateDatabase(state, name, results)),
      retained: state.retained,
      sizes: state.sizes,
      walRate,
      waited,
    };
  } finally {
    await session.end();
  }
}

interface CollectState {
  readonly run: PreflightRun<PostgresqlEndpoint>;
  readonly settings: PostgresqlInput;
  readonly session: PostgresqlSession;
  readonly facts: PostgresqlFacts;
  readonly queryOptions: DatabaseQueryOptions;
  readonly known: readonly PostgresqlDatabase[] | undefined;
  readonly names: readonly string[];
  readonly access: Map<string, DatabaseAccess>;
  readonly sizes: Map<string, SizeSummary>;
  readonly findings: Map<string, readonly CheckFinding[]>;
  readonly retained: Map<string, QueryResults>;
  /** Query results from before the row scan, with which the checks that depend on rows are evaluated again after it. */
  readonly beforeScan: Map<string, QueryResults>;
}

function queryDatabaseOptions(
  { source, memory }: OpenedPostgresql,
  { version, inRecovery, superuser }: ConnectedFacts,
  { clock, signal, onSend }: PreflightRun<PostgresqlEndpoint>,
): DatabaseQueryOptions {
  return {
    source,
    version,
    context: { inRecovery, superuser },
    serverResults: new Map(),
    clock,
    signal,
    memory,
    onSend: (database, text) => onSend(database, text, countStatements(text)),
  };
}

/** The queries that are answered before the first database is queried, since they decide what is sent to each. */
const planQueries = [
  databasesQuery,
  capacityQuery,
  lockedDatabasesQuery,
  roleSettingsQuery,
  sharedAccessQuery,
  walPositionQuery,
  catalogLocksQuery,
];

/** The queries of all checks, each query once. */
function queriesOf(checks: readonly PostgresqlCheck[], scope: 'server' | 'database'): readonly AnyPostgresqlQuery[] {
  const all = checks.flatMap(({ queries }) => Object.values<AnyPostgresqlQuery>(queries));
  const own = scope === 'database' ? [featuresQuery, sizesQuery, dumpLocksQuery, laterInstanceQuery, ...all] : all;
  return [...new Set(own)].filter((query) => query.scope === scope);
}

/** Runs the queries on the open session and, when its connection breaks, on a new one. */
async function runOnOpenSession(
  session: PostgresqlSession,
  queries: readonly AnyPostgresqlQuery[],
  dbname: string,
  options: DatabaseQueryOptions,
): Promise<DatabaseOutcome> {
  const attempt = await querySession(session, dbname, queries, options);
  if (!isTransient(attempt.code)) return attempt;
  const again = await runInDatabase(dbname, queries, options, attempt);
  return again.results.size === 0 ? attempt : again;
}

async function queryAllDatabases(state: CollectState, server: Promise<QueryResults>, lanes: number): Promise<void> {
  const { run, settings, session, facts, queryOptions, names } = state;
  const queries = queriesOf(settings.checks, 'database');
  const waiting = names.filter((name) => !isClosed(state, name) && name !== facts.dbname);
  let done = names.length - waiting.length - (names.includes(facts.dbname) ? 1 : 0);
  for (const name of names) if (isClosed(state, name)) state.access.set(name, { kind: 'closed' });
  const finish = async (name: string, access: DatabaseAccess, answers: QueryResults) => {
    const results = await completeResults(name, queries, answers, queryOptions);
    const instance = queryValue(results, laterInstanceQuery);
    const reached = access.kind === 'entered' ? { ...access, instance } : access;
    state.access.set(name, addBlockingLocks(reached, name, await server));
    const overview = queryValue(results, featuresQuery);
    if (overview !== undefined) {
      const locks = queryValue(results, dumpLocksQuery);
      state.sizes.set(name, summarizeSizes(overview, queryValue(results, sizesQuery), locks));
    }
    const all = new Map([...(await server), ...results]);
    const findings = evaluateDatabase(state, name, all);
    state.findings.set(name, findings);
    state.retained.set(name, resultsForEffects(settings.checks, findings, all));
    if (run.options.deep !== undefined)
      state.beforeScan.set(name, resultsOfChecks(selectRowChecks(settings.checks), all));
    done += 1;
    run.onProgress(done, names.length);
  };
  const queryOwnDatabase = async () => {
    await server;
    if (names.includes(facts.dbname)) {
      const outcome = await runOnOpenSession(session, queries, facts.dbname, queryOptions);
      const broken = failureReason(outcome);
      // Ends the session before the results of the database are processed, because the session counts towards the limit
      // of simultaneous connections.
      await session.end();
      await finish(facts.dbname, { kind: 'entered', ...(broken === undefined ? {} : { broken }) }, outcome.results);
    } else await session.end();
  };
  const lane = async () => {
    for (let name = waiting.shift(); name !== undefined && !run.signal.aborted; name = waiting.shift()) {
      const { access, results } = await runInDatabase(name, queries, queryOptions);
      await finish(name, access, results);
    }
  };
  await Promise.all([queryOwnDatabase().then(lane), ...Array.from({ length: lanes - 1 }, lane)]);
}

/**
 * Whether the catalog shows that the server would refuse a connection to the database; the preflight then does not
 * connect to the database. connectionLimit is -2 after an interrupted DROP DATABASE.
 */
function isClosed({ known }: CollectState, name: string): boolean {
  const found = known?.find((database) => database.name === name);
  return found !== undefined && !(found.allowsConnections && found.mayConnect && found.connectionLimit !== -2);
}

function evaluateDatabase(state: CollectState, name: string, results: QueryResults): readonly CheckFinding[] {
  return evaluateDatabaseChecks(state.settings.checks, results, name, databaseFacts(state), state.run.options);
}

function databaseFacts({ facts, names, access }: CollectState): PostgresqlFacts {
  return { ...facts, databases: names, access };
}
