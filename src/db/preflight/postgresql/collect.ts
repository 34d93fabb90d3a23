import { DatabaseConnectError } from '../../../platform/network-errors.ts';
import { connectPostgresql, type PostgresqlSession } from '../../../postgresql/connection.ts';
import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import { PostgresqlQueryError } from '../../../postgresql/query-error.ts';
import { buildCopyTableTransaction, readTableRows } from '../../../postgresql/table-rows.ts';
import type { CheckFinding } from '../finding.ts';
import type { PreflightOptions } from '../options.ts';
import {
  getPreflightQueryValue,
  type PreflightQuery,
  type PreflightQueryResult,
  type PreflightQueryResults,
} from '../query.ts';
import type { CollectedSourceFacts, PreflightEngineInput } from '../run.ts';
import type { PostgresqlCheck } from './check.ts';
import { scanRowsAndEvaluateChecks, selectRowDependentChecks } from './deep/scan.ts';
import { selectDatabasesToMigrate } from './each-database.ts';
import { evaluateDatabaseChecks } from './evaluate-checks.ts';
import { queryResultsOfChecks, selectResultsForFixEffects } from './fix-effects.ts';
import { addLoginBlockingLocks } from './login.ts';
import { accessExclusiveCatalogLocksQuery, databasesWithAccessExclusiveLocksQuery } from './queries/activity.ts';
import { databasesQuery, laterConnectionInstanceIdentityQuery, type PostgresqlDatabase } from './queries/cluster.ts';
import { databaseFeatureOverviewQuery } from './queries/database-overview.ts';
import { type WalPositionReading, walPositionQuery } from './queries/replication.ts';
import { connectionCapacityQuery, postgresqlSettingsQuery, tenthOfFreeConnections } from './queries/settings.ts';
import { buildTableSizeSummary, type TableSizeSummary, tableSizeSummaryQuery } from './queries/tables.ts';
import {
  type AnyPostgresqlPreflightQuery,
  buildReadOnlyPreflightTransaction,
  type SourceTableRowSearcher,
} from './query.ts';
import {
  countSqlStatements,
  type DatabaseQueryOutcome,
  findFailureReasonOfQueryOutcome,
  isTransientDatabaseErrorCode,
  type PostgresqlDatabaseQueryRunOptions,
  runPreflightQueriesInDatabase,
  runQueriesOnOpenSession,
} from './run-queries.ts';
import { getPostgresqlSizeSetting } from './settings.ts';
import type { PostgresqlSourceOpenResult } from './source.ts';
import type {
  ConnectedPostgresqlSourceFacts,
  DatabaseAccessResult,
  PostgresqlSourceFacts,
  WalRate,
} from './source-facts.ts';

