import type { PgSession, Row } from '../postgresql/connection.ts';
import { quoteIdentifier, quoteLiteral } from '../postgresql/quote.ts';
import type { Made } from './record.ts';
import type { Left } from './report.ts';

type Asked = Pick<PgSession, 'query'>;

/** What of a rehearsal is gone now, by name, and what is not. */
export interface Cleared {
  readonly gone: readonly string[];
  readonly left: readonly Left[];
}

/** Drops databases the rehearsal made. One of that name with another oid is somebody else's and stays. */
export function dropDatabases(session: Asked, databases: readonly Made[], version: number): Promise<Cleared> {
  const force = version >= 130_000 ? ' WITH (FORCE)' : '';
  return dropEach(session, databases, {
    what: 'database',
    found: (name) => `SELECT oid FROM pg_database WHERE datname = ${quoteLiteral(name)}`,
    statement: (name) => `DROP DATABASE ${quoteIdentifier(name)}${force}`,
  });
}

/** Roles come after everything they may own or have been granted. */
export function dropRoles(session: Asked, roles: readonly Made[]): Promise<Cleared> {
  // One may hold the other, so those that fail are tried again after the others.
  return dropEach(session, roles, {
    what: 'role',
    found: (name) => `SELECT oid FROM pg_roles WHERE rolname = ${quoteLiteral(name)}`,
    statement: (name) => `DROP ROLE ${quoteIdentifier(name)}`,
  });
}

interface Kind {
  readonly what: string;
  readonly found: (name: string) => string;
  readonly statement: (name: string) => string;
}

/** Of a database; long, because a big one takes a while to be unlinked. */
const limit = 300_000;

async function dropEach(session: Asked, things: readonly Made[], kind: Kind): Promise<Cleared> {
  const gone: string[] = [];
  const left: Left[] = [];
  for (const { name, oid } of things) {
    const reason = await dropOne(session, { name, oid }, kind).catch(wordsOf);
    if (reason === undefined) gone.push(name);
    else {
      const object = `${kind.what} ${name}`;
      left.push({ side: 'target', database: '', object, statement: kind.statement(name), reason });
    }
  }
  return { gone, left };
}

/** undefined: it is not there any more, or was never ours. */
async function dropOne(
  session: Asked,
  { name, oid }: { readonly name: string; readonly oid: string | undefined },
  kind: Kind,
): Promise<string | undefined> {
  const found = firstOf(await session.query(kind.found(name)))?.oid;
  if (found == null || (oid !== undefined && found !== oid)) return undefined;
  if (oid === undefined) return 'it was about to be made when the rehearsal was cut off, and may be somebody else’s';
  await session.query(kind.statement(name), limit);
  return undefined;
}

export function firstOf(answers: readonly (readonly Row[])[]): Row | undefined {
  return answers.at(-1)?.[0];
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
