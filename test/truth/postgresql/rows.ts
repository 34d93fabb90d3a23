import pg from 'pg';
import { quoteIdentifier, quoteLiteral } from '../../../src/postgresql/quote.ts';
import type { Postgres } from '../../fixtures/postgres.ts';

/** Through the socket as the superuser, whatever settings a database has; a statement that takes longer than `limit` fails. */
export async function within<T>(
  server: Postgres,
  database: string,
  work: (session: pg.Client) => Promise<T>,
  limit = 20_000,
): Promise<T> {
  const session = new pg.Client({
    host: server.folder,
    port: server.port,
    user: 'postgres',
    database,
    query_timeout: limit,
    options:
      '-c default_transaction_read_only=off -c search_path=public -c client_encoding=UTF8 -c quote_all_identifiers=off',
  });
  session.on('error', () => {});
  await session.connect();
  try {
    return await work(session);
  } finally {
    await session.end();
  }
}

interface Table {
  readonly schema: string;
  readonly name: string;
  readonly quoted: string;
  readonly unlogged: boolean;
  /** A column that can be written; undefined: there is none. */
  readonly column: string | undefined;
}

/** Tables of people, those of extensions left out. */
async function tablesIn(session: pg.Client): Promise<readonly Table[]> {
  const { rows } = await session.query(`
    SELECT n.nspname AS schema, c.relname AS name, c.relpersistence = 'u' AS unlogged, (SELECT a.attname FROM pg_attribute a
      WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '' AND a.attidentity <> 'a'
      ORDER BY a.attnum LIMIT 1) AS "column"
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'r' AND c.relpersistence <> 't' AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
    ORDER BY c.oid`);
  return rows.map(({ schema, name, unlogged, column }) => ({
    schema: quoteIdentifier(String(schema)),
    name: schema === 'public' ? String(name) : `${schema}.${name}`,
    quoted: `${quoteIdentifier(String(schema))}.${quoteIdentifier(String(name))}`,
    unlogged: unlogged === true,
    column: column == null ? undefined : quoteIdentifier(String(column)),
  }));
}

/** Two rows for every empty table that takes them: what has to be told is made up by type, the rest is left to its default. */
export async function fill(server: Postgres, database: string): Promise<void> {
  await within(server, database, async (session) => {
    for (const { quoted } of await tablesIn(session)) {
      const { rows: columns } = await session.query(
        `SELECT attname, format_type(atttypid, NULL) AS type FROM pg_attribute a WHERE attrelid = ${quoteLiteral(quoted)}::regclass
         AND attnum > 0 AND NOT attisdropped AND attnotnull AND NOT atthasdef AND attidentity = '' AND attgenerated = ''`,
      );
      const { rows: held } = await session.query(`SELECT 1 FROM ONLY ${quoted} LIMIT 1`);
      if (held.length > 0) continue;
      for (const at of [1, 2]) {
        const values = columns.map(({ type }) =>
          /int|numeric|oid/.test(String(type)) ? at : madeUp(String(type), at),
        );
        const names = columns.map(({ attname }) => quoteIdentifier(String(attname)));
        const rest = names.length === 0 ? 'DEFAULT VALUES' : `(${names.join(', ')}) VALUES (${values.join(', ')})`;
        await session.query(`INSERT INTO ${quoted} ${rest}`).catch(() => {});
      }
    }
  });
}

function madeUp(type: string, at: number): string {
  return type === 'uuid' ? `'00000000-0000-0000-0000-00000000000${at}'` : `'w${at}'`;
}

/** What the application says: it writes every table it may, but those it is said to leave alone. */
export async function statementsOf(
  server: Postgres,
  database: string,
  quiet: readonly string[] | 'all',
  own: readonly string[],
): Promise<readonly string[]> {
  return within(server, database, async (session) => {
    const all = (await tablesIn(session)).flatMap(({ name, quoted, column }) => {
      if (name === 'base' || quiet === 'all' || quiet.includes(name)) return [];
      const one = `WHERE ctid = (SELECT ctid FROM ONLY ${quoted} LIMIT 1)`;
      const update = column === undefined ? [] : [`UPDATE ONLY ${quoted} SET ${column} = ${column} ${one}`];
      return [...update, `DELETE FROM ONLY ${quoted} ${one}`];
    });
    return possibleStatements(session, [...usual, ...own, ...all]);
  });
}

const usual = [
  "INSERT INTO base SELECT max(id) + 1, 'canary' FROM base",
  "UPDATE base SET t = 'changed' WHERE id = (SELECT min(id) FROM base)",
  'DELETE FROM base WHERE id = (SELECT max(id) FROM base WHERE id < 50)',
];

