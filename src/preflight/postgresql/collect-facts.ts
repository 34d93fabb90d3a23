import type { PostgresqlSession } from '../../postgresql/connection.ts';
import type { PostgresqlSource } from '../../postgresql/source.ts';
import type { Finding } from '../finding.ts';
import { knownQueryValue, type QueryResults } from '../query.ts';
import type { EngineRun } from '../run.ts';
import type { PostgresqlCheck } from './check.ts';
import type { CollectedPostgresqlFacts, CollectSettings } from './collected-facts.ts';
import { checksOfRows, scanAndEvaluate } from './deep/scan-and-evaluate.ts';
import { withCatalogLocks } from './diagnose-silence.ts';
import { evaluateDatabaseChecks } from './evaluate-checks.ts';
import { measureWalRate, requiresWalInterval } from './measure-wal-rate.ts';
import type { OpenedPostgresqlSource } from './open-source.ts';
import { catalogLocksQuery } from './queries/catalog-locks.ts';
import { connectionCapacityQuery, tenthOfFreeConnections } from './queries/connection-capacity.ts';
import { databaseOverviewQuery } from './queries/database-overview.ts';
import { databasesQuery, type PostgresqlDatabase } from './queries/databases.ts';
import { secondServerInstanceQuery } from './queries/server-instances.ts';
import { lockedDatabasesQuery } from './queries/table-locks.ts';
import { type DatabaseSizes, databaseSizes, tableSizesQuery } from './queries/table-sizes.ts';
import { walPositionQuery } from './queries/wal.ts';
import type { AnyPostgresqlQuery } from './query.ts';
import {
  type DatabaseQueryOutcome,
  disconnectReason,
  isTransientFailure,
  type QueryDatabaseOptions,
  queryDatabase,
  queryOpenSession,
  statementCount,
} from './query-database.ts';
import { resultsForEffects, resultsOfChecks } from './results-for-effects.ts';
import { searchTableRows } from './search-table-rows.ts';
import { selectDatabases } from './select-databases.ts';
import type { ConnectedSource, DatabaseAccess, PostgresqlSourceFacts } from './source-facts.ts';

/**
 * Runs the queries of the checks on the server and in every database. The checks of a database are evaluated as soon as
 * its queries are done, so that the query results can be discarded. Ends the session.
 */
export async function collectPostgresqlFacts(
  opened: OpenedPostgresqlSource,
  run: EngineRun<PostgresqlSource>,
  settings: CollectSettings,
): Promise<CollectedPostgresqlFacts> {
  const { session, facts } = opened;
  if (session === undefined || facts.connection.kind !== 'entered') return noFacts(facts);
  const { options, clock, signal, onProgress } = run;
  const beforeQueries = queryDatabaseOptions(opened, facts.connection, run);
  try {
    const planQueries = [
      databasesQuery,
      connectionCapacityQuery,
      lockedDatabasesQuery,
      walPositionQuery,
      catalogLocksQuery,
    ];
    const first = await runOnOpenSession(session, planQueries, facts.dbname, beforeQueries);
    const readAt = clock.now();
    const serverResults = first.results;
    const queryOptions = { ...beforeQueries, serverResults };
    let lost = disconnectReason(first);
    const known = knownQueryValue(serverResults, databasesQuery);
    const names = known === undefined ? [facts.dbname] : selectDatabases(known, options.ignoreDbs, run.nearest);
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
        lost ??= disconnectReason(outcome);
        return new Map([...serverResults, ...outcome.results]);
      },
    );
    const capacity = knownQueryValue(serverResults, connectionCapacityQuery);
    const free = capacity === undefined ? 1 : tenthOfFreeConnections(capacity);
    await queryAllDatabases(state, server, Math.max(1, Math.min(settings.concurrency, free)));
    const results = await server;
    const interval = requiresWalInterval(results, run.options) ? settings.walInterval : 0;
    const waitingSince = clock.now();
    const walRate = await measureWalRate(knownQueryValue(results, walPositionQuery), readAt, {
      interval,
      dbname: facts.dbname,
      queryOptions,
    });
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

