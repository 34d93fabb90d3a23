import { nearestWord } from '../../cli/suggest.ts';
import { redactedReason } from '../../engine/migration-error.ts';
import { CliError, type ErrorCode, usageError } from '../../errors.ts';
import { ConnectError } from '../../platform/connect-error.ts';
import { connectPostgresql, type PostgresqlSession } from '../../postgresql/connection.ts';
import { QueryError } from '../../postgresql/query-error.ts';
import type { PostgresqlSource } from '../../postgresql/source.ts';
import { formatServerVersion } from '../../postgresql/version.ts';
import { databasesQuery } from '../../preflight/postgresql/queries/databases.ts';
import { selectDatabases } from '../../preflight/postgresql/select-databases.ts';
import type { ComparisonLimits } from '../comparison-report.ts';
import {
  type ComparedDatabase,
  type ComparisonReport,
  comparedDatabase,
  excludedFromComparison,
  worstComparison,
} from '../comparison-report.ts';
import { compareOpenDatabases } from './compare-open-databases.ts';
import { queryRows, readVersion } from './count-rows.ts';

export interface ComparePostgresqlOptions extends ComparisonLimits {
  readonly ignoreDbs: readonly string[];
}

type ComparedServers = Omit<ComparisonReport, 'schema_version' | 'engine' | 'started_at' | 'seconds'>;

/** Compares every database that a migration copies, one after the other. */
export async function comparePostgresql(
  source: PostgresqlSource,
  target: PostgresqlSource,
  options: ComparePostgresqlOptions,
): Promise<ComparedServers> {
  const { signal, ignoreDbs, onProgress } = options;
  const from = await describeServer(source, 'source', signal);
  const to = await describeServer(target, 'target', signal);
  if (from.instance !== undefined && from.instance === to.instance)
    throw usageError('source and target are the same server', 'give another server with `--target`');
  const names = selectDatabases(
    from.databases.filter(({ template }) => !template),
    ignoreDbs.filter((name) => !from.databases.some((one) => one.name === name && one.template)),
    nearestWord,
  );
  const databases: ComparedDatabase[] = [];
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
    state: worstComparison(databases.map(({ state }) => state)),
    source: serverOf(source, from.version),
    target: serverOf(target, to.version),
    databases,
    not_compared: [
      ...excludedFromComparison.postgresql,
      ...(templates.length === 0 ? [] : [`template databases: ${namesOf(templates)}`]),
      ...(others.length === 0 ? [] : [`databases that only the target has: ${namesOf(others)}`]),
    ],
  };
}

function namesOf(databases: readonly { readonly name: string }[]): string {
  return databases.map(({ name }) => name).join(', ');
}

function serverOf({ host, port }: PostgresqlSource, version: number) {
  return { host, port, version: formatServerVersion(version) };
}

function missingDatabase(name: string): ComparedDatabase {
  const parts = { name, tables: [], sequences: [], not_compared: [] };
  return { ...parts, state: 'differs', error: 'the database does not exist on the target' };
}

async function compareDatabase(
  name: string,
  source: PostgresqlSource,
  target: PostgresqlSource,
  oldest: number,
  options: ComparePostgresqlOptions,
): Promise<ComparedDatabase> {
  const parts = { name, tables: [], sequences: [], not_compared: [] };
  try {
    return await withSession({ ...source, dbname: name }, options.signal, (from) =>
      withSession({ ...target, dbname: name }, options.signal, (to) =>
        compareOpenDatabases({ name, source: from, target: to, oldest, options }),
      ),
    );
  } catch (error) {
    if (options.signal.aborted || !(error instanceof ConnectError || error instanceof QueryError)) throw error;
    return comparedDatabase({ ...parts, error: redactedReason(error, source.password, target.password) });
  }
}

/** Every message is one transaction, so a connection pooler may be in between, and no read-only session is needed. */
async function withSession<T>(
  server: PostgresqlSource,
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

const applicationName = 'cloudctl-compare';

async function describeServer(server: PostgresqlSource, side: 'source' | 'target', signal: AbortSignal) {
  try {
    return await withSession(server, signal, async (session) => {
      const version = await readVersion(session);
      const databases = await readDatabases(session, version);
      return { version, databases, instance: await readInstance(session) };
    });
  } catch (error) {
    if (!(error instanceof ConnectError || error instanceof QueryError)) throw error;
    const code: ErrorCode = side === 'source' ? 'source_unreachable' : 'unreachable';
    throw new CliError(code, `could not connect to the ${side}: ${redactedReason(error, server.password)}`, {
      detail: `${server.host}:${server.port}, database ${server.dbname}, user ${server.username}`,
      hint: `check the address in \`--${side}\` and the access rules of the ${side}`,
      cause: error,
    });
  }
}

async function readDatabases(session: PostgresqlSession, version: number) {
  const sql = databasesQuery.sql(version, { inRecovery: false, superuser: false });
  return sql === undefined ? [] : databasesQuery.decode(await queryRows(session, sql));
}

/** System identifier and start time of a server; undefined if the server hides them. */
async function readInstance(session: PostgresqlSession): Promise<string | undefined> {
  try {
    const instance = "system_identifier::text || ' ' || extract(epoch FROM pg_postmaster_start_time())";
    return (
      (await queryRows(session, `SELECT ${instance} AS instance FROM pg_control_system()`))[0]?.instance ?? undefined
    );
  } catch (error) {
    if (error instanceof QueryError && !error.lost) return undefined;
    throw error;
  }
}
