import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import { QueryError } from '../../../postgresql/query-error.ts';
import type { SafeSession } from '../../../postgresql/search-path-safe-session.ts';
import { openPinned } from '../session.ts';
import type { SchemaObject } from './object.ts';

/**
 * Milliseconds per statement. The timeout is long, because DDL for a view over a thousand other views takes minutes.
 */
export const statementTimeout = 600_000;

/** application_name of sessions that copy a schema, and of pg_dump. */
export const sessionName = 'cloudctl-schema';

/** Time limit in milliseconds for connecting, in addition to the signal of the caller. */
const connectTimeout = 30_000;

/**
 * Fixed values for settings that change how DDL is written or parsed, which override those of the role and the
 * database. With an empty search_path the server qualifies every name; with quote_all_identifiers a word that is a
 * keyword only in a later release stays a name.
 */
const settings = {
  client_encoding: 'UTF8',
  search_path: '',
  quote_all_identifiers: 'on',
  standard_conforming_strings: 'on',
  transform_null_equals: 'off',
  check_function_bodies: 'off',
  default_tablespace: '',
  default_table_access_method: 'heap',
};

export interface Side {
  readonly session: SafeSession;
  /** `server_version_num`, for example 170005. */
  readonly version: number;
}

/** Runs a task in a new session with fixed settings and closes it in any case. */
export async function withSide<T>(
  endpoint: PostgresqlEndpoint,
  signal: AbortSignal,
  work: (side: Side) => Promise<T>,
  resetSearchPath?: string,
): Promise<T> {
  const options = { name: sessionName, limit: connectTimeout, signal, settings, resetSearchPath };
  const session = await openPinned(endpoint, options);
  try {
    const version = Number(await queryValue(session, `SELECT current_setting('server_version_num') AS value`));
    return await work({ session, version });
  } finally {
    await session.end();
  }
}

/** The value in the column `value` of the first row. */
export async function queryValue(session: SafeSession, text: string): Promise<string | null | undefined> {
  const [rows = []] = await session.query(text, statementTimeout);
  return rows[0]?.value;
}

/** The values of one column in all rows, without nulls. */
export async function queryColumn(session: SafeSession, text: string, name: string): Promise<readonly string[]> {
  const [rows = []] = await session.query(text, statementTimeout);
  return rows.flatMap((row) => row[name] ?? []);
}

export interface Bracket {
  readonly begin: string;
  readonly end: string;
}

export const plainBracket: Bracket = {
  begin: 'BEGIN',
  end: 'COMMIT',
};

/**
 * Creates all parts of the schema in one transaction, or none.
 * @returns the part that the target rejected, with the error message; undefined if all were created. Throws if the
 * connection is lost.
 */
export async function createObjects(
  session: SafeSession,
  parts: readonly SchemaObject[],
  transaction: Bracket,
): Promise<string | undefined> {
  const error = await createAll(session, batchStatements(parts), transaction);
  if (error === undefined) return undefined;
  // A message with several statements does not report which statement failed, so after an error the statements run
  // again one by one, and are rolled back.
  return (await findFailingPart(session, parts, transaction)) ?? error;
}

/**
 * Maximum characters of a message with several statements, because one message for each statement would cost a round
 * trip each.
 */
const batchCharacters = 200_000;

function batchStatements(parts: readonly SchemaObject[]): readonly string[] {
  const all: string[] = [];
  let text = '';
  for (const statement of parts.flatMap(({ statements }) => statements)) {
    text += `${statement}\n;\n`;
    if (text.length > batchCharacters) {
      all.push(text);
      text = '';
    }
  }
  return text === '' ? all : [...all, text];
}

/** Returns the error message of the server; undefined if all statements were committed. */
async function createAll(
  session: SafeSession,
  texts: readonly string[],
  { begin, end }: Bracket,
): Promise<string | undefined> {
  await session.query(begin);
  for (const text of [...texts, end]) {
    const error = await tryStatement(session, text);
    if (error !== undefined) return error;
  }
  return undefined;
}

async function findFailingPart(
  session: SafeSession,
  parts: readonly SchemaObject[],
  { begin }: Bracket,
): Promise<string | undefined> {
  await session.query(begin);
  for (const { name, statements } of parts) {
    for (const statement of statements) {
      const error = await tryStatement(session, statement);
      if (error !== undefined) return `${name} (${error})`;
    }
  }
  await session.query('ROLLBACK');
  return undefined;
}

/** Runs a statement; if it fails, rolls back and returns the error message of the server, else undefined. */
export async function tryStatement(session: SafeSession, text: string): Promise<string | undefined> {
  try {
    await session.query(text, statementTimeout);
    return undefined;
  } catch (error) {
    if (!(error instanceof QueryError) || error.lost) throw error;
    await session.query('ROLLBACK');
    return error.message;
  }
}