function noFacts(facts: PostgresqlSourceFacts): CollectedPostgresqlFacts {
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

interface CollectState {
  readonly run: EngineRun<PostgresqlSource>;
  readonly settings: CollectSettings;
  readonly session: PostgresqlSession;
  readonly facts: PostgresqlSourceFacts;
  readonly queryOptions: QueryDatabaseOptions;
  readonly known: readonly PostgresqlDatabase[] | undefined;
  readonly names: readonly string[];
  readonly access: Map<string, DatabaseAccess>;
  readonly sizes: Map<string, DatabaseSizes>;
  readonly findings: Map<string, readonly Finding[]>;
  readonly retained: Map<string, QueryResults>;
  /** Results for the checks that are evaluated again after rows were read. */
  readonly beforeScan: Map<string, QueryResults>;
}

function queryDatabaseOptions(
  { source, memory }: OpenedPostgresqlSource,
  { version, inRecovery, superuser }: ConnectedSource,
  { clock, signal, onSend }: EngineRun<PostgresqlSource>,
): QueryDatabaseOptions {
  return {
    source,
    version,
    context: { inRecovery, superuser },
    serverResults: new Map(),
    clock,
    signal,
    memory,
    onSend: (database, text) => onSend(database, text, statementCount(text)),
  };
}

/** The queries of all checks, each query once. */
function queriesOf(checks: readonly PostgresqlCheck[], scope: 'server' | 'database'): readonly AnyPostgresqlQuery[] {
  const all = checks.flatMap(({ queries }) => Object.values<AnyPostgresqlQuery>(queries));
  const own = scope === 'database' ? [databaseOverviewQuery, tableSizesQuery, secondServerInstanceQuery, ...all] : all;
  return [...new Set(own)].filter((query) => query.scope === scope);
}

/** Runs the queries on the open session and, when its connection breaks, on a new one. */
async function runOnOpenSession(
  session: PostgresqlSession,
  queries: readonly AnyPostgresqlQuery[],
  dbname: string,
  options: QueryDatabaseOptions,
): Promise<DatabaseQueryOutcome> {
  const attempt = await queryOpenSession(session, dbname, queries, options);
  if (!isTransientFailure(attempt.code)) return attempt;
  const again = await queryDatabase(dbname, queries, options, attempt);
  return again.results.size === 0 ? attempt : again;
}

async function queryAllDatabases(state: CollectState, server: Promise<QueryResults>, lanes: number): Promise<void> {
  const { run, settings, session, facts, queryOptions, names } = state;
  const queries = queriesOf(settings.checks, 'database');
  const waiting = names.filter((name) => !isClosed(state, name) && name !== facts.dbname);
  let done = names.length - waiting.length - (names.includes(facts.dbname) ? 1 : 0);
  for (const name of names) if (isClosed(state, name)) state.access.set(name, { kind: 'closed' });
  const finish = async (name: string, access: DatabaseAccess, answers: QueryResults) => {
    const results = await searchTableRows(name, queries, answers, queryOptions);
    const instance = knownQueryValue(results, secondServerInstanceQuery);
    const reached = access.kind === 'entered' ? { ...access, instance } : access;
    state.access.set(name, withCatalogLocks(reached, name, await server));
    const overview = knownQueryValue(results, databaseOverviewQuery);
    if (overview !== undefined)
      state.sizes.set(name, databaseSizes(overview, knownQueryValue(results, tableSizesQuery)));
    const all = new Map([...(await server), ...results]);
    const findings = evaluateDatabase(state, name, all);
    state.findings.set(name, findings);
    state.retained.set(name, resultsForEffects(settings.checks, findings, all));
    if (run.options.deep !== undefined) state.beforeScan.set(name, resultsOfChecks(checksOfRows(settings.checks), all));
    done += 1;
    run.onProgress(done, names.length);
  };
  const queryOwnDatabase = async () => {
    await server;
    if (names.includes(facts.dbname)) {
      const outcome = await runOnOpenSession(session, queries, facts.dbname, queryOptions);
      const broken = disconnectReason(outcome);
      const direct = facts.connection.kind === 'entered' && facts.connection.pooler === undefined;
      // The session is ended first, because it counts towards the limit of simultaneous connections.
      await session.end();
      const access: DatabaseAccess = { kind: 'entered', direct, ...(broken === undefined ? {} : { broken }) };
      await finish(facts.dbname, access, outcome.results);
    } else await session.end();
  };
  const lane = async () => {
    for (let name = waiting.shift(); name !== undefined && !run.signal.aborted; name = waiting.shift()) {
      const { access, results } = await queryDatabase(name, queries, queryOptions);
      await finish(name, access, results);
    }
  };
  await Promise.all([queryOwnDatabase().then(lane), ...Array.from({ length: lanes - 1 }, lane)]);
}

/**
 * No connection is tried to a database for which the catalog shows that the server would refuse it. connectionLimit is
 * -2 after an interrupted DROP DATABASE.
 */
function isClosed({ known }: CollectState, name: string): boolean {
  const found = known?.find((database) => database.name === name);
  return found !== undefined && !(found.allowsConnections && found.mayConnect && found.connectionLimit !== -2);
}

function evaluateDatabase(state: CollectState, name: string, results: QueryResults): readonly Finding[] {
  return evaluateDatabaseChecks(state.settings.checks, results, name, databaseFacts(state), state.run.options);
}

function databaseFacts({ facts, names, access }: CollectState): PostgresqlSourceFacts {
  return { ...facts, databases: names, access };
}
