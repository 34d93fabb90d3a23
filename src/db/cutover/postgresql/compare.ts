import { CliError, type CliErrorCode, usageError } from '../../../base/errors.ts';
import { countOf } from '../../../base/text.ts';
import { nearestWord } from '../../../cli/values.ts';
import { ConnectError } from '../../../platform/network-errors.ts';
import { connectPostgresql, type PostgresqlSession } from '../../../postgresql/connection.ts';
import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import { QueryError } from '../../../postgresql/query-error.ts';
import { quoteLiteral } from '../../../postgresql/quote.ts';
import { formatVersion } from '../../../postgresql/version.ts';
import { longTimeout, redactReason } from '../../engine/tools.ts';
import { databasesQuery, databasesToCompare } from '../../preflight/queries.ts';
import { unreachableHint } from '../../source/index.ts';
import {
  buildDatabaseComparisonEntry,
  compareSequences,
  type DatabaseComparisonEntry,
  type DatabaseComparisonOptions,
  type DatabaseComparisonReport,
  dataExcludedFromComparison,
  pickWorstComparisonResult,
  unreadableSequenceState,
} from '../comparison.ts';
import type { SequenceComparison, TableComparison } from '../rehearse/report.ts';
import { targetInputs, targetLoginHint } from '../target.ts';
import { compareLargeObjects, compareTableDigests } from './digests.ts';
import {
  listTablesWithCopiedColumns,
  queryCatalogRows,
  readGeneratedColumns,
  readPostgresqlServerVersion,
  readSequenceStatesAsText,
  readTableContentDigests,
  type TableContentSession,
  type TableWithCopiedColumns,
} from './tables.ts';

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
  return { from, to, names: databasesToCompare(from.databases, ignoreDbs, nearestWord) };
}

function namesOf(databases: readonly { readonly name: string }[]): string {
  return databases.map(({ name }) => name).join(', ');
}

function serverOf({ host, port }: PostgresqlEndpoint, version: number) {
  return { host, port, version: formatVersion(version) };
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
    if (options.signal.aborted || !(error instanceof ConnectError || error instanceof QueryError)) throw error;
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
    if (!(error instanceof ConnectError || error instanceof QueryError)) throw error;
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
    if (error instanceof QueryError && !error.lost) return undefined;
    throw error;
  }
}

interface DatabaseComparisonInput {
  readonly name: string;
  readonly source: TableContentSession;
  readonly target: TableContentSession;
  /** More sessions with each server, which read at the same time. */
  readonly more: Readonly<Record<'source' | 'target', readonly TableContentSession[]>>;
  /** server_version_num of the older one of the source and the target. */
  readonly oldest: number;
  readonly options: DatabaseComparisonOptions;
}

/** Compares the tables and sequences of one database on two open sessions. */
async function compareDatabaseOverSessions(databases: DatabaseComparisonInput): Promise<DatabaseComparisonEntry> {
  const { name, source, target, more, oldest, options } = databases;
  const { clock, signal, maxRounds, isQuiet = false, isChosen = () => true } = options;
  const chosen = async (session: TableContentSession): Promise<readonly TableWithCopiedColumns[]> =>
    (await listTablesWithCopiedColumns(session)).filter((one) => isChosen(name, one.name));
  const targetTables = await chosen(target);
  const sourceTables = readGeneratedColumns(await chosen(source), targetTables);
  const sequences = await readSequenceStatesAsText(source);
  const { tables } = await compareTableDigests({
    ...{ source, target, more, oldest, maxRounds, isQuiet },
    tables: sourceTables,
    isConfirmed: false,
    watchWrites: () => watchWrites(source),
    waitUntilReplicated: () => waitForSlots(source, options),
    pause: (ms) => clock.sleep(ms, signal),
  });
  const named = new Map(sourceTables.map((one) => [one.name, one]));
  const targetNamed = new Map(targetTables.map((one) => [one.name, one]));
  const others = targetTables.filter((one) => !named.has(one.name));
  const targetOnly = await readTableContentDigests(target, others, {
    limit: longTimeout,
    oldest,
    onFailure: () => {},
  });
  const isRunning = await hasSubscriptionSlot(source);
  const objects = (await compareLargeObjects(source, target)).map(
    (one): TableComparison => (isRunning && one.state === 'differs' ? { ...one, ...leftToStop } : one),
  );
  const compared = compareAllSequences(
    sequences,
    await readSequenceStatesAsText(target),
    await readSequenceStatesAsText(source),
  );
  const open = compared.filter(({ state }) => state === 'differs').length;
  return buildDatabaseComparisonEntry({
    name,
    ...(isRunning ? { left_to_stop: await listLeftToStop(source, target, open, objects) } : {}),
    tables: [
      ...tables.map((one) => withTargetColumns(one, named.get(one.name), targetNamed.get(one.name))),
      ...objects,
      ...others.map(
        (one): TableComparison => ({
          name: one.name,
          rows_source: null,
          rows_target: targetOnly.get(one.name)?.rows ?? null,
          state: 'differs',
        }),
      ),
    ],
    sequences: compared,
    not_compared: await listNotCompared(source, oldest),
  });
}

