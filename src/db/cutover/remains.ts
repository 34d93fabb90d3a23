import { CliError } from '../../base/errors.ts';
import { maxTextLength, sanitizeReportLine } from '../../base/sanitize.ts';
import { countOf, formatBytes } from '../../base/text.ts';
import type { Clock } from '../../platform/host.ts';
import { ConnectError, clientErrorCodes } from '../../platform/network-errors.ts';
import { connectPostgresql } from '../../postgresql/connection.ts';
import type { PostgresqlEndpoint } from '../../postgresql/endpoint.ts';
import { formatPsqlConnect, searchPathStatement } from '../../postgresql/psql-script.ts';
import { quoteIdentifier, quoteLiteral } from '../../postgresql/quote.ts';
import { connectRedis } from '../../redis/connection.ts';
import { parseInfo } from '../../redis/info.ts';
import { replicationName } from '../engine/tools.ts';
import type { DbSource } from '../source/index.ts';
import { parseRedisFacts } from '../watch/index.ts';
import type { WatchRecord } from '../watch/record.ts';
import { queryCatalogRows } from './postgresql/tables.ts';

/** How objects of a migration are told from those of other consumers of the source. */
export interface MigrationMarks {
  /** Id of the migration at the service, with which the names of our own engine begin. */
  readonly id: string | undefined;
  /** The record of this migration, if `db migrate` started it on this machine. */
  readonly record: WatchRecord | undefined;
  /** Slots that the user named. */
  readonly slots?: readonly string[];
}

interface SourceRemains {
  /** Objects of the migration, such as `replication slot cloudctl_… (active)`. */
  readonly own: readonly string[];
  /** Lines for psql that remove the objects of `own`, in whichever database it starts. */
  readonly script: readonly string[];
  /** Objects that may belong to another consumer, or to the migration, and what could not be read. */
  readonly doubtful: readonly string[];
}

/** An object of replication on the source. */
interface FoundObject {
  readonly kind: 'replication slot' | 'publication' | 'replica';
  readonly name: string;
  readonly database: string;
  readonly isActive: boolean;
  /** Bytes of WAL that the source keeps for the slot; undefined if it does not say. */
  readonly retained?: number | undefined;
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
    const { objects, unread } = await readObjects(source, marks, options);
    const remains = sortByOwner(objects, unread, marks);
    const isPending = remains.own.length > 0 || (marks.record !== undefined && remains.doubtful.length > unread.length);
    if (!isPending || clock.now() >= end) return remains;
    await clock.sleep(500, signal);
  }
}

/** The marks of a migration into a cluster: the record counts only if it is of the migration that the service shows. */
export function marksOfMigration(
  { record, cluster, slots }: Pick<MigrationMarks, 'record' | 'slots'> & { readonly cluster: string },
  id: string | undefined,
): MigrationMarks {
  const isOurs = record?.started?.cluster === cluster && record.started.id === id;
  return { id, record: isOurs ? record : undefined, slots: slots ?? [] };
}

export function describeCleanSource(engine: DbSource['engine']): string {
  return engine === 'redis'
    ? 'Nothing is left on the source: it has no replica of the migration.'
    : 'Nothing is left on the source: it has no replication slot and no publication of the migration.';
}

/** How a person finds out whether the migration left something on a source that was not read. */
export function describeRemainsQuery(marks: MigrationMarks): readonly string[] {
  const engine = marks.record?.engine;
  const sql = sanitizeReportLine(postgresRemainsSql(marks));
  const shows = marks.record?.before === undefined ? 'lists nothing of the migration' : 'returns no row';
  return [
    'The source was not read: with `--source`, this command checks that nothing is left there.',
    ...(engine === 'redis' ? [] : [`By hand, in each migrated database of the source, this ${shows}: ${sql}`]),
    ...(engine === 'postgresql'
      ? []
      : ['By hand, on a Redis source, `INFO replication` lists no replica of the migration.']),
  ];
}

/** What an unused slot does, for a person who must decide whether its removal can wait. */
export const slotRisk = 'an unused replication slot retains WAL until the disk of the source is full';