/** What fails without a migration, after the statements before it, proves nothing against it. */
async function possibleStatements(session: pg.Client, statements: readonly string[]): Promise<readonly string[]> {
  const possible: string[] = [];
  await session.query('BEGIN');
  try {
    for (const statement of statements) {
      await session.query('SAVEPOINT before');
      try {
        await session.query(statement);
        // What is checked at the end of a transaction only would fail there.
        await session.query('SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED');
        possible.push(statement);
      } catch {
        await session.query('ROLLBACK TO SAVEPOINT before');
      }
    }
  } finally {
    await session.query('ROLLBACK');
  }
  return possible;
}

/** Says them, each in a transaction of its own. Resolves with what the application would complain of. */
export async function runApplicationStatements(
  server: Postgres,
  database: string,
  statements: readonly string[],
): Promise<readonly string[]> {
  const complaints: string[] = [];
  let left = statements;
  // A session whose statement took too long is not usable any more.
  while (left.length > 0) {
    left = await within(
      server,
      database,
      (session) => runUntilFailure(session, left, { complaints, isWaiting: () => isBackendWaiting(server, session) }),
      commitLimit,
    );
  }
  return complaints;
}

/** Resolves with the statements after the first one that failed. */
async function runUntilFailure(
  session: pg.Client,
  statements: readonly string[],
  { complaints, isWaiting }: { readonly complaints: string[]; readonly isWaiting: () => Promise<boolean> },
): Promise<readonly string[]> {
  for (const [at, statement] of statements.entries()) {
    try {
      await session.query(statement);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const isTimeout = why === 'Query read timeout';
      if (!isTimeout || (await isWaiting()))
        complaints.push(`${statement.slice(0, 60)}: ${isTimeout ? 'the commit was delayed' : why}`);
      return statements.slice(at + 1);
    }
  }
  return [];
}

/** A commit that takes longer may be delayed. */
const commitLimit = 4000;

/**
 * Whether the backend waits for a standby or for a lock. On a busy machine a statement may take longer than the limit without:
 * then resolves with false as soon as it has ended.
 */
async function isBackendWaiting(server: Postgres, session: pg.Client): Promise<boolean> {
  const { processID } = session as pg.Client & { readonly processID: number };
  return within(server, 'postgres', async (other) => {
    for (;;) {
      const { rows } = await other.query(
        "SELECT wait_event_type = 'Lock' OR wait_event = 'SyncRep' AS waits FROM pg_stat_activity WHERE pid = $1 AND state <> 'idle'",
        [processID],
      );
      if (rows.length === 0) return false;
      if (rows[0].waits === true) return true;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  });
}

/** Tables whose rows are not the same on both sides; large objects and unlogged tables only where nothing announced their loss. */
export async function differences(
  source: Postgres,
  target: Postgres,
  database: string,
  announced: readonly string[],
): Promise<readonly string[]> {
  const isAnnounced = (what: string) => announced.some((text) => text.includes(what));
  const tables = await within(source, database, tablesIn);
  const wanted = tables.filter(({ unlogged }) => !unlogged || !isAnnounced('unlogged'));
  const [here, there] = await Promise.all([contents(source, database, wanted), contents(target, database, wanted)]);
  const differing = wanted.filter((_table, at) => here[at] !== there[at]);
  const objects = isAnnounced('large object') ? [] : await largeObjects(source, target, database);
  return [...differing.map(({ name }) => `${name} differs`), ...objects];
}

/** Every table with the number of its rows and a hash of them. */
export async function contentsOf(server: Postgres, database: string): Promise<readonly string[]> {
  const tables = await within(server, database, tablesIn);
  const found = await contents(server, database, tables);
  return tables.map(({ name }, at) => `${name} ${found[at]}`);
}

async function contents(server: Postgres, database: string, tables: readonly Table[]): Promise<readonly string[]> {
  return within(server, database, async (session) => {
    // A database that writes its values in another way holds the same rows.
    await session.query("SET timezone = 'UTC'; SET datestyle = 'ISO, MDY'; SET intervalstyle = 'postgres'");
    const found: string[] = [];
    for (const { schema, quoted } of tables) {
      // Planning parses the functions of statistics objects, which may need the search_path of their application.
      await session.query(`SET search_path = ${schema}, public`);
      found.push(
        await session
          .query(
            `SELECT count(*) || ' ' || coalesce(md5(string_agg(hash, '' ORDER BY hash)), '') AS all_rows FROM (SELECT
               CASE WHEN getdatabaseencoding() = 'SQL_ASCII' THEN md5(the_row::text) ELSE md5(convert_to(the_row::text, 'UTF8')) END
               FROM ONLY ${quoted} AS the_row) AS hashed (hash)`,
          )
          .then(
            ({ rows }) => String(rows[0]?.all_rows),
            (error: unknown) => `unreadable on ${server.port}: ${error}`,
          ),
      );
    }
    return found;
  });
}

async function largeObjects(source: Postgres, target: Postgres, database: string): Promise<readonly string[]> {
  const [here, there] = await Promise.all(
    [source, target].map((server) => server.query('SELECT count(*) AS n FROM pg_largeobject_metadata', database)),
  );
  return here?.[0]?.n === there?.[0]?.n ? [] : ['large objects are missing'];
}