/** Input of a PostgreSQL preflight in addition to the input that both engines share. */
export interface PostgresqlSpecificPreflightInput {
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

export interface CollectedPostgresqlFacts extends CollectedSourceFacts {
  /** The facts that were known before the first query. */
  readonly facts: PostgresqlSourceFacts;
  readonly databases: readonly string[];
  readonly access: ReadonlyMap<string, DatabaseAccessResult>;
  /** Results of the queries that are sent once for the server. */
  readonly results: PreflightQueryResults;
  /** Why the connection ended, for the second time, before all queries of the server had a result. */
  readonly lost: string | undefined;
  /** Findings of the checks that are evaluated for each database. */
  readonly findings: readonly CheckFinding[];
  /** Query results of databases, kept because checks need them when fixes are simulated. */
  readonly retained: ReadonlyMap<string, PreflightQueryResults>;
  readonly sizes: ReadonlyMap<string, TableSizeSummary>;
  readonly walRate: WalRate | undefined;
}

function createEmptyPostgresqlFacts(facts: PostgresqlSourceFacts): CollectedPostgresqlFacts {
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
export function isWalRateIntervalRequired(
  results: PreflightQueryResults,
  { method, sourceDiskFree }: Pick<PreflightOptions, 'method' | 'sourceDiskFree'>,
): boolean {
  const settings = getPreflightQueryValue(results, postgresqlSettingsQuery);
  const isWalLimited =
    settings?.has('max_slot_wal_keep_size') === true &&
    getPostgresqlSizeSetting(settings, 'max_slot_wal_keep_size') >= 0;
  return isWalLimited || method === 'dump' || sourceDiskFree !== undefined;
}

/**
 * Reads the WAL position a second time, at the earliest `interval` milliseconds after the first reading. Returns
 * undefined if the server is in recovery, or if the deadline of the preflight passed.
 */
async function measureWalRate(
  first: WalPositionReading | undefined,
  readAt: number,
  {
    interval,
    dbname,
    queryOptions,
  }: { readonly interval: number; readonly dbname: string; readonly queryOptions: PostgresqlDatabaseQueryRunOptions },
): Promise<WalRate | undefined> {
  const { clock, signal } = queryOptions;
  if (first === undefined) return undefined;
  await clock.sleep(Math.max(0, interval - (clock.now() - readAt)), signal).catch(() => {});
  if (signal.aborted) return undefined;
  const { results } = await runPreflightQueriesInDatabase(
    dbname,
    [walPositionQuery, laterConnectionInstanceIdentityQuery],
    queryOptions,
  );
  const second = getPreflightQueryValue(results, walPositionQuery);
  // The times of both readings of the WAL position are from the clock of the server.
  if (second === undefined) return undefined;
  const instance = getPreflightQueryValue(results, laterConnectionInstanceIdentityQuery);
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
async function completePreflightResultsByRowSearch(
  dbname: string,
  queries: readonly AnyPostgresqlPreflightQuery[],
  results: PreflightQueryResults,
  options: PostgresqlDatabaseQueryRunOptions,
): Promise<PreflightQueryResults> {
  const completed = new Map<AnyPostgresqlPreflightQuery, PreflightQueryResult<unknown>>();
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
  return new Map<PreflightQuery<unknown>, PreflightQueryResult<unknown>>([...results, ...completed]);
}

function createTableSearch(
  dbname: string,
  { source, version, clock, signal, onSend }: PostgresqlDatabaseQueryRunOptions,
): { readonly search: SourceTableRowSearcher; end(): Promise<void> } {
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
        const text = buildReadOnlyPreflightTransaction(buildCopyTableTransaction(table, version, format), version);
        onSend(dbname, text);
        const read = await readTableRows(session, text, isFound, { time, bytes: searchedBytes });
        if (read !== 'complete') await close();
        return read === 'stopped' ? 'violate' : read === 'complete' ? 'fit' : 'unseen';
      } catch (error) {
        // The search has no result if the table is locked or dropped, if it is no longer a table, or if the connection
        // is refused.
        if (!(error instanceof PostgresqlQueryError || error instanceof DatabaseConnectError)) throw error;
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
  opened: PostgresqlSourceOpenResult,
  run: PreflightEngineInput<PostgresqlEndpoint>,
  settings: PostgresqlSpecificPreflightInput,
): Promise<CollectedPostgresqlFacts> {
  const { session, facts } = opened;
  if (session === undefined || facts.connection.kind !== 'entered') return createEmptyPostgresqlFacts(facts);
  const { options, clock, signal, onProgress } = run;
  const beforeQueries = queryDatabaseOptions(opened, facts.connection, run);
  try {
    const planQueries = [
      databasesQuery,
      connectionCapacityQuery,
      databasesWithAccessExclusiveLocksQuery,
      walPositionQuery,
      accessExclusiveCatalogLocksQuery,
    ];
    const first = await runOnOpenSession(session, planQueries, facts.dbname, beforeQueries);
    const readAt = clock.now();
    const serverResults = first.results;
    const queryOptions = { ...beforeQueries, serverResults };
    let lost = findFailureReasonOfQueryOutcome(first);
    const known = getPreflightQueryValue(serverResults, databasesQuery);
    const { limitDatabases = (all) => all, shareWalRate } = settings;
    const names =
      known === undefined
        ? [facts.dbname]
        : limitDatabases(selectDatabasesToMigrate(known, options.ignoreDbs, run.nearest));
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
      (outcome): PreflightQueryResults => {
        lost ??= findFailureReasonOfQueryOutcome(outcome);
        return new Map([...serverResults, ...outcome.results]);
      },
    );
    const capacity = getPreflightQueryValue(serverResults, connectionCapacityQuery);
    const free = capacity === undefined ? 1 : tenthOfFreeConnections(capacity);
    await queryAllDatabases(state, server, Math.max(1, Math.min(settings.concurrency, free)));
    const results = await server;
    const interval = isWalRateIntervalRequired(results, run.options) ? settings.walInterval : 0;
    const waitingSince = clock.now();
    const position = getPreflightQueryValue(results, walPositionQuery);
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
    const scans = await scanRowsAndEvaluateChecks(state.beforeScan, { run, checks: settings.checks, ...scanning });
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
  readonly run: PreflightEngineInput<PostgresqlEndpoint>;
  readonly settings: PostgresqlSpecificPreflightInput;
  readonly session: PostgresqlSession;
  readonly facts: PostgresqlSourceFacts;
  readonly queryOptions: PostgresqlDatabaseQueryRunOptions;
  readonly known: readonly PostgresqlDatabase[] | undefined;
  readonly names: readonly string[];
  readonly access: Map<string, DatabaseAccessResult>;
  readonly sizes: Map<string, TableSizeSummary>;
  readonly findings: Map<string, readonly CheckFinding[]>;
  readonly retained: Map<string, PreflightQueryResults>;
  /** Query results from before the row scan, with which the checks that depend on rows are evaluated again after it. */
  readonly beforeScan: Map<string, PreflightQueryResults>;
}

function queryDatabaseOptions(
  { source, memory }: PostgresqlSourceOpenResult,
  { version, inRecovery, superuser }: ConnectedPostgresqlSourceFacts,
  { clock, signal, onSend }: PreflightEngineInput<PostgresqlEndpoint>,
): PostgresqlDatabaseQueryRunOptions {
  return {
    source,
    version,
    context: { inRecovery, superuser },
    serverResults: new Map(),
    clock,
    signal,
    memory,
    onSend: (database, text) => onSend(database, text, countSqlStatements(text)),
  };
}

/** The queries of all checks, each query once. */
function queriesOf(
  checks: readonly PostgresqlCheck[],
  scope: 'server' | 'database',
): readonly AnyPostgresqlPreflightQuery[] {
  const all = checks.flatMap(({ queries }) => Object.values<AnyPostgresqlPreflightQuery>(queries));
  const own =
    scope === 'database'
      ? [databaseFeatureOverviewQuery, tableSizeSummaryQuery, laterConnectionInstanceIdentityQuery, ...all]
      : all;
  return [...new Set(own)].filter((query) => query.scope === scope);
}

/** Runs the queries on the open session and, when its connection breaks, on a new one. */
async function runOnOpenSession(
  session: PostgresqlSession,
  queries: readonly AnyPostgresqlPreflightQuery[],
  dbname: string,
  options: PostgresqlDatabaseQueryRunOptions,
): Promise<DatabaseQueryOutcome> {
  const attempt = await runQueriesOnOpenSession(session, dbname, queries, options);
  if (!isTransientDatabaseErrorCode(attempt.code)) return attempt;
  const again = await runPreflightQueriesInDatabase(dbname, queries, options, attempt);
  return again.results.size === 0 ? attempt : again;
}

async function queryAllDatabases(
  state: CollectState,
  server: Promise<PreflightQueryResults>,
  lanes: number,
): Promise<void> {
  const { run, settings, session, facts, queryOptions, names } = state;
  const queries = queriesOf(settings.checks, 'database');
  const waiting = names.filter((name) => !isClosed(state, name) && name !== facts.dbname);
  let done = names.length - waiting.length - (names.includes(facts.dbname) ? 1 : 0);
  for (const name of names) if (isClosed(state, name)) state.access.set(name, { kind: 'closed' });
  const finish = async (name: string, access: DatabaseAccessResult, answers: PreflightQueryResults) => {
    const results = await completePreflightResultsByRowSearch(name, queries, answers, queryOptions);
    const instance = getPreflightQueryValue(results, laterConnectionInstanceIdentityQuery);
    const reached = access.kind === 'entered' ? { ...access, instance } : access;
    state.access.set(name, addLoginBlockingLocks(reached, name, await server));
    const overview = getPreflightQueryValue(results, databaseFeatureOverviewQuery);
    if (overview !== undefined)
      state.sizes.set(name, buildTableSizeSummary(overview, getPreflightQueryValue(results, tableSizeSummaryQuery)));
    const all = new Map([...(await server), ...results]);
    const findings = evaluateDatabase(state, name, all);
    state.findings.set(name, findings);
    state.retained.set(name, selectResultsForFixEffects(settings.checks, findings, all));
    if (run.options.deep !== undefined)
      state.beforeScan.set(name, queryResultsOfChecks(selectRowDependentChecks(settings.checks), all));
    done += 1;
    run.onProgress(done, names.length);
  };
  const queryOwnDatabase = async () => {
    await server;
    if (names.includes(facts.dbname)) {
      const outcome = await runOnOpenSession(session, queries, facts.dbname, queryOptions);
      const broken = findFailureReasonOfQueryOutcome(outcome);
      // Ends the session before the results of the database are processed, because the session counts towards the limit
      // of simultaneous connections.
      await session.end();
      await finish(facts.dbname, { kind: 'entered', ...(broken === undefined ? {} : { broken }) }, outcome.results);
    } else await session.end();
  };
  const lane = async () => {
    for (let name = waiting.shift(); name !== undefined && !run.signal.aborted; name = waiting.shift()) {
      const { access, results } = await runPreflightQueriesInDatabase(name, queries, queryOptions);
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

function evaluateDatabase(state: CollectState, name: string, results: PreflightQueryResults): readonly CheckFinding[] {
  return evaluateDatabaseChecks(state.settings.checks, results, name, databaseFacts(state), state.run.options);
}

function databaseFacts({ facts, names, access }: CollectState): PostgresqlSourceFacts {
  return { ...facts, databases: names, access };
}
