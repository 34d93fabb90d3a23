import type { Clock } from '../../platform/host.ts';
import type { PostgresqlSession } from '../../postgresql/connection.ts';
import type { PostgresqlSource } from '../../postgresql/source.ts';
import type { Finding } from '../finding.ts';
import type { PreflightOptions } from '../preflight-options.ts';
import type { DatabaseCheck, PostgresqlCheck } from './check.ts';
import { evaluateDatabaseCheck } from './evaluate-checks.ts';
import { connectionCapacityQuery } from './queries/connection-capacity.ts';
import { databaseOverviewQuery } from './queries/database-overview.ts';
import { databasesQuery, type PostgresqlDatabase } from './queries/databases.ts';
import { lockedDatabasesQuery } from './queries/table-locks.ts';
import { type DatabaseSizes, databaseSizes, tableSizesQuery } from './queries/table-sizes.ts';
import { type WalPosition, walPositionQuery } from './queries/wal.ts';
import {
  type DatabaseQueryOutcome,
  isTransientFailure,
  type QueryDatabaseOptions,
  queryDatabase,
  queryOpenSession,
} from './query-database.ts';
import { type AnyPostgresqlQuery, knownValue, type PostgresqlQueryResults } from './run-queries.ts';
import { selectDatabases } from './select-databases.ts';
import type { DatabaseAccess, PostgresqlConnectionResult, PostgresqlSourceFacts, WalRate } from './source-facts.ts';

export interface PostgresqlCollectOptions {
  readonly checks: readonly PostgresqlCheck[];
  /** As every further connection dials it. */
  readonly source: PostgresqlSource;
  /** Open, and entered. The survey ends it. */
  readonly session: PostgresqlSession;
  readonly entered: Extract<PostgresqlConnectionResult, { readonly kind: 'entered' }>;
  readonly facts: PostgresqlSourceFacts;
  readonly wish: PreflightOptions;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly concurrency: number;
  readonly walInterval: number;
  readonly nearest: (word: string, known: readonly string[]) => string | undefined;
  readonly onSent: (database: string, text: string) => void;
  readonly onProgress: (done: number, total: number) => void;
}

export interface CollectedPostgresqlFacts {
  readonly databases: readonly string[];
  readonly access: ReadonlyMap<string, DatabaseAccess>;
  /** To the questions about the server. */
  readonly results: PostgresqlQueryResults;
  /** Why the connection ended, twice where that may help, before they were all answered. */
  readonly lost: string | undefined;
  readonly findings: readonly Finding[];
  readonly sizes: ReadonlyMap<string, DatabaseSizes>;
  readonly walRate: WalRate | undefined;
  /** Milliseconds spent on nothing but the second reading of the WAL position. */
  readonly waited: number;
}

/** Asks the server and every database. Databases are judged as they are done, so that their answers need not be kept. */
export async function collectPostgresqlFacts(options: PostgresqlCollectOptions): Promise<CollectedPostgresqlFacts> {
  const { session, facts: ground, wish, clock, signal, onProgress } = options;
  const before = queryDatabaseOptions(options);
  try {
    const first = await runOnOpenSession(
      session,
      [databasesQuery, connectionCapacityQuery, lockedDatabasesQuery],
      ground.dbname,
      before,
    );
    const plan = first.results;
    const way = { ...before, plan };
    let lost = disconnectReason(first);
    const known = knownValue(plan, databasesQuery);
    const names = known === undefined ? [ground.dbname] : selectDatabases(known, wish.ignoreDbs, options.nearest);
    onProgress(0, names.length);
    const state: CollectState = { options, way, known, names, reach: new Map(), sizes: new Map(), findings: new Map() };
    const serverAsks = queriesOf(options.checks, 'server').filter((ask) => !plan.has(ask));
    let read = 0;
    const server = runOnOpenSession(session, [...serverAsks, walPositionQuery], ground.dbname, way).then(
      (visited): PostgresqlQueryResults => {
        read = clock.now();
        lost ??= disconnectReason(visited);
        return new Map([...plan, ...visited.results]);
      },
    );
    const free = knownValue(plan, connectionCapacityQuery);
    const lanes = Math.max(1, Math.min(options.concurrency, free === undefined ? 1 : tenthOfFreeConnections(free)));
    await queryAllDatabases(state, server, lanes);
    const answers = await server;
    const begun = clock.now();
    const walRate = await measureWalRate(knownValue(answers, walPositionQuery), read, options, way);
    const waited = clock.now() - begun;
    if (signal.aborted) onProgress(state.findings.size, names.length);
    return {
      databases: names,
      access: state.reach,
      results: answers,
      lost,
      findings: names.flatMap((name) => state.findings.get(name) ?? evaluateDatabase(state, name, answers)),
      sizes: state.sizes,
      walRate,
      waited,
    };
  } finally {
    await session.end();
  }
}

interface CollectState {
  readonly options: PostgresqlCollectOptions;
  readonly way: QueryDatabaseOptions;
  readonly known: readonly PostgresqlDatabase[] | undefined;
  readonly names: readonly string[];
  readonly reach: Map<string, DatabaseAccess>;
  readonly sizes: Map<string, DatabaseSizes>;
  readonly findings: Map<string, readonly Finding[]>;
}

