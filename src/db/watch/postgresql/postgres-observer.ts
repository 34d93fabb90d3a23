import { DatabaseConnectError } from '../../../platform/connect-error.ts';
import {
  createDatabaseResponseMemoryLimit,
  type DatabaseResponseMemoryLimit,
} from '../../../platform/response-memory.ts';
import { connectPostgresql, type PostgresqlSession } from '../../../postgresql/connection.ts';
import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import { PostgresqlQueryError } from '../../../postgresql/query-error.ts';
import { probeSourceConnection, type SourceConnectionProbeResult } from '../connection-probe.ts';
import type { MigrationWatchLimits } from '../migration-watch-limits.ts';
import * as ofDatabase from './database-queries.ts';
import * as ofRole from './role-queries.ts';
import type { PostgresWatchPoll, WatchedDatabaseFacts, WatchedServerFacts } from './server-facts.ts';
import * as ofServer from './server-queries.ts';
import {
  type PostgresqlWatchQuery,
  type PostgresqlWatchQuerySession,
  queryWatchedServerVersion,
  runPostgresqlWatchQueries,
} from './watch-query.ts';

export interface PostgresSourceObserverOptions {
  readonly source: PostgresqlEndpoint;
  readonly ignoreDbs: readonly string[];
  readonly limits: MigrationWatchLimits;
  /** The present time in milliseconds since the epoch. */
  readonly now: () => number;
  readonly signal: AbortSignal;
  /** Called with every message before it is sent to the source. */
  readonly onSent: (database: string, text: string) => void;
}

export interface PostgresSourceObserver {
  /**
   * Reads the source once, within `pollTimeout`. An unreachable source is an outage, never an error.
   * @param columnsOf the tables of a database (`schema.table`) whose columns are read; undefined: all
   */
  poll(columnsOf: (database: string) => readonly string[] | undefined): Promise<PostgresWatchPoll>;
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

export function createPostgresSourceObserver(options: PostgresSourceObserverOptions): PostgresSourceObserver {
  const connections = new Map<string, DatabaseConnection>();
  const memory = createDatabaseResponseMemoryLimit('statement');
  const schedules = new Map<string, SlowQuerySchedule>();
  let probe: { readonly at: number; readonly found: SourceConnectionProbeResult } | undefined;
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

  const server = async (at: number): Promise<WatchedServerFacts> => {
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
  ): Promise<WatchedDatabaseFacts | undefined> => {
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
  readonly querySession: PostgresqlWatchQuerySession;
}

interface SlowQuerySchedule {
  readonly shapesDue: number;
  readonly sizesDue: number;
}

function isFailure(error: unknown): error is DatabaseConnectError | PostgresqlQueryError {
  return error instanceof DatabaseConnectError || error instanceof PostgresqlQueryError;
}

async function openConnection(
  dbname: string,
  { source, limits, signal, onSent }: PostgresSourceObserverOptions,
  memory: DatabaseResponseMemoryLimit,
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
      querySession: { ...opened, version: await queryWatchedServerVersion(opened), deniedIds: new Set() },
    };
  } catch (error) {
    await session.end();
    throw error;
  }
}

async function readServerFacts(
  querySession: PostgresqlWatchQuerySession,
  at: number,
): Promise<Omit<WatchedServerFacts, 'connection'>> {
  const queries: readonly PostgresqlWatchQuery<unknown>[] = Object.values({ ...ofServer, ...ofRole });
  const { read, failure } = await runPostgresqlWatchQueries(queries, querySession);
  // If this query fails, the poll has no result, because a slot would appear to be dropped.
  const missing = failure(ofServer.watchedSlotsQuery) ?? failure(ofServer.watchedServerStatusQuery);
  if (missing !== undefined) throw missing;
  const settings = [...read(ofServer.watchedSettingsQuery)];
  const inFile = read(ofServer.watchedConfigFileSettingsQuery);
  const role = read(ofRole.watchedRoleQuery);
  return {
    at,
    version: querySession.version,
    ...read(ofServer.watchedServerStatusQuery),
    slots: read(ofServer.watchedSlotsQuery),
    senders: read(ofServer.watchedWalSendersQuery),
    copies: read(ofServer.watchedCopyProgressQuery),
    dumps: read(ofServer.databasesBeingDumpedQuery),
    settings: new Map(settings.map(([name, setting]) => [name, { ...setting, inFile: inFile.get(name) }])),
    hbaRuleLines: read(ofServer.watchedHbaRuleLinesQuery),
    role:
      role === undefined
        ? undefined
        : { ...role, revision: read(ofRole.watchedRoleRevisionQuery), timeouts: read(ofRole.roleTimeoutsQuery) },
    databases: read(ofServer.watchedTransactionCountsQuery),
    blocked: read(ofServer.watchedBlockedCommitsQuery),
    denied: [...querySession.deniedIds],
  };
}

async function readDatabaseFacts(
  name: string,
  querySession: PostgresqlWatchQuerySession,
  wants: {
    readonly shapes: boolean;
    readonly sizes: boolean;
    readonly columnsOf: readonly string[] | undefined;
  },
): Promise<WatchedDatabaseFacts> {
  const columnsQuery = ofDatabase.tableColumnsQuery(wants.columnsOf);
  const schedules: readonly PostgresqlWatchQuery<unknown>[] = [
    ...(wants.shapes ? [ofDatabase.watchedTableDefinitionsQuery] : []),
    ...(wants.sizes ? [ofDatabase.watchedTableSizesQuery] : []),
    ...(wants.columnsOf?.length === 0 ? [] : [columnsQuery]),
  ];
  const { read, failure } = await runPostgresqlWatchQueries(
    [ofDatabase.watchedTableStatsQuery, ofDatabase.watchedPublicationsQuery, ...schedules],
    querySession,
  );
  // If these queries fail, the database counts as not read, because tables and publications would appear to be dropped.
  const missing = failure(ofDatabase.watchedTableStatsQuery) ?? failure(ofDatabase.watchedPublicationsQuery);
  if (missing !== undefined) throw missing;
  const results = <T>(wanted: boolean, query: PostgresqlWatchQuery<T>): T | undefined =>
    wanted && !querySession.deniedIds.has(query.id) && failure(query) === undefined ? read(query) : undefined;
  return {
    name,
    tables: read(ofDatabase.watchedTableStatsQuery),
    publications: read(ofDatabase.watchedPublicationsQuery),
    shapes: results(wants.shapes, ofDatabase.watchedTableDefinitionsQuery),
    sizes: results(wants.sizes, ofDatabase.watchedTableSizesQuery),
    columns: read(columnsQuery),
    denied: [...querySession.deniedIds],
  };
}

/** Opens a connection and closes it without a statement. */
function probeSource({ source, limits, signal }: PostgresSourceObserverOptions): Promise<SourceConnectionProbeResult> {
  return probeSourceConnection(source.host, async () => {
    const options = { dbname: source.dbname, limit: limits.pollTimeout, signal, applicationName: 'cloudctl-watch' };
    const session = await connectPostgresql(source, options);
    await session.end();
    return session.tls;
  });
}
