import { lstatSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { ProgramRunner } from '../../../platform/external-program.ts';
import type { ProcessEnvironment } from '../../../platform/host.ts';
import { requireAuthValue } from '../../../postgresql/connection.ts';
import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import { MigrationError, redactReason } from '../error.ts';
import { omissionsQuery, targetObstacles, versionObstacles } from './obstacles.ts';
import { queryColumn, sessionName, tryStatement } from './session.ts';
import type { SchemaCopied, Sides, Writer } from './target.ts';

interface PgDumpDeps {
  readonly env: ProcessEnvironment;
  readonly run: ProgramRunner;
}

/**
 * Runs the script of pg_dump in one transaction of its own session: psql is not needed, a name cannot inject a
 * meta-command of psql, and after a failure no created object remains.
 */
export async function copyByPgDump(
  program: PgDumpProgram,
  from: PostgresqlEndpoint,
  sides: Sides & { readonly writer: Writer },
  deps: PgDumpDeps,
  signal: AbortSignal,
): Promise<SchemaCopied> {
  const { source, target, writer } = sides;
  const obstacles = [
    ...versionObstacles({ from: source.version, to: target.version }),
    ...(await targetObstacles(source.session, target.session)),
    ...writer.obstacles,
  ];
  if (obstacles.length > 0) return { kind: 'refused', objects: obstacles };
  const warnings = await queryColumn(source.session, omissionsQuery, 'note');
  const text = await readSchemaScript(program, from, deps, signal);
  const rejected = await writer.createFirst();
  if (rejected.length > 0) return { kind: 'refused', objects: rejected };
  const script = removeStatements(removeLines(text, target.version), writer.isLeftOut);
  const { session, transaction, lastStatements } = writer;
  const error =
    (await tryStatement(session, `${transaction.begin};\n${script}`)) ?? (await tryStatement(session, transaction.end));
  if (error !== undefined) return { kind: 'refused', objects: [`the script of pg_dump (${error})`] };
  return {
    kind: 'copied',
    by: `pg_dump ${program.major}`,
    warnings: [...warnings, ...writer.warnings],
    ...(lastStatements.length === 0 ? {} : { lastStatements }),
  };
}

/** The script of pg_dump without psql meta-commands, and without transaction_timeout for servers before PostgreSQL 17. */
export function removeLines(text: string, version: number): string {
  const lines = text.split('\n');
  const first = lines.findIndex((line) => line.startsWith('\\restrict '));
  const last = lines.findLastIndex((line) => line.startsWith('\\unrestrict '));
  const timeout = version < 170_000 ? lines.indexOf('SET transaction_timeout = 0;') : -1;
  return lines.filter((_, at) => at !== first && at !== last && at !== timeout).join('\n');
}

const pgDumpArguments = [
  '--schema-only',
  '--no-owner',
  '--no-privileges',
  '--no-subscriptions',
  '--no-tablespaces',
  '--no-password',
  // `--role=none` is set, because a role that is stored for the database would otherwise read instead of the role that
  // logged in.
  '--role=none',
  '--quote-all-identifiers',
  '--encoding=UTF8',
  '--lock-wait-timeout=60s',
];

async function readSchemaScript(
  program: PgDumpProgram,
  from: PostgresqlEndpoint,
  deps: PgDumpDeps,
  signal: AbortSignal,
): Promise<string> {
  return withLibpqEnvironment(from, async (connection) => {
    const { status, stdout, stderr } = await deps.run(program.path, pgDumpArguments, {
      env: pgDumpEnvironment(deps.env),
      given: connection,
      signal,
      maxOutputBytes: maxScriptCharacters,
    });
    if (status === 0) return stdout;
    const reason = stderr.trim() === '' ? `exit status ${status ?? 'unknown (ended by a signal)'}` : stderr;
    throw new MigrationError(
      `could not read the schema with pg_dump: ${redactReason(new Error(reason), from.password)}`,
    );
  });
}

/**
 * The maximum number of characters of a schema script. The maximum length of a protocol message is four times the
 * maximum length of a script.
 */
const maxScriptCharacters = 256 * 1024 * 1024;

/** False if TLS is verified with the CA certificates of the operating system, which libpq does not use. */
export function canUsePgDump({ verify }: PostgresqlEndpoint): boolean {
  return verify === undefined || verify.ca !== undefined;
}

/**
 * Removes certain statements from a script of pg_dump. Only correctness depends on this function, not security: the
 * script runs with the privileges of a role that is no superuser, whatever names or function bodies in the script
 * contain.
 * @param isLeftOut receives the statement without comments and white space before it
 */
export function removeStatements(script: string, isLeftOut: (statement: string) => boolean): string {
  return splitStatements(script)
    .filter((piece) => !isLeftOut(piece.replace(leadingComments, '')))
    .join('');
}

const leadingComments = /^(?:\s+|--[^\n]*\n)*/;

/** Quotes are doubled in a string, so `'a''b'` is read as two strings. */
const token = /'[^']*'?|"[^"]*"?|--[^\n]*|\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$|;/g;

