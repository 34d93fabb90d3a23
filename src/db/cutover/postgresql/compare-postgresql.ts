import { CliError, type CliErrorCode, usageError } from '../../../base/errors.ts';
import { nearestWord } from '../../../cli/nearest-word.ts';
import { DatabaseConnectError } from '../../../platform/connect-error.ts';
import { connectPostgresql, type PostgresqlSession } from '../../../postgresql/connection.ts';
import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import { PostgresqlQueryError } from '../../../postgresql/query-error.ts';
import { formatPostgresqlVersion } from '../../../postgresql/version.ts';
import { databasesQuery } from '../../../preflight/postgresql/queries/databases.ts';
import { selectDatabasesToCompare } from '../../../preflight/postgresql/select-databases.ts';
import { redactReason } from '../../engine/tools.ts';
import { unreachableHint } from '../../source/index.ts';
import type { DatabaseComparisonOptions } from '../comparison-report.ts';
import {
  buildDatabaseComparisonEntry,
  type DatabaseComparisonEntry,
  type DatabaseComparisonReport,
  dataExcludedFromComparison,
  pickWorstComparisonResult,
} from '../comparison-report.ts';
import { targetInputs, targetLoginHint } from '../target.ts';
import { compareDatabaseOverSessions } from './compare-database-over-sessions.ts';
import { queryCatalogRows, readPostgresqlServerVersion } from './rehearsal-tables.ts';

interface ComparePostgresqlServersOptions extends DatabaseComparisonOptions {
  readonly ignoreDbs: readonly string[];
}

type ComparedServers = Omit<DatabaseComparisonReport, 'schema_version' | 'engine' | 'started_at' | 'seconds'>;

/** Compares every database that a migration copies, one after the other. */
export async function comparePostgresqlServerContents(
  source: PostgresqlEndpoint,
  target: PostgresqlEndpoint,
  options: ComparePostgresqlServersOptions,
): Promise<ComparedServers> {
  const { signal, ignoreDbs, onProgress } = options;
  const { from, to, names } = await describeServers(source, target, ignoreDbs, signal);
  const databases: DatabaseComparisonEntry[] = [];
  const oldest = Math.min(from.version, to.version);
  for (const [done, name] of names.entries()) {
    onProgress({ database: name, done, total: names.length });
    const isMissing = !to.databases.some((one) => one.name === name);
    databases.push(isMissing ? missingDatabase(name) : await compareDatabase(name, source, target, oldest, options));
  }
  const others = to.databases.filter(
    ({ name, template }) => !template && !from.databases.some((one) => one.name === name),
  );
  const templates = from.databases.filter(({ template }) => template);
  return {
    state: pickWorstComparisonResult(databases.map(({ state }) => state)),
    source: serverOf(source, from.version),
    target: serverOf(target, to.version),
    databases,
    not_compared: [
      ...dataExcludedFromComparison.postgresql,
      ...(templates.length === 0 ? [] : [`template databases: ${namesOf(templates)}`]),
      ...(others.length === 0 ? [] : [`databases that only the target has: ${namesOf(others)}`]),
    ],
  };
}

/** Versions and databases of both servers, and the names of the databases that a migration copies. */
export async function describeServers(
  source: PostgresqlEndpoint,
  target: PostgresqlEndpoint,
  ignoreDbs: readonly string[],
  signal: AbortSignal,
) {
  const from = await describeServer(source, 'source', signal);
  const to = await describeServer(target, 'target', signal);
  if (from.instance !== undefined && from.instance === to.instance)
    throw usageError('source and target are the same server', 'give another server with `--target`');
  return { from, to, names: selectDatabasesToCompare(from.databases, ignoreDbs, nearestWord) };
}

function namesOf(databases: readonly { readonly name: string }[]): string {
  return databases.map(({ name }) => name).join(', ');
}

function serverOf({ host, port }: PostgresqlEndpoint, version: number) {
  return { host, port, version: formatPostgresqlVersion(version) };
}

function missingDatabase(name: string): DatabaseComparisonEntry {
  const parts = { name, tables: [], sequences: [], not_compared: [] };
  return { ...parts, state: 'differs', error: 'the database does not exist on the target' };
}

