import { CliError } from '../../../base/errors.ts';
import { sanitizeReportLine } from '../../../base/sanitize.ts';
import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import { quoteIdentifier, quoteLiteral } from '../../../postgresql/quote.ts';
import type { PostgresqlRow } from '../../../postgresql/rows.ts';
import type { SafeSession } from '../../../postgresql/search-path-safe-session.ts';
import type { EngineSystem } from '../../engine/index.ts';
import { lastRows, singleValue, sqlStateOf, withSession } from '../../engine/tools.ts';

type QuerySession = Pick<SafeSession, 'query'>;

/** The objects and settings of an empty database, recorded so that this state can be restored. */
export interface ObjectNames {
  readonly extensions: readonly string[];
  readonly schemas: readonly string[];
  readonly publications: readonly string[];
  readonly eventTriggers: readonly string[];
}

export const databaseOidQuery = 'SELECT oid FROM pg_database WHERE datname = current_database()';

/** At most 20 objects of users in the database, such as `table public.t`. Objects of extensions do not count. */
export async function listExisting(session: QuerySession): Promise<readonly string[]> {
  return (await listUserObjects(session)).slice(0, 20).map(formatUserObject);
}

function formatUserObject({ kind, quoted }: Pick<UserObject, 'kind' | 'quoted'>): string {
  return `${kind.toLowerCase()} ${quoted}`;
}

export async function readObjectNames(session: QuerySession): Promise<ObjectNames> {
  const names = async (text: string) => ((await session.query(text)).at(-1) ?? []).map(({ name }) => name ?? '');
  return {
    extensions: await names('SELECT extname AS name FROM pg_extension ORDER BY 1'),
    schemas: await names(`SELECT nspname AS name FROM pg_namespace WHERE ${isUserSchema('nspname')} ORDER BY 1`),
    publications: await names('SELECT pubname AS name FROM pg_publication ORDER BY 1'),
    eventTriggers: await names('SELECT evtname AS name FROM pg_event_trigger ORDER BY 1'),
  };
}

/**
 * Drops all objects that were created after the recorded state. Resolves with the objects that still exist.
 * @param owners names of the roles that own the copied objects
 */
export async function dropAddedObjects(
  session: QuerySession,
  before: ObjectNames,
  owners: readonly string[],
): Promise<readonly string[]> {
  const now = await readObjectNames(session);
  const fresh = (kind: keyof ObjectNames) =>
    now[kind].filter((name) => !before[kind].includes(name)).map(quoteIdentifier);
  // Event triggers are dropped first, because they would fire for the other statements.
  for (const name of fresh('eventTriggers')) await tryStatement(session, `DROP EVENT TRIGGER ${name}`);
  for (const name of owners) await tryStatement(session, `DROP OWNED BY ${quoteIdentifier(name)} CASCADE`);
  for (const name of fresh('publications')) await tryStatement(session, `DROP PUBLICATION ${name}`);
  for (const name of fresh('extensions')) await tryStatement(session, `DROP EXTENSION IF EXISTS ${name} CASCADE`);
  for (const name of fresh('schemas')) await tryStatement(session, `DROP SCHEMA IF EXISTS ${name} CASCADE`);
  for (const { kind, quoted } of await listUserObjects(session))
    await tryStatement(session, `DROP ${kind} IF EXISTS ${quoted} CASCADE`);
  await session.query('SELECT lo_unlink(oid) FROM pg_largeobject_metadata');
  return listExisting(session);
}

/**
 * Drops only what certainly belongs to an interrupted rehearsal: the objects that its own roles own. Others may have
 * created objects in the database since the rehearsal was interrupted. The statements drop no object of another owner,
 * and fail if such an object depends on an object of the rehearsal.
 * @param owners names of the roles that own the copied objects
 */
export async function dropOwnedObjects(session: QuerySession, owners: readonly string[]): Promise<void> {
  if (owners.length === 0) return;
  const isOfRehearsal = `pg_get_userbyid(p.proowner) IN (${owners.map(quoteLiteral).join(', ')})`;
  const triggers = await session.query(
    `SELECT e.evtname AS name FROM pg_event_trigger e JOIN pg_proc p ON p.oid = e.evtfoid WHERE ${isOfRehearsal}`,
  );
  // A superuser owns every event trigger. A trigger that calls a function of the rehearsal belongs to the rehearsal,
  // and would fire for the next statement.
  for (const { name } of triggers.at(-1) ?? [])
    await session.query(`DROP EVENT TRIGGER ${quoteIdentifier(name ?? '')}`);
  // A superuser owns the extensions, so the schemas of extensions cannot be dropped with the other objects. They are reported.
  const schemas = await session.query(
    `SELECT DISTINCT n.nspname AS name FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
     WHERE pg_get_userbyid(n.nspowner) IN (${owners.map(quoteLiteral).join(', ')})`,
  );
  const statements = (schemas.at(-1) ?? []).map(
    ({ name }) => `ALTER SCHEMA ${quoteIdentifier(name ?? '')} OWNER TO CURRENT_USER`,
  );
  const dropOwned = `DROP OWNED BY ${owners.map(quoteIdentifier).join(', ')} RESTRICT`;
  await session.query([...statements, dropOwned].join('; '));
}

