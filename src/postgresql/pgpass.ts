import { statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { Secret } from '../base/secret.ts';
import { readText } from '../platform/files.ts';
import type { ProcessEnvironment } from '../platform/host.ts';
import type { PostgresqlEndpoint } from './endpoint.ts';

interface PasswordLookup {
  /** The password; undefined if neither the environment nor a password file has one. */
  readonly password: Secret | undefined;
  /** Why a password file was ignored, as a message for the user. */
  readonly warning: string | undefined;
}

/**
 * Reads the password from PGPASSWORD, else from the password file
 * (https://www.postgresql.org/docs/current/libpq-pgpass.html), like psql.
 */
export function findPgPassword(
  source: PostgresqlEndpoint,
  env: ProcessEnvironment,
  platform: NodeJS.Platform,
): PasswordLookup {
  const { PGPASSWORD = '' } = env;
  if (PGPASSWORD !== '') return { password: new Secret(PGPASSWORD), warning: undefined };
  const path = passwordFile(env, platform);
  if (path === undefined) return { password: undefined, warning: undefined };
  const problem = fileProblem(path, platform);
  if (problem !== undefined) return { password: undefined, warning: `ignored the password file ${path}: ${problem}` };
  const found = searchPgpass(readText(path) ?? '', source);
  return { password: found === undefined ? undefined : new Secret(found), warning: undefined };
}

/**
 * The password in the first matching line of the password file. In a field, a backslash escapes the next character, and
 * `*` alone matches everything.
 */
export function searchPgpass(
  text: string,
  { host, port, dbname, username }: Pick<PostgresqlEndpoint, 'host' | 'port' | 'dbname' | 'username'>,
): string | undefined {
  const wanted = [host, String(port), dbname, username];
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith('#')) continue;
    const fields = fieldsOf(line);
    const isMatch =
      fields.length > 4 && wanted.every((value, at) => fields[at] === '*' || plain(fields[at]!) === value);
    // As in libpq, the first line that matches ends the search, even if its password is empty.
    if (isMatch) return plain(fields[4]!) || undefined;
  }
  return undefined;
}

/** Splits a line at unescaped colons; the fields are still escaped. */
function fieldsOf(line: string): readonly string[] {
  const colons = [...line.matchAll(/\\.|:/gs)].filter(([found]) => found === ':').map(({ index }) => index);
  return [-1, ...colons].map((colon, at) => line.slice(colon + 1, colons[at]));
}

function plain(field: string): string {
  return field.replace(/\\(.)/gs, '$1');
}

/** Undefined for a user without a home folder, such as an unknown user of a container. */
function passwordFile(
  { PGPASSFILE, APPDATA, HOME }: ProcessEnvironment,
  platform: NodeJS.Platform,
): string | undefined {
  if (PGPASSFILE !== undefined && PGPASSFILE !== '') return PGPASSFILE;
  const folder = (platform === 'win32' ? APPDATA : HOME) || homeOfUser();
  if (folder === undefined) return undefined;
  return platform === 'win32' ? join(folder, 'postgresql', 'pgpass.conf') : join(folder, '.pgpass');
}

function homeOfUser(): string | undefined {
  try {
    return userInfo().homedir || undefined;
  } catch {
    return undefined;
  }
}

/**
 * Why the password file is ignored: as in libpq, because other users can read it; also because it is a directory, or
 * cannot be read.
 */
function fileProblem(path: string, platform: NodeJS.Platform): string | undefined {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined) return undefined;
    if (!found.isFile()) return 'it is not a regular file';
    return platform !== 'win32' && (found.mode & 0o077) !== 0 ? 'other users can read it; run chmod 600' : undefined;
  } catch {
    return 'permission denied';
  }
}
