import { quoteIdentifier } from './quote.ts';

/**
 * Outside comments, scripts for psql contain only printable ASCII, with one statement a line, for three reasons. psql
 * starts a command at every backslash outside quotes. A database name may contain a line end. psql looks for the end of
 * a quote in the client encoding, which the server can set (`ALTER DATABASE … SET client_encoding`): if it is GBK, the
 * last UTF-8 byte of `€` and the quote after it are read as one character.
 */

/** Limits the wait for a lock, because queries of the application wait behind a statement that waits for a lock. */
export const lockTimeoutStatement = "SET lock_timeout = '2s';";

/** Comes before statements with operators or functions: `public`, or the path that a database stores, may have others of these names. */
export const searchPathStatement = 'SET search_path = pg_catalog, pg_temp;';

/**
 * Statements that psql runs first in each session. They override the settings that a database stores for its sessions:
 * the session has the rights of the login role, can write, and resolves a name without a schema in pg_catalog first.
 */
export const psqlSetup: readonly string[] = [
  'SET role = none;',
  'SET default_transaction_read_only = off;',
  searchPathStatement,
  lockTimeoutStatement,
];

/**
 * The psql command that connects to another database of the same server; undefined for the empty name, which would be the
 * database of the connection before.
 */
export function formatPsqlConnect(database: string): string | undefined {
  const uri = databaseUri(database);
  return uri === undefined ? undefined : `\\connect -reuse-previous=on '${uri}'`;
}

/**
 * A database as a connection URI without a server. Each byte of the name that is not a letter or a digit is percent-encoded,
 * so it cannot end the line or be read as connection parameters, as `host=evil dbname=x` would be. Undefined if no database
 * can have this name.
 */
export function databaseUri(database: string): string | undefined {
  if (database === '' || database.includes('\0')) return undefined;
  const name = [...Buffer.from(database)].map((byte) => {
    const character = String.fromCharCode(byte);
    return /[A-Za-z0-9]/.test(character) ? character : `%${byte.toString(16).padStart(2, '0').toUpperCase()}`;
  });
  return `postgresql:///${name.join('')}`;
}

/**
 * A statement as one line of printable ASCII, ended by a semicolon. undefined when it holds text outside quotes that psql or
 * the server could read as more than one statement: a backslash, a comment, a dollar quote, a psql variable, a semicolon, a
 * bracket without its partner (psql sends nothing before the outermost one is closed).
 */
export function singleLineSql(sql: string): string | undefined {
  const parts: string[] = [];
  const open: string[] = [];
  const text = sql.trim().replace(/;$/, '');
  for (let at = 0; at < text.length; ) {
    const part = tokens.map((token) => token.read(text, at)).find((found) => found !== undefined);
    if (part === undefined) return undefined;
    const closing = brackets.get(part.text);
    if (closing !== undefined) open.push(closing);
    else if ((part.text === ')' || part.text === ']') && open.pop() !== part.text) return undefined;
    parts.push(part.text);
    at += part.length;
  }
  return parts.length === 0 || open.length > 0 ? undefined : `${parts.join('')};`;
}

const brackets: ReadonlyMap<string, string> = new Map([
  ['(', ')'],
  ['[', ']'],
]);

interface ReadToken {
  /** In the statement. */
  readonly length: number;
  /** In the script. */
  readonly text: string;
}

interface Token {
  read(sql: string, at: number): ReadToken | undefined;
}

function token(pattern: RegExp, write: (inside: string) => string | undefined): Token {
  const sticky = new RegExp(pattern.source, 'y');
  return {
    read(sql, at) {
      sticky.lastIndex = at;
      const [whole, inside] = sticky.exec(sql) ?? [];
      const text = whole === undefined ? undefined : write(inside ?? whole);
      return whole === undefined || text === undefined ? undefined : { length: whole.length, text };
    },
  };
}

const tokens: readonly Token[] = [
  token(/[Ee]'((?:[^'\\]|''|\\[\\'])*)'/, (inside) =>
    literal(inside.replaceAll(/''|\\([\\'])/g, (found, one) => one ?? found[0])),
  ),
  token(/'((?:[^']|'')*)'/, (inside) => literal(inside.replaceAll("''", "'"))),
  token(/"((?:[^"]|"")+)"/, (inside) => identifier(inside.replaceAll('""', '"'))),
  // A letter before a quote changes what the quote means, except in a bit string.
  token(/[BbXx]'[0-9A-Fa-f]*'/, (bits) => bits),
  token(/[A-Za-z0-9_]+(?![A-Za-z0-9_'"]|&['"])/, (word) => word),
  token(/\s+/, () => ' '),
  token(/::|--|\/\*|[-()[\].,=<>+*/%~!@#^&|?]/, (mark) => (mark === '--' || mark === '/*' ? undefined : mark)),
];

function identifier(name: string): string | undefined {
  if (name.includes('\0')) return undefined;
  if (isPrintable(name)) return quoteIdentifier(name);
  return `U&"${escaped(name.replaceAll('"', '""').replaceAll('\\', '\\\\'), (hex) => (hex.length > 4 ? `\\+${hex.padStart(6, '0')}` : `\\${hex.padStart(4, '0')}`))}"`;
}

/** A string literal that does not depend on standard_conforming_strings, which the server may set to off. */
function literal(text: string): string | undefined {
  if (text.includes('\0')) return undefined;
  const doubled = text.replaceAll("'", "''");
  if (isPrintable(text) && !text.includes('\\')) return `'${doubled}'`;
  return `E'${escaped(doubled.replaceAll('\\', '\\\\'), (hex) => (hex.length > 4 ? `\\U${hex.padStart(8, '0')}` : `\\u${hex.padStart(4, '0')}`))}'`;
}

function isPrintable(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}

function escaped(text: string, write: (hex: string) => string): string {
  return text.replaceAll(/[^\x20-\x7e]/gu, (character) => write(character.codePointAt(0)!.toString(16)));
}