/**
 * Only the columns of the source were read. Therefore a table is not equal if the target has more columns, or computes a generated
 * column that was not read in another way.
 */
function withTargetColumns(
  found: TableComparison,
  source: TableWithCopiedColumns | undefined,
  target: TableWithCopiedColumns | undefined,
): TableComparison {
  if (source === undefined) return found;
  // Waiting brings no row of an unlogged table: its owner copies them, or says that they are not needed.
  if (source.isUnlogged && target !== undefined && found.state === 'differs' && found.rows_target === 0) {
    const error = 'the table is unlogged, so its rows are not replicated';
    return { ...found, state: 'not_comparable', error, acceptable: true };
  }
  // A table that one server refuses to show may be missing on the other.
  const there = new Set(columnsOf(target));
  const missing = columnsOf(source).filter((one) => !there.has(one));
  if (found.acceptable === true && (target === undefined || missing.length > 0)) {
    const { acceptable: _, ...rest } = found;
    const error = target === undefined ? 'the target has no such table' : `the target lacks ${missing.join(', ')}`;
    return { ...rest, state: 'differs', error };
  }
  if (target === undefined || (found.rows_target ?? 0) === 0) return found;
  if (found.state !== 'equal' && found.state !== 'partly_equal') return found;
  const known = new Set(columnsOf(source));
  const more = columnsOf(target).filter((name) => !known.has(name));
  if (more.length > 0)
    return { ...found, state: 'differs', error: `only the target has the columns ${more.join(', ')}` };
  const expressions = new Map(target.generated.map(({ name, expression }) => [name, expression]));
  const other = source.generated.filter(({ name, expression }) => expressions.get(name) !== expression);
  if (other.length === 0) return found;
  const columns = other.map(({ name }) => name).join(', ');
  return {
    ...found,
    state: 'not_comparable',
    error: `the target does not compute ${columns} like the source`,
    acceptable: true,
  };
}

function columnsOf(one: TableWithCopiedColumns | undefined): readonly string[] {
  if (one === undefined) return [];
  return [...one.table.columns, ...(one.table.generated ?? []), ...one.generated.map(({ name }) => name)];
}

function compareAllSequences(...[before, target, after]: Parameters<typeof compareSequences>) {
  const others = [...target].filter(([name]) => !before.has(name));
  return [
    ...compareSequences(before, target, after),
    ...others.map(([name, value]): SequenceComparison => {
      const target = value === unreadableSequenceState ? null : value;
      return { name, source: null, target, state: 'differs' };
    }),
  ];
}

/**
 * Every transaction that writes has an id: with no such transaction running, and an unchanged counter afterwards, nothing was written.
 */
async function watchWrites(source: TableContentSession): Promise<(() => Promise<boolean>) | undefined> {
  const read = async () =>
    (await queryCatalogRows(source, 'SELECT txid_current_snapshot()::text AS snapshot'))[0]?.snapshot ?? '';
  const before = await read();
  // The oldest running transaction, the next one, and those in between.
  return /^(\d+):\1:$/.test(before) ? async () => (await read()) === before : undefined;
}

/**
 * Waits until every replication slot of a subscription has confirmed the current position of the WAL. Resolves with the
 * reason why a slot has not confirmed the position; undefined after success.
 */
