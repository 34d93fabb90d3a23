import { CliError } from '../../base/errors.ts';
import { sanitizeReportLine } from '../../base/sanitize.ts';
import { clientSideDatabaseErrorCodes, DatabaseConnectError } from '../../platform/connect-error.ts';
import type { Clock } from '../../platform/host.ts';
import { connectPostgresql } from '../../postgresql/connection.ts';
import type { PostgresqlEndpoint } from '../../postgresql/endpoint.ts';
import { quoteLiteral } from '../../postgresql/quote.ts';
import { connectRedis } from '../../redis/connection.ts';
import { parseRedisInfo } from '../../redis/info.ts';
import { replicationObjectName } from '../engine/postgresql/replication-object-names.ts';
import type { DbSource } from '../source/read-source.ts';
import { parseWatchedRedisFacts } from '../watch/redis/redis-facts.ts';
import type { MigrationWatchRecord } from '../watch/watch-record.ts';
import { queryCatalogRows } from './postgresql/rehearsal-tables.ts';

/** How objects of a migration are told from those of other consumers of the source. */
export interface MigrationMarks {
  /** Id of the migration at the service, with which the names of our own engine begin. */
  readonly id: string | undefined;
  /** The record of this migration, if `db migrate` started it on this machine. */
  readonly record: MigrationWatchRecord | undefined;
}

export interface SourceRemains {
  /** Objects of the migration, such as `replication slot cloudctl_… (active)`. */
  readonly own: readonly string[];
  /** A statement for each object of `own`. */
  readonly statements: readonly string[];
  /** Objects that may belong to another consumer, or to the migration. */
  readonly doubtful: readonly string[];
}

/** An object of replication on the source. */
interface FoundObject {
  readonly kind: 'replication slot' | 'publication' | 'replica';
  readonly name: string;
  readonly database: string;
  readonly isActive: boolean;
}

const connectLimit = 10_000;
const removalGrace = 5000;

/**
 * Reads the source until no object of the migration is left there, for a few seconds at most, because a source drops a link
 * or a slot a moment after its use. Rejects with a CliError if a database of the source cannot be read.
 */
export async function findSourceRemains(
  source: DbSource,
  marks: MigrationMarks,
  options: { readonly clock: Clock; readonly signal: AbortSignal; readonly ignoreDbs: readonly string[] },
): Promise<SourceRemains> {
  const { clock, signal } = options;
  for (const end = clock.now() + removalGrace; ; ) {
    const remains = sortByOwner(await readObjects(source, marks, options), marks);
    const isPending = remains.own.length > 0 || (marks.record !== undefined && remains.doubtful.length > 0);
    if (!isPending || clock.now() >= end) return remains;
    await clock.sleep(500, signal);
  }
}

/** What a person runs on a PostgreSQL source, in each migrated database, to see that nothing is left: it returns no row. */
export function postgresRemainsSql(marks: MigrationMarks): string {
  const { prefix, names, before } = marksOf(marks);
  const known = (column: string): string =>
    [
      ...(prefix === undefined ? [] : [`left(${column}, ${prefix.length}) = ${quoteLiteral(prefix)}`]),
      ...(names.length === 0 ? [] : [`${column} IN (${names.map(quoteLiteral).join(', ')})`]),
    ].join(' OR ');
  // Without a record of the state before, any logical slot could be one of the migration.
  const others = (before ?? []).map(quoteLiteral).join(', ');
  const slots = others === '' ? '' : ` AND slot_name NOT IN (${others})`;
  const own = marks.record === undefined ? '' : known('pubname');
  const publications = own === '' ? '' : ` WHERE ${own}`;
  return `SET search_path = pg_catalog, pg_temp; SELECT 'replication slot' AS object, slot_name::text AS name, database::text, active::text FROM pg_replication_slots WHERE slot_type = 'logical'${slots} UNION ALL SELECT 'publication', pubname::text, current_database()::text, NULL FROM pg_publication${publications};`;
}

function marksOf({ id, record }: MigrationMarks) {
  return {
    prefix: id === undefined || id === '' ? undefined : replicationObjectName(id, ''),
    names: (record?.slots ?? []).map(({ name }) => name),
    before: record?.before,
  };
}