/** Splits the script into parts that end with a semicolon outside of quotes and comments. */
function splitStatements(script: string): readonly string[] {
  const pieces: string[] = [];
  let start = 0;
  token.lastIndex = 0;
  for (let found = token.exec(script); found !== null; found = token.exec(script)) {
    const [text] = found;
    if (text.startsWith('$')) {
      const end = script.indexOf(text, token.lastIndex);
      token.lastIndex = end === -1 ? script.length : end + text.length;
    } else if (text === ';') {
      pieces.push(script.slice(start, token.lastIndex));
      start = token.lastIndex;
    }
  }
  return [...pieces, script.slice(start)];
}

/** A pg_dump program that was started once and printed its version. */
interface PgDumpProgram {
  readonly path: string;
  /** Major version. pg_dump reads servers of its own and of earlier major versions. */
  readonly major: number;
}

interface FindPgDumpOptions {
  readonly env: ProcessEnvironment;
  /** If set, pg_dump is searched for in this folder only. */
  readonly folder?: string | undefined;
  /** The names of the files in a folder; empty if the folder does not exist. */
  readonly namesIn: (folder: string) => readonly string[];
  readonly run: ProgramRunner;
}

/** The installed pg_dump programs, one per major version, oldest first. */
export async function findPgDumps(places: FindPgDumpOptions, signal: AbortSignal): Promise<readonly PgDumpProgram[]> {
  const found = await Promise.all(candidatePaths(places).map((path) => probeVersion(path, places, signal)));
  const byMajor = new Map<number, PgDumpProgram>();
  for (const dump of found) {
    if (dump !== undefined && !byMajor.has(dump.major)) byMajor.set(dump.major, dump);
  }
  return [...byMajor.values()].sort((one, other) => one.major - other.major);
}

/** Examples of the version output: `pg_dump (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)`, `… 9.6.24`, `… 19beta1`. */
export function parseMajor(text: string): number | undefined {
  const major = /^pg_dump \([^)]*\) (\d+)(?:\.|beta|rc|devel|\s|$)/.exec(text)?.[1];
  return major === undefined ? undefined : Number(major);
}

/** The oldest pg_dump that can read the server; undefined if none is new enough. */
export function choosePgDump(programs: readonly PgDumpProgram[], version: number): PgDumpProgram | undefined {
  return programs.find(({ major }) => major >= Math.floor(version / 10_000));
}

function candidatePaths({ env, folder, namesIn }: FindPgDumpOptions): readonly string[] {
  if (folder !== undefined) return [join(folder, programName)];
  const path = (env.PATH ?? '').split(delimiter).filter((entry) => entry !== '');
  return [
    ...path,
    ...installationFolders.flatMap(([root, rest]) => namesIn(root).map((name) => join(root, name, rest))),
  ]
    .filter((folder) => namesIn(folder).includes(programName))
    .map((folder) => join(folder, programName));
}

const programName = process.platform === 'win32' ? 'pg_dump.exe' : 'pg_dump';

/** Folders in which Debian, the PostgreSQL packages for Red Hat, Homebrew and Windows install several versions. */
const installationFolders: readonly (readonly [root: string, rest: string])[] = [
  ['/usr/lib/postgresql', 'bin'],
  ['/usr', 'bin'],
  ['/opt/homebrew/opt', 'bin'],
  ['C:\\Program Files\\PostgreSQL', 'bin'],
];

