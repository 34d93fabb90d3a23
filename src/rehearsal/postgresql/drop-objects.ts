import type { PostgresqlSession } from '../../postgresql/connection.ts';
import type { PostgresqlRow } from '../../postgresql/postgresql-row.ts';
import { quoteIdentifier, quoteLiteral } from '../../postgresql/quote.ts';
import type { CreatedObject } from '../rehearsal-record.ts';
import type { Leftover } from '../rehearsal-report.ts';

type QuerySession = Pick<PostgresqlSession, 'query'>;

/** What of a rehearsal is gone now, by name, and what is not. */
export interface DropResult {
  readonly dropped: readonly string[];
  readonly leftovers: readonly Leftover[];
}

/** Drops databases the rehearsal made. One of that name with another oid is somebody else's and stays. */
export function dropDatabases(
  session: QuerySession,
  databases: readonly CreatedObject[],
  version: number,
): Promise<DropResult> {
  const force = version >= 130_000 ? ' WITH (FORCE)' : '';
  return dropEach(session, databases, {
    what: 'database',
    found: (name) => `SELECT oid FROM pg_database WHERE datname = ${quoteLiteral(name)}`,
    statement: (name) => `DROP DATABASE ${quoteIdentifier(name)}${force}`,
  });
}

/** Roles come after everything they may own or have been granted. */
export function dropRoles(session: QuerySession, roles: readonly CreatedObject[]): Promise<DropResult> {
  // One may hold the other, so those that fail are tried again after the others.
  return dropEach(session, roles, {
    what: 'role',
    found: (name) => `SELECT oid FROM pg_roles WHERE rolname = ${quoteLiteral(name)}`,
    statement: (name) => `DROP ROLE ${quoteIdentifier(name)}`,
  });
}

interface ObjectKind {
  readonly what: string;
  readonly found: (name: string) => string;
  readonly statement: (name: string) => string;
}

/** Of a database; long, because a big one takes a while to be unlinked. */
const dropLimitMs = 300_000;

async function dropEach(
  session: QuerySession,
  things: readonly CreatedObject[],
  kind: ObjectKind,
): Promise<DropResult> {
  const gone: string[] = [];
  const left: Leftover[] = [];
  for (const { name, oid } of things) {
    const reason = await dropOne(session, { name, oid }, kind).catch(errorText);
    if (reason === undefined) gone.push(name);
    else {
      const object = `${kind.what} ${name}`;
      left.push({ side: 'target', database: '', object, statement: kind.statement(name), reason });
    }
  }
  return { dropped: gone, leftovers: left };
}

/** undefined: it is not there any more, or was never ours. */
async function dropOne(
  session: QuerySession,
  { name, oid }: { readonly name: string; readonly oid: string | undefined },
  kind: ObjectKind,
): Promise<string | undefined> {
  const found = firstRowOf(await session.query(kind.found(name)))?.oid;
  if (found == null || (oid !== undefined && found !== oid)) return undefined;
  if (oid === undefined) return 'it was about to be made when the rehearsal was cut off, and may be somebody else’s';
  await session.query(kind.statement(name), dropLimitMs);
  return undefined;
}

export function firstRowOf(answers: readonly (readonly PostgresqlRow[])[]): PostgresqlRow | undefined {
  return answers.at(-1)?.[0];
}

function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
