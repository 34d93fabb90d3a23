import { quoteIdentifier, quoteLiteral } from '../../postgresql/quote.ts';
import type { SearchPathSafeSession } from '../../postgresql/search-path-safe-session.ts';

type QuerySession = Pick<SearchPathSafeSession, 'query'>;

/** The objects and settings of an empty database, recorded so that this state can be restored. */
export interface RehearsalTargetObjectNames {
  readonly extensions: readonly string[];
  readonly schemas: readonly string[];
  readonly publications: readonly string[];
  /** The event triggers; absent in records that earlier versions of the program wrote. */
  readonly eventTriggers?: readonly string[];
}

/** At most 20 objects of users in the database, such as `table public.t`. Objects of extensions do not count. */
export async function listFirstExistingUserObjects(session: QuerySession): Promise<readonly string[]> {
  return (await listUserObjects(session)).slice(0, 20).map(({ kind, quoted }) => `${kind.toLowerCase()} ${quoted}`);
}

export async function readRehearsalTargetObjectNames(session: QuerySession): Promise<RehearsalTargetObjectNames> {
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
export async function dropObjectsAddedToRehearsalTarget(
  session: QuerySession,
  before: RehearsalTargetObjectNames,
  owners: readonly string[],
): Promise<readonly string[]> {
  const now = await readRehearsalTargetObjectNames(session);
  const fresh = (kind: keyof RehearsalTargetObjectNames) =>
    (now[kind] ?? []).filter((name) => before[kind]?.includes(name) === false).map(quoteIdentifier);
  // Event triggers are dropped first, because they would fire for the other statements.
  for (const name of fresh('eventTriggers')) await tryStatement(session, `DROP EVENT TRIGGER ${name}`);
  for (const name of owners) await tryStatement(session, `DROP OWNED BY ${quoteIdentifier(name)} CASCADE`);
  for (const name of fresh('publications')) await tryStatement(session, `DROP PUBLICATION ${name}`);
  for (const name of fresh('extensions')) await tryStatement(session, `DROP EXTENSION IF EXISTS ${name} CASCADE`);
  for (const name of fresh('schemas')) await tryStatement(session, `DROP SCHEMA IF EXISTS ${name} CASCADE`);
  for (const { kind, quoted } of await listUserObjects(session))
    await tryStatement(session, `DROP ${kind} IF EXISTS ${quoted} CASCADE`);
  await session.query('SELECT lo_unlink(oid) FROM pg_largeobject_metadata');
  return listFirstExistingUserObjects(session);
}

/** Errors are ignored, because the next query lists the objects that still exist. */
async function tryStatement(session: QuerySession, statement: string): Promise<void> {
  await session.query(statement).catch(() => {});
}

interface UserObject {
  readonly kind: string;
  readonly quoted: string;
}

async function listUserObjects(session: QuerySession): Promise<readonly UserObject[]> {
  const rows = await session.query(`SELECT kind, quoted FROM (
    SELECT 1 AS step, CASE c.relkind WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW' WHEN 'S' THEN 'SEQUENCE'
        WHEN 'f' THEN 'FOREIGN TABLE' WHEN 'c' THEN 'TYPE' ELSE 'TABLE' END AS kind,
      format('%I.%I', n.nspname, c.relname) AS quoted
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE c.relkind IN ('r', 'p', 'v', 'm', 'S', 'f', 'c') AND c.relpersistence <> 't'
      AND ${isUserSchema('n.nspname')} AND ${isNotOfExtension('pg_class', 'c.oid')}
    UNION ALL SELECT 2, 'ROUTINE', p.oid::regprocedure::text FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
      WHERE ${isUserSchema('n.nspname')} AND ${isNotOfExtension('pg_proc', 'p.oid')}
    UNION ALL SELECT 3, CASE t.typtype WHEN 'd' THEN 'DOMAIN' ELSE 'TYPE' END, format('%I.%I', n.nspname, t.typname)
      FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
      WHERE t.typtype IN ('e', 'd', 'r') AND ${isUserSchema('n.nspname')} AND ${isNotOfExtension('pg_type', 't.oid')}
    UNION ALL SELECT 4, 'COLLATION', format('%I.%I', n.nspname, l.collname)
      FROM pg_collation l JOIN pg_namespace n ON n.oid = l.collnamespace
      WHERE ${isUserSchema('n.nspname')} AND ${isNotOfExtension('pg_collation', 'l.oid')}
    UNION ALL SELECT 5, 'SCHEMA', format('%I', n.nspname) FROM pg_namespace n
      WHERE n.nspname <> 'public' AND ${isUserSchema('n.nspname')} AND ${isNotOfExtension('pg_namespace', 'n.oid')}
    UNION ALL SELECT 6, 'SUBSCRIPTION', format('%I', s.subname) FROM pg_subscription s
      WHERE s.subdbid = (SELECT oid FROM pg_database WHERE datname = current_database())
    UNION ALL SELECT 7, 'LARGE OBJECT', m.oid::text FROM pg_largeobject_metadata m
  ) AS x ORDER BY step, quoted`);
  return (rows.at(-1) ?? []).map(({ kind, quoted }) => ({ kind: kind ?? '', quoted: quoted ?? '' }));
}

function isUserSchema(schema: string): string {
  return `${schema} !~ '^pg_' AND ${schema} <> 'information_schema'`;
}

function isNotOfExtension(catalogue: string, oid: string): string {
  return `NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = ${quoteLiteral(catalogue)}::regclass AND d.objid = ${oid} AND d.deptype = 'e')`;
}