async function waitForSlots(
  source: TableContentSession,
  { catchUpTimeout, clock, signal }: DatabaseComparisonOptions,
): Promise<string | undefined> {
  const position = 'CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END';
  const [end] = await queryCatalogRows(source, `SELECT ${position}::text AS lsn`);
  if (end?.lsn == null) return undefined;
  for (const limit = performance.now() + catchUpTimeout; ; await clock.sleep(200, signal)) {
    const slots = await queryCatalogRows(
      source,
      `SELECT slot_name, active, pg_wal_lsn_diff(${quoteLiteral(end.lsn)}::pg_lsn, confirmed_flush_lsn) AS lag
       FROM pg_replication_slots WHERE database = current_database() AND plugin = 'pgoutput' AND NOT temporary
       AND confirmed_flush_lsn < ${quoteLiteral(end.lsn)}::pg_lsn ORDER BY active, slot_name`,
    );
    const [slot] = slots;
    if (slot === undefined) return undefined;
    if (slot.active !== 't' || performance.now() >= limit)
      return `the replication slot ${slot.slot_name} is ${slot.lag} bytes behind${slot.active === 't' ? '' : ', and no server reads it'}`;
  }
}

const leftToStop = { state: 'not_comparable', error: 'the stop of the migration copies them' } as const;

/** Whether a migration of this database runs: it reads a slot of the source. */
async function hasSubscriptionSlot(source: TableContentSession): Promise<boolean> {
  const slots = "database = current_database() AND plugin = 'pgoutput' AND NOT temporary";
  const [row] = await queryCatalogRows(source, `SELECT count(*) AS slots FROM pg_replication_slots WHERE ${slots}`);
  return row?.slots !== '0';
}

/** Replication carries rows of logged tables; the rest is copied when the migration is stopped. */
async function listLeftToStop(
  source: TableContentSession,
  target: TableContentSession,
  sequences: number,
  objects: readonly TableComparison[],
): Promise<readonly string[]> {
  const populated = async (session: TableContentSession) =>
    (
      await queryCatalogRows(
        session,
        `SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
         WHERE c.relkind = 'm' AND c.relispopulated`,
      )
    ).map(({ nspname, relname }) => `${nspname}.${relname}`);
  const there = new Set(await populated(target));
  const views = (await populated(source)).filter((one) => !there.has(one)).length;
  const [large] = objects.filter(({ state }) => state !== 'equal');
  return [
    ...(sequences === 0 ? [] : [`the values of ${countOf(sequences, 'sequence')}`]),
    ...(views === 0 ? [] : [`the rows of ${countOf(views, 'materialized view')}`]),
    ...(large === undefined ? [] : [countOf(large.rows_source ?? 0, 'large object')]),
  ];
}

/** Kinds of source data that COPY cannot read, or that a migration does not copy. */
async function listNotCompared(source: TableContentSession, oldest: number): Promise<readonly string[]> {
  const [row] = await queryCatalogRows(
    source,
    `SELECT (SELECT count(*) FROM pg_class WHERE relkind = 'm') AS views, (SELECT count(*) FROM pg_class WHERE relkind = 'f') AS foreign_tables,
       (SELECT count(*) FROM pg_class c WHERE c.relkind = 'r' AND c.relpersistence <> 't' AND EXISTS (SELECT 1 FROM pg_depend d
         WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')) AS extension_tables,
       (SELECT count(*) FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid WHERE c.relkind = 'r' AND a.attnum > 0
         AND NOT a.attisdropped AND a.atttypid IN ('float4'::regtype, 'float8'::regtype, '_float4'::regtype, '_float8'::regtype)
         AND c.oid >= 16384) AS floats`,
  );
  const list = (count: string | null | undefined, one: string, many: string) =>
    count == null || count === '0' ? [] : [count === '1' ? `1 ${one}` : `${count} ${many}`];
  return [
    ...list(row?.views, 'materialized view', 'materialized views'),
    ...list(row?.foreign_tables, 'foreign table', 'foreign tables'),
    ...list(row?.extension_tables, 'table of an extension', 'tables of extensions'),
    ...(oldest >= 120_000 || row?.floats == null || row.floats === '0'
      ? []
      : [
          'digits of floating-point numbers after the 15th (6th for float4), because a server is older than PostgreSQL 12',
        ]),
  ];
}
