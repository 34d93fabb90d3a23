import { createLimit, type MemoryLimit } from '../../../platform/memory.ts';
import { ConnectError } from '../../../platform/network-errors.ts';
import { connectPostgresql, type PostgresqlSession } from '../../../postgresql/connection.ts';
import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import { QueryError } from '../../../postgresql/query-error.ts';
import { type WatchLimits, watchLimits } from '../limits.ts';
import { type ConnectionProbe, probeConnection } from '../probe.ts';
import { createBaseline, type SourceBaseline } from './baseline.ts';
import * as ofDatabase from './database-queries.ts';
import type { DatabaseFacts, PostgresPoll, ServerFacts } from './facts.ts';
import { type QuerySession, queryVersion, runQueries, type WatchQuery } from './query.ts';
import * as ofServer from './server-queries.ts';
import { isTableSyncSlot } from './slots.ts';

interface PostgresSourceObserverOptions {
  readonly source: PostgresqlEndpoint;
  readonly ignoreDbs: readonly string[];
  readonly limits: WatchLimits;
  /** The present time in milliseconds since the epoch. */
  readonly now: () => number;
  readonly signal: AbortSignal;
  /** Called with every message before it is sent to the source. */
  readonly onSent: (database: string, text: string) => void;
}

interface PostgresSourceObserver {
  /**
   * Reads the source once, within `pollTimeout`. An unreachable source is an outage, never an error.
   * @param columnsOf the tables of a database (`schema.table`) whose columns are read; undefined: all
   */
  poll(columnsOf: (database: string) => readonly string[] | undefined): Promise<PostgresPoll>;
  close(): Promise<void>;
}

/**
 * Number of databases to which a session stays open. If there are more databases, each poll reads this number of
 * databases, in turn.
 */
const maxSessions = 8;

/**
 * Milliseconds after which catalog queries count as slow. Slow queries run for at most `slowQueryShare` of the time.
 */
const slowQueryMs = 500;
const slowQueryShare = 0.2;

export function createPostgresObserver(options: PostgresSourceObserverOptions): PostgresSourceObserver {
  const connections = new Map<string, DatabaseConnection>();
  const memory = createLimit('statement');
  const schedules = new Map<string, SlowQuerySchedule>();
  let probe: { readonly at: number; readonly found: ConnectionProbe } | undefined;
  let nextDatabase = 0;

  const connectionTo = async (dbname: string): Promise<DatabaseConnection> => {
    const connection = connections.get(dbname) ?? (await openConnection(dbname, options, memory));
    connections.set(dbname, connection);
    return connection;
  };

  const drop = async (dbname: string): Promise<void> => {
    const connection = connections.get(dbname);
    connections.delete(dbname);
    await connection?.session.end();
  };

  const server = async (at: number): Promise<ServerFacts> => {
    const { querySession } = await connectionTo(options.source.dbname);
    const facts = await readServerFacts(querySession, at);
    if (probe === undefined || at - probe.at >= options.limits.probeInterval) {
      probe = { at, found: await probeSource(options) };
    }
    return { ...facts, connection: probe.found };
  };

  const database = async (
    name: string,
    at: number,
    keep: boolean,
    columnsOf: readonly string[] | undefined,
  ): Promise<DatabaseFacts | undefined> => {
    const known = schedules.get(name) ?? { shapesDue: 0, sizesDue: 0 };
    try {
      const { querySession } = await connectionTo(name);
      const wants = { shapes: at >= known.shapesDue, sizes: at >= known.sizesDue, columnsOf };
      const startedAt = options.now();
      const facts = await readDatabaseFacts(name, querySession, wants);
      const took = options.now() - startedAt;
      schedules.set(name, {
        shapesDue: !wants.shapes ? known.shapesDue : took < slowQueryMs ? at : at + took / slowQueryShare,
        sizesDue: wants.sizes ? at + Math.max(options.limits.sizeInterval, took / slowQueryShare) : known.sizesDue,
      });
      return facts;
    } catch (error) {
      if (!isFailure(error)) throw error;
      await drop(name);
      return undefined;
    } finally {
      if (!keep) await drop(name);
    }
  };

  return {
    async poll(columnsOf) {
      const at = options.now();
      try {
        const facts = await server(at);
        const names = facts.databases.map(({ name }) => name).filter((name) => !options.ignoreDbs.includes(name));
        const keep = names.length <= maxSessions;
        const now = keep
          ? names
          : names.map((_, index) => names[(nextDatabase + index) % names.length]!).slice(0, maxSessions);
        nextDatabase = names.length === 0 ? 0 : (nextDatabase + maxSessions) % names.length;
        const results = await Promise.all(
          now.map((name) => database(name, at, keep || name === options.source.dbname, columnsOf(name))),
        );
        const found = results.filter((one) => one !== undefined);
        return { kind: 'seen', server: facts, databases: new Map(found.map((one) => [one.name, one])) };
      } catch (error) {
        if (!isFailure(error)) throw error;
        await Promise.all([...connections.keys()].map(drop));
        return { kind: 'outage', outage: { at, code: error.code, reason: error.message } };
      }
    },
    async close() {
      await Promise.all([...connections.keys()].map(drop));
    },
  };
}