async function probeVersion(
  path: string,
  { env, run }: FindPgDumpOptions,
  signal: AbortSignal,
): Promise<PgDumpProgram | undefined> {
  try {
    const { status, stdout } = await run(path, ['--version'], {
      env: pgDumpEnvironment(env),
      signal,
      maxOutputBytes: 10_000,
    });
    const major = status === 0 ? parseMajor(stdout) : undefined;
    return major === undefined ? undefined : { path, major };
  } catch (error) {
    if (signal.aborted) throw error;
    return undefined;
  }
}

/** Environment variables that pg_dump needs to run, without PG* variables, which would change the connection. */
function pgDumpEnvironment(env: ProcessEnvironment): ProcessEnvironment {
  const names = ['PATH', 'LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH', 'SystemRoot', 'TMPDIR', 'TEMP'];
  return {
    ...Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]))),
    LC_ALL: 'C',
  };
}

/**
 * Runs a task with the connection variables of libpq. The password is an environment variable of the child process,
 * which other users cannot read; a file would remain if this process is killed. Only CA certificates, which are not
 * secret, are written to a file.
 */
export async function withLibpqEnvironment<T>(
  from: PostgresqlEndpoint,
  task: (env: ProcessEnvironment) => Promise<T>,
): Promise<T> {
  removeFoldersOfKilledRuns();
  const { ca, what } = from.verify ?? {};
  const folder = ca === undefined ? undefined : mkdtempSync(join(tmpdir(), folderPrefix));
  try {
    const caFile = folder === undefined ? undefined : join(folder, caFileName);
    if (ca !== undefined && caFile !== undefined) writeFileSync(caFile, ca.pem, { mode: 0o600 });
    const requireAuth = requireAuthValue(from);
    const password = from.password?.reveal() ?? '';
    return await task({
      PGHOST: from.host,
      ...(from.address === undefined ? {} : { PGHOSTADDR: from.address }),
      PGPORT: String(from.port),
      PGDATABASE: from.dbname,
      PGUSER: from.username,
      ...(password === '' ? {} : { PGPASSWORD: password }),
      PGAPPNAME: sessionName,
      PGGSSENCMODE: 'disable',
      PGSSLMODE: sslMode(from.ssl, what),
      // libpq before version 16 ignores PGREQUIREAUTH.
      ...(requireAuth === undefined ? {} : { PGREQUIREAUTH: requireAuth }),
      PGCONNECT_TIMEOUT: '30',
      // Paths of files that do not exist, so that libpq finds no .pgpass, service file or client certificate of the
      // user.
      HOME: '/dev/null',
      ...(caFile === undefined ? {} : { PGSSLROOTCERT: caFile }),
    });
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}

function sslMode(ssl: PostgresqlEndpoint['ssl'], what: 'full' | 'chain' | undefined): string {
  if (ssl === 'disable') return 'disable';
  return what === undefined ? 'require' : what === 'full' ? 'verify-full' : 'verify-ca';
}

const folderPrefix = 'cloudctl-dump-';
const caFileName = 'authority.pem';

/** Younger files may still be in use: libpq reads its CA file when it connects, within its timeout of 30 s. */
const minimumAgeMs = 60_000;

/** Removes the folders that processes which were killed have left. A folder with any other content is not removed. */
function removeFoldersOfKilledRuns(): void {
  const parent = tmpdir();
  for (const name of listNames(parent)) {
    const folder = join(parent, name);
    if (!/^cloudctl-dump-[A-Za-z0-9]{6}$/.test(name) || !isOwnAndOld(folder, 'folder')) continue;
    const files = listNames(folder);
    if (!files.every((file) => file === caFileName && isOwnAndOld(join(folder, file), 'file'))) continue;
    rmSync(folder, { recursive: true, force: true });
  }
}

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Symbolic links count as neither file nor folder. */
function isOwnAndOld(path: string, kind: 'file' | 'folder'): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || Date.now() - found.mtimeMs < minimumAgeMs) return false;
  if (process.getuid !== undefined && found.uid !== process.getuid()) return false;
  return kind === 'file' ? found.isFile() : found.isDirectory();
}