/** The slots that this machine has recorded of the migration and not only assumed, and lines for psql that drop those that are left. */
export function recordedSlots({ record }: MigrationMarks): Pick<SourceRemains, 'own' | 'script'> {
  const certain = (record?.slots ?? []).filter(({ grade }) => grade === 'proven' || grade === 'inferred');
  const slots = certain.map(({ name, database }): FoundObject => {
    return { kind: 'replication slot', name, database, isActive: false };
  });
  return { own: slots.map(describe), script: removalScript(slots) };
}

/**
 * The roles of the migration that own objects of the target, as sentences: what no other role was to own without a decision, such as
 * objects of superusers of the source. Until the migration has ended, such a role also has the schema public. A target that
 * does not answer leaves this unknown.
 */
export async function findKeptRoles(
  target: DbSource,
  id: string | undefined,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (target.engine !== 'postgresql' || id === undefined || id === '') return [];
  const prefix = replicationName(id, '');
  try {
    const rows = await query(
      target.source,
      target.source.dbname,
      `SELECT r.rolname AS role, d.datname AS database, count(*)::text AS objects FROM pg_roles r
       JOIN pg_shdepend s ON s.refclassid = 'pg_authid'::regclass AND s.refobjid = r.oid AND s.deptype = 'o'
       JOIN pg_database d ON d.oid = s.dbid
       WHERE NOT (s.classid = 'pg_namespace'::regclass AND s.objid = 2200)
         AND left(r.rolname, ${prefix.length}) = ${quoteLiteral(prefix)} AND NOT r.rolcanlogin GROUP BY 1, 2 ORDER BY 1, 2`,
      signal,
    );
    return [...new Set(rows.map(({ role }) => role ?? ''))].map((role) => {
      const owned = rows.filter((row) => row.role === role);
      const places = owned.map(({ database, objects }) => `${countOf(Number(objects), 'object')} in ${database}`);
      const name = quoteIdentifier(role);
      return sanitizeReportLine(
        `The role ${role} stays on the target: it cannot log in, and owns ${places.join(', ')}. To remove it, in ${owned.map(({ database }) => database).join(' and ')} run REASSIGN OWNED BY ${name} TO NEW_OWNER; DROP OWNED BY ${name}; then run DROP ROLE ${name}; Choose a NEW_OWNER that is no superuser, because views and functions run with the rights of their owner.`,
        maxTextLength,
      );
    });
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return [];
  }
}

/** What a person runs on a PostgreSQL source, in each migrated database, to see that nothing is left: it returns no row. */
function postgresRemainsSql(marks: MigrationMarks): string {
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
  return `${searchPathStatement} SELECT 'replication slot' AS object, slot_name::text AS name, database::text, active::text, ${retained} AS retained_bytes FROM pg_replication_slots WHERE slot_type = 'logical'${slots} UNION ALL SELECT 'publication', pubname::text, current_database()::text, NULL, NULL FROM pg_publication${publications};`;
}

/** A standby does not know the end of the WAL of its primary. */
const retained = 'CASE WHEN NOT pg_is_in_recovery() THEN (pg_current_wal_lsn() - restart_lsn)::text END';

function marksOf({ id, record, slots = [] }: MigrationMarks) {
  return {
    prefix: id === undefined || id === '' ? undefined : replicationName(id, ''),
    names: [...slots, ...(record?.slots ?? []).map(({ name }) => name)],
    before: record?.before,
  };
}

function sortByOwner(found: readonly FoundObject[], unread: readonly string[], marks: MigrationMarks): SourceRemains {
  const { prefix, names, before } = marksOf(marks);
  const isOwn = ({ name }: FoundObject): boolean =>
    names.includes(name) || (prefix !== undefined && name.startsWith(prefix));
  const own = found.filter(isOwn);
  // A publication alone retains nothing, and its name says whose it is only with the record or our own engine.
  const doubtful = found.filter(
    (one) => !isOwn(one) && !before?.includes(one.name) && (one.kind !== 'publication' || marks.record === undefined),
  );
  return {
    own: own.map(describe),
    script: removalScript(own),
    doubtful: [...doubtful.map(describe), ...unread],
  };
}

