import type { PgSession } from '../../postgresql/connection.ts';
import { releaseOf, releaseWords } from '../../postgresql/version.ts';
import { made, ours } from './clauses.ts';
import type { Part, Versions } from './part.ts';
import { columnOf, oneValue } from './session.ts';

/** Empty: a schema can go from the one release to the other. */
export function unfitVersions({ from, to }: Versions): readonly string[] {
  if (from < oldest) {
    return [`PostgreSQL ${releaseWords(from)} is older than ${releaseWords(oldest)}, the oldest that can be read`];
  }
  if (releaseOf(from) <= releaseOf(to)) return [];
  return [`PostgreSQL ${releaseWords(from)} is newer than the target, which is ${releaseWords(to)}`];
}

/** The oldest release whose catalogue is asked in words it knows. */
const oldest = 120_000;

/** Empty: the target is, and its encoding can hold what the source has. */
export async function unfitTarget(source: PgSession, target: PgSession): Promise<readonly string[]> {
  const [from, to] = [await oneValue(source, encoding), await oneValue(target, encoding)];
  return [
    ...(from === 'SQL_ASCII' && to !== from
      ? [`the source says nothing of its encoding (SQL_ASCII), and the target is ${to}`]
      : []),
    ...(await occupants(target)).map((name) => `${name} (already in the target)`),
  ];
}

const encoding = `SELECT pg_encoding_to_char(encoding) AS value FROM pg_database WHERE datname = current_database()`;

/** Names of what somebody already made in this database; extensions may be there. */
async function occupants(session: PgSession): Promise<readonly string[]> {
  return await columnOf(
    session,
    `SELECT name FROM (
      SELECT format('%s.%s', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE ${ours('n')} AND ${made('pg_class', 'c.oid')} AND c.relkind IN ('r', 'p', 'v', 'm', 'S', 'f', 'c')
      UNION ALL SELECT format('%s.%s', n.nspname, t.typname) FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
        WHERE ${ours('n')} AND ${made('pg_type', 't.oid')} AND t.typtype IN ('e', 'd', 'r')
      UNION ALL SELECT format('%s.%s', n.nspname, p.proname) FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
        WHERE ${ours('n')} AND ${made('pg_proc', 'p.oid')}
      UNION ALL SELECT format('schema %s', n.nspname) FROM pg_namespace n
        WHERE ${ours('n')} AND ${made('pg_namespace', 'n.oid')} AND n.nspname <> 'public'
    ) AS x(name) ORDER BY name LIMIT 20`,
    'name',
  );
}

/** What parts want of the target and it does not have, each with the part that wants it. */
export async function missing(session: PgSession, parts: readonly Part[]): Promise<readonly string[]> {
  const has = new Set(await columnOf(session, holdings, 'name'));
  return parts.flatMap(({ name, wants }) =>
    wants
      .filter((want) => !has.has(want))
      .map((want) => {
        const [what, ...rest] = want.split(':');
        const thing = `${what} ${rest.join(':')}`;
        return thing === name ? `${name} (not on the target)` : `${name} (the target has no ${thing})`;
      }),
  );
}

const holdings = `SELECT 'extension:' || name AS name FROM pg_available_extensions
  UNION ALL SELECT 'role:' || rolname FROM pg_roles
  UNION ALL SELECT 'language:' || lanname FROM pg_language`;
