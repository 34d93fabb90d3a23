import { ConnectError } from '../../platform/connect-error.ts';
import { connectPostgresql, type PostgresqlSession } from '../../postgresql/connection.ts';
import { QueryError } from '../../postgresql/query-error.ts';
import type { PostgresqlSource } from '../../postgresql/source.ts';
import type { ConnectionProbe } from '../connection-probe.ts';
import type { WatchLimits } from '../watch-limits.ts';
import * as ofDatabase from './database-queries.ts';
import { probePostgresConnection } from './probe-postgres-connection.ts';
import type { DatabaseFacts, PostgresPoll, ServerFacts } from './server-facts.ts';
import * as ofServer from './server-queries.ts';
import { runWatchQueries, type WatchQuery, type WatchQuerySession } from './watch-query.ts';

export interface PostgresObserverOptions {
  readonly source: PostgresqlSource;
  readonly ignoreDbs: readonly string[];
  readonly limits: WatchLimits;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly signal: AbortSignal;
  /** Hears every message before it is sent. */
  readonly onSent: (database: string, text: string) => void;
}

export interface PostgresObserver {
  /** Looks once, within the limit; a source that does not answer is an outage, never an error. */
  poll(): Promise<PostgresPoll>;
  close(): Promise<void>;
}

/** So many databases keep a session; of more, so many are visited in each look, in turn. */
const maxSessions = 8;

/** Milliseconds after which a look into a catalogue counts as dear; then it may take this part of the time only. */
const slowQueryMs = 500;
const slowQueryShare = 0.2;

export function createPostgresObserver(options: PostgresObserverOptions): PostgresObserver {
  const lines = new Map<string, DatabaseConnection>();
  const heavy = new Map<string, SlowQuerySchedule>();
  let door: { readonly at: number; readonly found: ConnectionProbe } | undefined;
  let turn = 0;

  const line = async (dbname: string): Promise<DatabaseConnection> => {
    const open = lines.get(dbname) ?? (await openConnection(dbname, options));
    lines.set(dbname, open);
    return open;
  };

  const drop = async (dbname: string): Promise<void> => {
    const open = lines.get(dbname);
    lines.delete(dbname);
    await open?.session.end();
  };

  const server = async (at: number): Promise<ServerFacts> => {
    const { querySession: asking } = await line(options.source.dbname);
    const facts = await readServerFacts(asking, at);
    if (door === undefined || at - door.at >= options.limits.probeInterval) {
      door = { at, found: await probePostgresConnection(options) };
    }
    return { ...facts, door: door.found };
  };

  const database = async (name: string, at: number, keep: boolean): Promise<DatabaseFacts | undefined> => {
    const known = heavy.get(name) ?? { shapesDue: 0, sizesDue: 0 };
    try {
      const { querySession: asking } = await line(name);
      const wants = { shapes: at >= known.shapesDue, sizes: at >= known.sizesDue };
      const began = options.now();
      const facts = await readDatabaseFacts(name, asking, wants);
      const took = options.now() - began;
      heavy.set(name, {
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
    async poll() {
      const at = options.now();
      try {
        const facts = await server(at);
        const names = facts.databases.map(({ name }) => name).filter((name) => !options.ignoreDbs.includes(name));
        const keep = names.length <= maxSessions;
        const now = keep ? names : names.map((_, index) => names[(turn + index) % names.length]!).slice(0, maxSessions);
        turn = names.length === 0 ? 0 : (turn + maxSessions) % names.length;
        const told = await Promise.all(now.map((name) => database(name, at, keep || name === options.source.dbname)));
        const found = told.filter((one) => one !== undefined);
        return { kind: 'seen', server: facts, databases: new Map(found.map((one) => [one.name, one])) };
      } catch (error) {
        if (!isFailure(error)) throw error;
        await Promise.all([...lines.keys()].map(drop));
        return { kind: 'outage', outage: { at, code: error.code, reason: error.message } };
      }
    },
    async close() {
      await Promise.all([...lines.keys()].map(drop));
    },
  };
}

interface DatabaseConnection {
  readonly session: PostgresqlSession;
  readonly querySession: WatchQuerySession;
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
  { source, limits, signal, onSent }: PostgresObserverOptions,
): Promise<DatabaseConnection> {
  const session = await connectPostgresql(source, {
    dbname,
    limit: limits.pollTimeout,
    signal,
    applicationName: 'cloudctl-watch',
  });
  try {
    onSent(dbname, versionQuery);
    const [rows] = await session.query(versionQuery, limits.pollTimeout);
    const version = Number(rows?.[0]?.version ?? 0);
    const tell = (text: string) => onSent(dbname, text);
    return { session, querySession: { session, version, limit: limits.pollTimeout, onSent: tell, denied: new Set() } };
  } catch (error) {
    await session.end();
    throw error;
  }
}

const versionQuery = "SELECT current_setting('server_version_num') AS version";

async function readServerFacts(asking: WatchQuerySession, at: number): Promise<Omit<ServerFacts, 'door'>> {
  const { read, failure } = await runWatchQueries(Object.values<WatchQuery<unknown>>(ofServer), asking);
  // Without them a slot would seem to be dropped.
  const missing = failure(ofServer.slotStatusQuery) ?? failure(ofServer.serverStatusQuery);
  if (missing !== undefined) throw missing;
  const inFile = read(ofServer.fileSettingsQuery);
  const role = read(ofServer.currentRoleQuery);
  return {
    at,
    version: asking.version,
    ...read(ofServer.serverStatusQuery),
    slots: read(ofServer.slotStatusQuery),
    senders: read(ofServer.walSenderStatusQuery),
    copies: read(ofServer.copyProgressQuery),
    dumps: read(ofServer.dumpedDatabasesQuery),
    settings: new Map(
      [...read(ofServer.watchedSettingsQuery)].map(([name, setting]) => [
        name,
        { ...setting, inFile: inFile.get(name) },
      ]),
    ),
    hostRules: read(ofServer.hostRulesHashQuery),
    role: role === undefined ? undefined : { ...role, revision: read(ofServer.roleRevisionQuery) },
    databases: read(ofServer.transactionCountsQuery),
    blocked: read(ofServer.blockedCommitsQuery),
    denied: [...asking.denied],
  };
}

async function readDatabaseFacts(
  name: string,
  asking: WatchQuerySession,
  wants: { readonly shapes: boolean; readonly sizes: boolean },
): Promise<DatabaseFacts> {
  const heavy: readonly WatchQuery<unknown>[] = [
    ...(wants.shapes ? [ofDatabase.tableShapesQuery] : []),
    ...(wants.sizes ? [ofDatabase.watchedTableSizesQuery] : []),
  ];
  const { read, failure } = await runWatchQueries(
    [ofDatabase.tableStatsQuery, ofDatabase.publicationContentQuery, ...heavy],
    asking,
  );
  // Without them tables and publications would seem to be dropped.
  const missing = failure(ofDatabase.tableStatsQuery) ?? failure(ofDatabase.publicationContentQuery);
  if (missing !== undefined) throw missing;
  const told = <T>(wanted: boolean, question: WatchQuery<T>): T | undefined =>
    wanted && !asking.denied.has(question.id) && failure(question) === undefined ? read(question) : undefined;
  return {
    name,
    tables: read(ofDatabase.tableStatsQuery),
    publications: read(ofDatabase.publicationContentQuery),
    shapes: told(wants.shapes, ofDatabase.tableShapesQuery),
    sizes: told(wants.sizes, ofDatabase.watchedTableSizesQuery),
    denied: [...asking.denied],
  };
}