function describe({ kind, name, database, isActive, retained: bytes }: FoundObject): string {
  const where = database === '' ? '' : ` in database ${database}`;
  const held = bytes === undefined ? '' : `, which retains ${formatBytes(bytes)} of WAL`;
  return sanitizeReportLine(`${kind} ${name}${where}${isActive ? ' (active)' : ''}${held}`, 300);
}

/** A publication is dropped in its own database only, and the manual asks the same for a logical slot. */
function removalScript(own: readonly FoundObject[]): readonly string[] {
  return [...new Set(own.map(({ database }) => database))].flatMap((database) => {
    const connect = formatPsqlConnect(database);
    const statements = own.filter((one) => one.database === database).flatMap(removalOf);
    return connect === undefined || statements.length === 0 ? [] : [connect, ...statements];
  });
}

function removalOf({ kind, name }: FoundObject): readonly string[] {
  // Only names that a statement can hold unchanged after the text is made printable.
  if (!/^[\w.-]+$/.test(name)) return [];
  if (kind === 'replication slot') return [`SELECT pg_catalog.pg_drop_replication_slot(${quoteLiteral(name)});`];
  return kind === 'publication' ? [`DROP PUBLICATION "${name}";`] : [];
}

async function readObjects(
  source: DbSource,
  marks: MigrationMarks,
  { signal, ignoreDbs }: { readonly signal: AbortSignal; readonly ignoreDbs: readonly string[] },
): Promise<{ readonly objects: readonly FoundObject[]; readonly unread: readonly string[] }> {
  if (source.engine === 'redis') return { objects: await readReplicas(source, signal), unread: [] };
  const read = (dbname: string, sql: string) => query(source.source, dbname, sql, signal);
  const databases = await read(
    source.source.dbname,
    'SELECT datname, pg_is_in_recovery()::text AS standby FROM pg_database WHERE datallowconn AND NOT datistemplate ORDER BY datname',
  );
  const names = databases.map(({ datname }) => datname ?? '').filter((name) => !ignoreDbs.includes(name));
  // The session has the safe search path already.
  const sql = postgresRemainsSql({ ...marks, record: undefined }).replace(/^SET [^;]*; /, '');
  const found = new Map<string, FoundObject>();
  const unread = databases.some(({ standby }) => standby === 'true')
    ? ['the source is a standby, which does not show the slots of its primary']
    : [];
  for (const dbname of names) {
    try {
      for (const { object, name, database, active, retained_bytes: bytes } of await read(
        dbname,
        sql.replace(/;$/, ''),
      )) {
        const kind = object === 'publication' ? 'publication' : 'replication slot';
        const one = {
          ...({ kind, name: name ?? '', database: database ?? '', isActive: active === 'true' } as const),
          retained: bytes == null ? undefined : Number(bytes),
        };
        found.set(`${kind} ${one.name} ${one.database}`, one);
      }
    } catch (error) {
      // The slots of every database are read in each of them, but publications only in their own.
      if (!(error instanceof CliError) || dbname === source.source.dbname) throw error;
      unread.push(`the publications of database ${sanitizeReportLine(dbname, 100)} (${error.message})`);
    }
  }
  return { objects: [...found.values()], unread };
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
      const info = parseInfo(String(await session.send(['INFO', 'replication'], connectLimit)));
      const { replicas } = parseRedisFacts(info, { at: 0, connection: undefined, config: new Map() });
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
  if (error instanceof ConnectError && error.code === clientErrorCodes.aborted) return error;
  return new CliError('source_unreachable', sanitizeReportLine(`could not read ${what}: ${error.message}`, 300), {
    detail: 'it is not proven that nothing of the migration is left on the source',
    hint: 'when the source can be reached, run the same command again: nothing is sent for a migration that has ended',
    cause: error,
  });
}