/**
 * Objects that were created after the recorded state and that other roles own, such as `table public.t`; of each kind
 * of the list at most 20.
 */
export async function listForeign(
  session: QuerySession,
  before: ObjectNames,
  owners: readonly string[],
): Promise<readonly string[]> {
  const rows = await session.query(`SELECT kind, name, quoted, pg_get_userbyid(owner) AS owner FROM (
    SELECT 'EXTENSION' AS kind, extname AS name, format('%I', extname) AS quoted, extowner AS owner FROM pg_extension
    UNION ALL SELECT 'PUBLICATION', pubname, format('%I', pubname), pubowner FROM pg_publication
    UNION ALL SELECT 'EVENT TRIGGER', evtname, format('%I', evtname), evtowner FROM pg_event_trigger
  ) AS x ORDER BY kind, name`);
  const namesBefore = new Map<string, readonly string[] | undefined>([
    ['EXTENSION', before.extensions],
    ['PUBLICATION', before.publications],
    ['EVENT TRIGGER', before.eventTriggers],
  ]);
  const isFresh = ({ kind, name }: PostgresqlRow) => namesBefore.get(kind ?? '')?.includes(name ?? '') === false;
  const isOfOthers = ({ owner }: { readonly owner?: string | null }) => !owners.includes(owner ?? '');
  const fresh = (rows.at(-1) ?? []).filter(isFresh).filter(isOfOthers);
  return [
    ...(await listUserObjects(session)).filter(isOfOthers).slice(0, 20).map(formatUserObject),
    ...fresh.slice(0, 20).map(({ kind, quoted }) => formatUserObject({ kind: kind ?? '', quoted: quoted ?? '' })),
  ];
}

/**
 * At most 20 objects of other roles, such as `table public.t`, of the kinds that only an owner role creates during a
 * rehearsal: a superuser may create schemas for extensions, and creates the subscription.
 */
export async function listForeignCopies(session: QuerySession, owners: readonly string[]): Promise<readonly string[]> {
  const objects = (await listUserObjects(session)).filter(
    ({ kind, owner }) => kind !== 'SCHEMA' && kind !== 'SUBSCRIPTION' && !owners.includes(owner),
  );
  return objects.slice(0, 20).map(formatUserObject);
}

/** Errors are ignored, because the next query lists the objects that still exist. */
async function tryStatement(session: QuerySession, statement: string): Promise<void> {
  await session.query(statement).catch(() => {});
}

interface UserObject {
  readonly kind: string;
  readonly quoted: string;
  readonly owner: string;
}

/** Without the objects of extensions, and the constructors of range types, which belong to the bootstrap superuser. */
async function listUserObjects(session: QuerySession): Promise<readonly UserObject[]> {
  const rows = await session.query(`SELECT kind, quoted, pg_get_userbyid(owner) AS owner FROM (
    SELECT 1 AS step, CASE c.relkind WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW' WHEN 'S' THEN 'SEQUENCE'
        WHEN 'f' THEN 'FOREIGN TABLE' WHEN 'c' THEN 'TYPE' ELSE 'TABLE' END AS kind,
      format('%I.%I', n.nspname, c.relname) AS quoted, c.relowner AS owner
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE c.relkind IN ('r', 'p', 'v', 'm', 'S', 'f', 'c') AND c.relpersistence <> 't'
      AND ${isUserSchema('n.nspname')} AND ${isNotOfExtension('pg_class', 'c.oid')}
    UNION ALL SELECT 2, 'ROUTINE', p.oid::regprocedure::text, p.proowner
      FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
      WHERE ${isUserSchema('n.nspname')} AND ${isNotOfExtension('pg_proc', 'p.oid')}
      AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'i')
    UNION ALL SELECT 3, CASE t.typtype WHEN 'd' THEN 'DOMAIN' ELSE 'TYPE' END, format('%I.%I', n.nspname, t.typname),
      t.typowner
      FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
      WHERE t.typtype IN ('e', 'd', 'r') AND ${isUserSchema('n.nspname')} AND ${isNotOfExtension('pg_type', 't.oid')}
    UNION ALL SELECT 4, 'COLLATION', format('%I.%I', n.nspname, l.collname), l.collowner
      FROM pg_collation l JOIN pg_namespace n ON n.oid = l.collnamespace
      WHERE ${isUserSchema('n.nspname')} AND ${isNotOfExtension('pg_collation', 'l.oid')}
    UNION ALL SELECT 5, 'SCHEMA', format('%I', n.nspname), n.nspowner FROM pg_namespace n
      WHERE n.nspname <> 'public' AND ${isUserSchema('n.nspname')} AND ${isNotOfExtension('pg_namespace', 'n.oid')}
    UNION ALL SELECT 6, 'SUBSCRIPTION', format('%I', s.subname), s.subowner FROM pg_subscription s
      WHERE s.subdbid = (SELECT oid FROM pg_database WHERE datname = current_database())
    UNION ALL SELECT 7, 'LARGE OBJECT', m.oid::text, m.lomowner FROM pg_largeobject_metadata m
  ) AS x ORDER BY step, quoted`);
  return (rows.at(-1) ?? []).map(({ kind, quoted, owner }) => ({
    kind: kind ?? '',
    quoted: quoted ?? '',
    owner: owner ?? '',
  }));
}