function queryDatabaseOptions({
  source,
  entered,
  clock,
  signal,
  onSent,
}: PostgresqlCollectOptions): QueryDatabaseOptions {
  return {
    source,
    version: entered.version,
    context: { inRecovery: entered.inRecovery, superuser: entered.superuser },
    serverResults: new Map(),
    clock,
    signal,
    onSent,
  };
}

/** Each question of the checks once. */
function queriesOf(checks: readonly PostgresqlCheck[], scope: 'server' | 'database'): readonly AnyPostgresqlQuery[] {
  const all = checks.flatMap(({ queries: asks }) => Object.values<AnyPostgresqlQuery>(asks));
  return [...new Set(scope === 'database' ? [databaseOverviewQuery, tableSizesQuery, ...all] : all)].filter(
    (ask) => ask.scope === scope,
  );
}

/** On the session that is open; when it breaks, on a new one. */
async function runOnOpenSession(
  session: PostgresqlSession,
  asks: readonly AnyPostgresqlQuery[],
  dbname: string,
  way: QueryDatabaseOptions,
): Promise<DatabaseQueryOutcome> {
  const asked = await queryOpenSession(session, dbname, asks, way);
  if (!isTransientFailure(asked.code)) return asked;
  const again = await queryDatabase(dbname, asks, way, asked);
  return again.results.size === 0 ? asked : again;
}

/** Why the connection ended before everything was answered. */
function disconnectReason({ access: reach }: DatabaseQueryOutcome): string | undefined {
  if (reach.kind === 'entered') return reach.broken;
  return 'message' in reach ? reach.message : undefined;
}

/** The free connections belong to those who work with the database. */
function tenthOfFreeConnections({ max, reserved, used }: { max: number; reserved: number; used: number }): number {
  return Math.floor((max - reserved - used) / 10);
}

async function queryAllDatabases(
  state: CollectState,
  server: Promise<PostgresqlQueryResults>,
  lanes: number,
): Promise<void> {
  const { options, way, names } = state;
  const asks = queriesOf(options.checks, 'database');
  const waiting = names.filter((name) => !isClosed(state, name) && name !== options.facts.dbname);
  let done = names.length - waiting.length - (names.includes(options.facts.dbname) ? 1 : 0);
  for (const name of names) if (isClosed(state, name)) state.reach.set(name, { kind: 'closed' });
  const finish = async (name: string, reach: DatabaseAccess, answers: PostgresqlQueryResults) => {
    state.reach.set(name, reach);
    const seen = knownValue(answers, databaseOverviewQuery);
    if (seen !== undefined) state.sizes.set(name, databaseSizes(seen, knownValue(answers, tableSizesQuery)));
    state.findings.set(name, evaluateDatabase(state, name, new Map([...(await server), ...answers])));
    done += 1;
    options.onProgress(done, names.length);
  };
  const own = async () => {
    const { session, entered, facts: ground } = options;
    await server;
    if (names.includes(ground.dbname)) {
      const visited = await runOnOpenSession(session, asks, ground.dbname, way);
      const broken = disconnectReason(visited);
      const reach: DatabaseAccess = {
        kind: 'entered',
        direct: entered.pooler === undefined,
        ...(broken === undefined ? {} : { broken }),
      };
      await finish(ground.dbname, reach, visited.results);
    }
    // It counts among the connections that may be open at once.
    await session.end();
  };
  const lane = async () => {
    for (let name = waiting.shift(); name !== undefined && !way.signal.aborted; name = waiting.shift()) {
      const { access: reach, results: answers } = await queryDatabase(name, asks, way);
      await finish(name, reach, answers);
    }
  };
  await Promise.all([own().then(lane), ...Array.from({ length: lanes - 1 }, lane)]);
}

/** The catalogue tells that it would be refused, so nobody knocks. */
function isClosed({ known }: CollectState, name: string): boolean {
  const found = known?.find((database) => database.name === name);
  return found !== undefined && !(found.allowsConnections && found.mayConnect && found.connectionLimit !== -2);
}

function evaluateDatabase(
  { options, names, reach }: CollectState,
  name: string,
  answers: PostgresqlQueryResults,
): readonly Finding[] {
  const ground: PostgresqlSourceFacts = { ...options.facts, databases: names, access: reach };
  return options.checks
    .filter((check): check is DatabaseCheck => check.scope === 'database')
    .map((check) => evaluateDatabaseCheck(check, answers, name, ground, options.wish));
}

async function measureWalRate(
  first: WalPosition | undefined,
  read: number,
  { facts: ground, clock, signal, walInterval }: PostgresqlCollectOptions,
  way: QueryDatabaseOptions,
): Promise<WalRate | undefined> {
  if (first === undefined) return undefined;
  await clock.sleep(Math.max(0, walInterval - (clock.now() - read)), signal).catch(() => {});
  if (signal.aborted) return undefined;
  const second = knownValue((await queryDatabase(ground.dbname, [walPositionQuery], way)).results, walPositionQuery);
  // Both times are the server's own.
  return second === undefined ? undefined : { bytes: second.bytes - first.bytes, seconds: second.at - first.at };
}
