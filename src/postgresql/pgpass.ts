import { statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { readTextIfPresent } from '../platform/files.ts';
import type { Environment } from '../platform/host.ts';
import { Secret } from '../secret.ts';
import type { PostgresqlSource } from './source.ts';

export interface PasswordLookup {
  /** undefined: neither the environment nor a password file has one. */
  readonly password: Secret | undefined;
  /** Why a password file was passed over; to be shown. */
  readonly warning: string | undefined;
}

/** PGPASSWORD, else the password file (https://www.postgresql.org/docs/current/libpq-pgpass.html), as psql looks for it. */
export function findPassword(source: PostgresqlSource, env: Environment, platform: NodeJS.Platform): PasswordLookup {
  const { PGPASSWORD: said = '' } = env;
  if (said !== '') return { password: new Secret(said), warning: undefined };
  const path = passwordFile(env, platform);
  const fault = fileProblem(path, platform);
  if (fault !== undefined) return { password: undefined, warning: `the password file ${path} ${fault}` };
  const found = passwordInFile(readTextIfPresent(path) ?? '', source);
  return { password: found === undefined ? undefined : new Secret(found), warning: undefined };
}

/** The first line of a password file that fits. A backslash takes the next character as it is, `*` alone fits everything. */
export function passwordInFile(
  text: string,
  { host, port, dbname, username }: Pick<PostgresqlSource, 'host' | 'port' | 'dbname' | 'username'>,
): string | undefined {
  const wanted = [host, String(port), dbname, username];
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith('#')) continue;
    const fields = fieldsOf(line);
    const fits = fields.length > 4 && wanted.every((value, at) => fields[at] === '*' || plain(fields[at]!) === value);
    // An empty password ends the search, as it does in libpq.
    if (fits) return plain(fields[4]!) || undefined;
  }
  return undefined;
}

/** The pieces between colons that no backslash stands before, as written. */
function fieldsOf(line: string): readonly string[] {
  const colons = [...line.matchAll(/\\.|:/gs)].filter(([found]) => found === ':').map(({ index }) => index);
  return [-1, ...colons].map((colon, at) => line.slice(colon + 1, colons[at]));
}

function plain(field: string): string {
  return field.replace(/\\(.)/gs, '$1');
}

function passwordFile({ PGPASSFILE, APPDATA, HOME }: Environment, platform: NodeJS.Platform): string {
  if (PGPASSFILE !== undefined && PGPASSFILE !== '') return PGPASSFILE;
  return platform === 'win32'
    ? join(APPDATA ?? homedir(), 'postgresql', 'pgpass.conf')
    : join(HOME ?? homedir(), '.pgpass');
}

/** libpq does not read a file that others can; a folder there, or one that may not be looked at, is told as well. */
function fileProblem(path: string, platform: NodeJS.Platform): string | undefined {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined) return undefined;
    if (!found.isFile()) return 'is not a plain file, so it was not read';
    return platform !== 'win32' && (found.mode & 0o077) !== 0
      ? 'can be read by others, so it was not read: chmod 600 it'
      : undefined;
  } catch {
    return 'cannot be read';
  }
}