interface DatabaseConnection {
  readonly session: PostgresqlSession;
  readonly querySession: QuerySession;
}

interface SlowQuerySchedule {
  readonly shapesDue: number;
  readonly sizesDue: number;
}

function isFailure(error: unknown): error is ConnectError | QueryError {
  return error instanceof ConnectError || error instanceof QueryError;
}

async function openConnection(
  dbname: string,
  { source, limits, signal, onSent }: PostgresSourceObserverOptions,
  memory: MemoryLimit,
): Promise<DatabaseConnection> {
  const session = await connectPostgresql(source, {
    dbname,
    limit: limits.pollTimeout,
    signal,
    memory,
    applicationName: 'cloudctl-watch',
  });
  try {
    const report = (text: string) => onSent(dbname, text);
    const opened = { session, limit: limits.pollTimeout, onSent: report };
    return {
      session,
      querySession: { ...opened, version: await queryVersion(opened), deniedIds: new Set() },
    };
  } catch (error) {
    await session.end();
    throw error;
  }
}

async function readServerFacts(querySession: QuerySession, at: number): Promise<Omit<ServerFacts, 'connection'>> {
  const queries: readonly WatchQuery<unknown>[] = Object.values(ofServer);
  const { read, failure } = await runQueries(queries, querySession);
  // If this query fails, the poll has no result, because a slot would appear to be dropped.
  const missing = failure(ofServer.slotsQuery) ?? failure(ofServer.serverStatusQuery);
  if (missing !== undefined) throw missing;
  const settings = [...read(ofServer.settingsQuery)];
  const inFile = read(ofServer.fileSettingsQuery);
  const role = read(ofServer.roleQuery);
  return {
    at,
    version: querySession.version,
    ...read(ofServer.serverStatusQuery),
    slots: read(ofServer.slotsQuery),
    senders: read(ofServer.sendersQuery),
    copies: read(ofServer.copiesQuery),
    dumps: read(ofServer.dumpsQuery),
    settings: new Map(settings.map(([name, setting]) => [name, { ...setting, inFile: inFile.get(name) }])),
    hbaRuleLines: read(ofServer.hbaLinesQuery),
    role:
      role === undefined
        ? undefined
        : { ...role, revision: read(ofServer.roleRevisionQuery), timeouts: read(ofServer.roleTimeoutsQuery) },
    databases: read(ofServer.transactionsQuery),
    blocked: read(ofServer.blockedCommitsQuery),
    denied: [...querySession.deniedIds],
  };
}