async function compareDatabase(
  name: string,
  source: PostgresqlEndpoint,
  target: PostgresqlEndpoint,
  oldest: number,
  options: ComparePostgresqlServersOptions,
): Promise<DatabaseComparisonEntry> {
  const parts = { name, tables: [], sequences: [], not_compared: [] };
  try {
    return await withSession({ ...source, dbname: name }, options.signal, (from) =>
      withSession({ ...target, dbname: name }, options.signal, (to) =>
        withMoreSessions({ ...source, dbname: name }, { ...target, dbname: name }, options.signal, (more) =>
          compareDatabaseOverSessions({ name, source: from, target: to, more, oldest, options }),
        ),
      ),
    );
  } catch (error) {
    if (options.signal.aborted || !(error instanceof DatabaseConnectError || error instanceof PostgresqlQueryError))
      throw error;
    return buildDatabaseComparisonEntry({
      ...parts,
      error: redactReason(error, source.password, target.password),
    });
  }
}

/**
 * Every message is one transaction, so the connection may lead through a connection pooler, and the session needs no
 * read-only setting.
 */
async function withSession<T>(
  server: PostgresqlEndpoint,
  signal: AbortSignal,
  work: (session: PostgresqlSession) => Promise<T>,
): Promise<T> {
  const { dbname } = server;
  const session = await connectPostgresql(server, { dbname, limit: 10_000, signal, applicationName });
  try {
    return await work(session);
  } finally {
    await session.end();
  }
}

/** More sessions with both servers; fewer if a server refuses them, because the first ones do the work as well. */
async function withMoreSessions<T>(
  source: PostgresqlEndpoint,
  target: PostgresqlEndpoint,
  signal: AbortSignal,
  work: (more: Readonly<Record<'source' | 'target', readonly PostgresqlSession[]>>) => Promise<T>,
): Promise<T> {
  const open = async (server: PostgresqlEndpoint) => {
    const tried = Array.from({ length: moreSessions }, () =>
      connectPostgresql(server, { dbname: server.dbname, limit: 10_000, signal, applicationName }),
    );
    return (await Promise.allSettled(tried)).flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  };
  const [from, to] = await Promise.all([open(source), open(target)]);
  try {
    return await work({ source: from, target: to });
  } finally {
    await Promise.all([...from, ...to].map((session) => session.end()));
  }
}

const moreSessions = 2;
const applicationName = 'cloudctl-compare';

async function describeServer(server: PostgresqlEndpoint, side: 'source' | 'target', signal: AbortSignal) {
  try {
    return await withSession(server, signal, async (session) => {
      const version = await readPostgresqlServerVersion(session);
      const databases = await readDatabases(session, version);
      return { version, databases, instance: await readInstance(session) };
    });
  } catch (error) {
    if (!(error instanceof DatabaseConnectError || error instanceof PostgresqlQueryError)) throw error;
    const code: CliErrorCode = side === 'source' ? 'source_unreachable' : 'unreachable';
    throw new CliError(code, `could not connect to the ${side}: ${redactReason(error, server.password)}`, {
      detail: `${server.host}:${server.port}, database ${server.dbname}, user ${server.username}`,
      hint:
        side === 'target'
          ? targetLoginHint(error, targetInputs)
          : unreachableHint({ engine: 'postgresql', source: server }, error.code),
      cause: error,
    });
  }
}

async function readDatabases(session: PostgresqlSession, version: number) {
  const sql = databasesQuery.sql(version, { inRecovery: false, superuser: false });
  return sql === undefined ? [] : databasesQuery.decode(await queryCatalogRows(session, sql));
}

/** System identifier and start time of a server; undefined if the server hides them. */
async function readInstance(session: PostgresqlSession): Promise<string | undefined> {
  try {
    const instance = "system_identifier::text || ' ' || extract(epoch FROM pg_postmaster_start_time())";
    return (
      (await queryCatalogRows(session, `SELECT ${instance} AS instance FROM pg_control_system()`))[0]?.instance ??
      undefined
    );
  } catch (error) {
    if (error instanceof PostgresqlQueryError && !error.lost) return undefined;
    throw error;
  }
}
