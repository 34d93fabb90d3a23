import type { PostgresqlRow } from '../../../postgresql/postgresql-row.ts';
import { quoteIdentifier, quoteLiteral } from '../../../postgresql/quote.ts';
import type { SearchPathSafeSession } from '../../../postgresql/search-path-safe-session.ts';
import { replicationName } from '../../engine/postgresql/names.ts';
import type { RehearsalCreatedObject } from '../rehearsal-record.ts';
import type { RehearsalLeftover } from '../rehearsal-report.ts';

type QuerySession = Pick<SearchPathSafeSession, 'query'>;

export interface RehearsalObjectDropResult {
  /** Names of objects that were dropped, do not exist, or belong to others. */
  readonly dropped: readonly string[];
  /** Objects that could not be dropped. */
  readonly leftovers: readonly RehearsalLeftover[];
  /** Existing objects whose oid is not recorded, so they may belong to others. */
  readonly uncertain: readonly RehearsalLeftover[];
}

/**
 * Drops the databases that the rehearsal created. A database with the same name and another oid belongs to another user
 * and is not dropped.
 */
export function dropRehearsalDatabases(
  session: QuerySession,
  databases: readonly RehearsalCreatedObject[],
  version: number,
): Promise<RehearsalObjectDropResult> {
  const force = version >= 130_000 ? ' WITH (FORCE)' : '';
  return dropEach(session, databases, {
    what: 'database',
    found: (name) => `SELECT oid FROM pg_database WHERE datname = ${quoteLiteral(name)}`,
    statement: (name) => `DROP DATABASE ${quoteIdentifier(name)}${force}`,
  });
}

/** Drops roles, after all objects that they may own or have privileges on. */
export function dropRehearsalRoles(
  session: QuerySession,
  roles: readonly RehearsalCreatedObject[],
): Promise<RehearsalObjectDropResult> {
  // Dropping a role that another role depends on fails, and the failure is reported.
  return dropEach(session, roles, {
    what: 'role',
    found: (name) => `SELECT oid FROM pg_roles WHERE rolname = ${quoteLiteral(name)}`,
    statement: (name) => `DROP ROLE ${quoteIdentifier(name)}`,
  });
}

/**
 * The roles that owned the copied objects of a rehearsal: no other program creates roles whose names contain the id of
 * the rehearsal.
 */
export async function listRehearsalOwnerRoles(
  session: QuerySession,
  id: string,
): Promise<readonly RehearsalCreatedObject[]> {
  const prefix = replicationName(id, '');
  const rows = await session.query(
    `SELECT rolname AS name, oid FROM pg_roles WHERE starts_with(rolname, ${quoteLiteral(prefix)}) ORDER BY 1`,
  );
  return (rows.at(-1) ?? []).map(({ name, oid }) => ({ name: name ?? '', oid: oid ?? '' }));
}

interface ObjectKind {
  readonly what: string;
  readonly found: (name: string) => string;
  readonly statement: (name: string) => string;
}

/** The timeout is long, because dropping a large database must unlink all its files. */
const dropLimitMs = 300_000;

async function dropEach(
  session: QuerySession,
  objects: readonly RehearsalCreatedObject[],
  kind: ObjectKind,
): Promise<RehearsalObjectDropResult> {
  const gone: string[] = [];
  const left: RehearsalLeftover[] = [];
  const uncertain: RehearsalLeftover[] = [];
  for (const { name, oid } of objects) {
    const reason = await dropOne(session, { name, oid }, kind).catch(errorText);
    if (reason === undefined) gone.push(name);
    else {
      const object = `${kind.what} ${name}`;
      const list = oid === undefined ? uncertain : left;
      list.push({ side: 'target', database: '', object, statement: kind.statement(name), reason });
    }
  }
  return { dropped: gone, leftovers: left, uncertain };
}

/**
 * Resolves with the reason of a failure; undefined if the object was dropped, does not exist or belongs to another
 * user.
 */
async function dropOne(
  session: QuerySession,
  { name, oid }: { readonly name: string; readonly oid: string | undefined },
  kind: ObjectKind,
): Promise<string | undefined> {
  const found = getFirstRowOfLastResult(await session.query(kind.found(name)))?.oid;
  if (found == null || (oid !== undefined && found !== oid)) return undefined;
  if (oid === undefined)
    return 'the rehearsal was interrupted while it created the object, so it may belong to another user';
  await session.query(kind.statement(name), dropLimitMs);
  return undefined;
}

export function getFirstRowOfLastResult(answers: readonly (readonly PostgresqlRow[])[]): PostgresqlRow | undefined {
  return answers.at(-1)?.[0];
}

function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