function sortByOwner(found: readonly FoundObject[], marks: MigrationMarks): SourceRemains {
  const { prefix, names, before } = marksOf(marks);
  const isOwn = ({ name }: FoundObject): boolean =>
    names.includes(name) || (prefix !== undefined && name.startsWith(prefix));
  const own = found.filter(isOwn);
  // A publication alone retains nothing, and its name says whose it is only with the record or our own engine.
  const doubtful = found.filter(
    (one) => !isOwn(one) && !before?.includes(one.name) && (one.kind !== 'publication' || marks.record === undefined),
  );
  return { own: own.map(describe), statements: own.flatMap(removalOf), doubtful: doubtful.map(describe) };
}

function describe({ kind, name, database, isActive }: FoundObject): string {
  const where = database === '' ? '' : ` in database ${database}`;
  return sanitizeReportLine(`${kind} ${name}${where}${isActive ? ' (active)' : ''}`, 300);
}

function removalOf({ kind, name }: FoundObject): readonly string[] {
  // Only names that a statement can hold unchanged after the text is made printable.
  if (!/^[\w.-]+$/.test(name)) return [];
  if (kind === 'replication slot') return [`SELECT pg_drop_replication_slot(${quoteLiteral(name)});`];
  return kind === 'publication' ? [`DROP PUBLICATION "${name}";`] : [];
}

async function readObjects(
  source: DbSource,
  marks: MigrationMarks,
  { signal, ignoreDbs }: { readonly signal: AbortSignal; readonly ignoreDbs: readonly string[] },
): Promise<readonly FoundObject[]> {
  if (source.engine === 'redis') return readReplicas(source, signal);
  const read = (dbname: string, sql: string) => query(source.source, dbname, sql, signal);
  const databases = await read(
    source.source.dbname,
    'SELECT datname FROM pg_database WHERE datallowconn AND NOT datistemplate ORDER BY datname',
  );
  const names = databases.map(({ datname }) => datname ?? '').filter((name) => !ignoreDbs.includes(name));
  // The session has the safe search path already.
  const sql = postgresRemainsSql({ ...marks, record: undefined }).replace(/^SET [^;]*; /, '');
  const found = new Map<string, FoundObject>();
  for (const dbname of names) {
    for (const { object, name, database, active } of await read(dbname, sql.replace(/;$/, ''))) {
      const kind = object === 'publication' ? 'publication' : 'replication slot';
      const one = { kind, name: name ?? '', database: database ?? '', isActive: active === 'true' } as const;
      found.set(`${kind} ${one.name} ${one.database}`, one);
    }
  }
  return [...found.values()];
}

async function query(source: PostgresqlEndpoint, dbname: string, sql: string, signal: AbortSignal) {
  try {
    const options = { dbname, limit: connectLimit, signal, applicationName: 'cloudctl-stop' };
    const session = await connectPostgresql(source, options);
    try {
      return await queryCatalogRows(session, sql);
    } finally {
      await session.end();
    }
  } catch (error) {
    throw unreadable(error, `database ${dbname} of the source`);
  }
}

async function readReplicas(
  { source }: Extract<DbSource, { engine: 'redis' }>,
  signal: AbortSignal,
): Promise<readonly FoundObject[]> {
  try {
    const session = await connectRedis(source, { limit: connectLimit, signal });
    try {
      const info = parseRedisInfo(String(await session.send(['INFO', 'replication'], connectLimit)));
      const { replicas } = parseWatchedRedisFacts(info, { at: 0, connection: undefined, config: new Map() });
      return replicas.map(({ name, state }) => ({ kind: 'replica', name, database: '', isActive: state === 'online' }));
    } finally {
      session.end();
    }
  } catch (error) {
    throw unreadable(error, 'the source');
  }
}

function unreadable(error: unknown, what: string): unknown {
  if (!(error instanceof Error) || error instanceof TypeError) return error;
  if (error instanceof DatabaseConnectError && error.code === clientSideDatabaseErrorCodes.aborted) return error;
  return new CliError('source_unreachable', sanitizeReportLine(`could not read ${what}: ${error.message}`, 300), {
    cause: error,
  });
}