async function readDatabaseFacts(
  name: string,
  querySession: QuerySession,
  wants: {
    readonly shapes: boolean;
    readonly sizes: boolean;
    readonly columnsOf: readonly string[] | undefined;
  },
): Promise<DatabaseFacts> {
  const columnsQuery = ofDatabase.tableColumnsQuery(wants.columnsOf);
  const schedules: readonly WatchQuery<unknown>[] = [
    ...(wants.shapes ? [ofDatabase.tableDefinitionsQuery] : []),
    ...(wants.sizes ? [ofDatabase.tableSizesQuery] : []),
    ...(wants.columnsOf?.length === 0 ? [] : [columnsQuery]),
  ];
  const { read, failure } = await runQueries(
    [ofDatabase.tableStatsQuery, ofDatabase.publicationsQuery, ...schedules],
    querySession,
  );
  // If these queries fail, the database counts as not read, because tables and publications would appear to be dropped.
  const missing = failure(ofDatabase.tableStatsQuery) ?? failure(ofDatabase.publicationsQuery);
  if (missing !== undefined) throw missing;
  const results = <T>(wanted: boolean, query: WatchQuery<T>): T | undefined =>
    wanted && !querySession.deniedIds.has(query.id) && failure(query) === undefined ? read(query) : undefined;
  return {
    name,
    tables: read(ofDatabase.tableStatsQuery),
    publications: read(ofDatabase.publicationsQuery),
    shapes: results(wants.shapes, ofDatabase.tableDefinitionsQuery),
    sizes: results(wants.sizes, ofDatabase.tableSizesQuery),
    columns: read(columnsQuery),
    denied: [...querySession.deniedIds],
  };
}

/** Opens a connection and closes it without a statement. */
function probeSource({ source, limits, signal }: PostgresSourceObserverOptions): Promise<ConnectionProbe> {
  return probeConnection(source.host, async () => {
    const options = { dbname: source.dbname, limit: limits.pollTimeout, signal, applicationName: 'cloudctl-watch' };
    const session = await connectPostgresql(source, options);
    await session.end();
    return session.tls;
  });
}

interface TakeWatchedSourceBaselineOptions {
  readonly ignoreDbs: readonly string[];
  /** The clock of this machine, in milliseconds since the epoch. */
  readonly now: () => number;
  /** Time limit in milliseconds; databases that are not read within the limit are left out. */
  readonly limit: number;
  readonly signal: AbortSignal;
}

/**
 * Reads the source before a migration starts. The returned slots are those of other consumers.
 * @returns if the source could not be read, the reason as a text without a secret
 */
export async function takeBaseline(
  source: PostgresqlEndpoint,
  { ignoreDbs, now, limit, signal }: TakeWatchedSourceBaselineOptions,
): Promise<{ readonly slots: readonly string[]; readonly baseline: SourceBaseline } | string> {
  const limits = { ...watchLimits, pollTimeout: Math.min(limit, 5000) };
  const observer = createPostgresObserver({ source, ignoreDbs, limits, now, signal, onSent: () => {} });
  const read = new Map<string, DatabaseFacts>();
  const startedAt = performance.now();
  try {
    for (;;) {
      // Columns of all tables.
      const poll = await observer.poll(() => undefined);
      if (poll.kind === 'outage') return poll.outage.reason;
      for (const [name, facts] of poll.databases) if (facts.shapes !== undefined) read.set(name, facts);
      const wanted = poll.server.databases.filter(({ name }) => !ignoreDbs.includes(name));
      const isOver = performance.now() - startedAt > limit || poll.databases.size === 0;
      if (!isOver && !wanted.every(({ name }) => read.has(name))) continue;
      const slots = poll.server.slots.filter((slot) => !isTableSyncSlot(slot)).map(({ name }) => name);
      return { slots, baseline: createBaseline(poll.server, read.values()) };
    }
  } finally {
    await observer.close();
  }
}