function isUserSchema(schema: string): string {
  return `${schema} !~ '^pg_' AND ${schema} <> 'information_schema'`;
}

function isNotOfExtension(catalogue: string, oid: string): string {
  return `NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = ${quoteLiteral(catalogue)}::regclass AND d.objid = ${oid} AND d.deptype = 'e')`;
}

/** Advisory locks have a number: here the first 3 bytes of the SHA-256 of "cloudctl db rehearse". */
const lockNumber = 0xb41a13;

export interface TargetLock {
  /** Ends the session, and with it the lock. */
  release(): Promise<void>;
}

/**
 * Takes an advisory lock in the target and holds it with a session of its own, so that rehearsals of other machines do
 * not use the target at the same time. The server releases the lock when the session ends, also after a crash. Throws a
 * CliError with code `busy` that names the session of the other rehearsal.
 * @param source the source as `HOST:PORT`, which an error on another machine prints
 */
export async function lockTarget(
  target: PostgresqlEndpoint,
  source: string,
  ports: EngineSystem,
  signal: AbortSignal,
): Promise<TargetLock> {
  const held = await openLockSession(target, { name: `${applicationNamePrefix}${source}`, signal }, ports);
  try {
    await acquireLock(held.session, target, ports, signal);
    return { release: held.end };
  } catch (error) {
    await held.end();
    throw error;
  }
}

async function acquireLock(
  session: SafeSession,
  target: PostgresqlEndpoint,
  ports: EngineSystem,
  signal: AbortSignal,
): Promise<void> {
  // The server notices within two minutes that the machine of a rehearsal does not respond any more.
  await session.query('SET tcp_keepalives_idle = 60; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 6');
  // The session of a rehearsal that was killed just now may still exist.
  for (let attempt = 0; attempt < 5; attempt++) {
    if (attempt > 0) await ports.sleep(200, signal);
    if ((await singleValue(session, `SELECT pg_try_advisory_lock(${lockNumber})`)) === 't') return;
  }
  throw await buildBusyError(session, target);
}

const applicationNamePrefix = 'cloudctl-rehearsal of ';

interface OpenLockSession {
  readonly session: SafeSession;
  readonly end: () => Promise<void>;
}

/** Advisory locks belong to a database, so all rehearsals must take theirs in the same one: `postgres`. */
async function openLockSession(
  target: PostgresqlEndpoint,
  opening: { readonly name: string; readonly signal: AbortSignal },
  ports: EngineSystem,
): Promise<OpenLockSession> {
  try {
    return await openUntilEnd({ ...target, dbname: 'postgres' }, opening, ports);
  } catch (error) {
    // A lock in another database does not exclude rehearsals that lock `postgres`, so it is taken only if this user cannot use `postgres`.
    const isClosed = /^(3D000|42501|28...)$/.test(sqlStateOf(error) ?? '');
    if (target.dbname === 'postgres' || !isClosed) throw error;
    return openUntilEnd(target, opening, ports);
  }
}

function openUntilEnd(
  endpoint: PostgresqlEndpoint,
  opening: { readonly name: string; readonly signal: AbortSignal },
  ports: EngineSystem,
): Promise<OpenLockSession> {
  return new Promise((resolve, reject) => {
    const ended = withSession(endpoint, ports, opening, async (session) => {
      await new Promise<void>((release) => {
        const end = () => {
          release();
          return ended;
        };
        resolve({ session, end });
      });
    });
    ended.catch(reject);
  });
}

async function buildBusyError(session: SafeSession, target: PostgresqlEndpoint): Promise<CliError> {
  const [holder] = await lastRows(
    session,
    `SELECT a.pid, a.application_name AS name, a.usename AS username, host(a.client_addr) AS address FROM pg_locks l
     JOIN pg_stat_activity a ON a.pid = l.pid WHERE l.locktype = 'advisory' AND l.granted AND l.classid = 0 AND l.objsubid = 1
     AND l.objid = ${lockNumber} AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  );
  const other =
    holder === undefined
      ? 'the other rehearsal has just ended'
      : sanitizeReportLine(
          `${holder.name ?? 'unknown program'}, from ${holder.address ?? 'the server itself'}, user ${holder.username}, process ${holder.pid} of the server`,
        );
  return new CliError('busy', `another rehearsal into ${target.host}:${target.port} is running`, {
    detail: other,
    hint: `wait until that rehearsal ends${holder === undefined ? '' : `; if that process does not exist any more, end its session with \`SELECT pg_catalog.pg_terminate_backend(${holder.pid})\``}`,
  });
}
