import { type ChildProcess, type SpawnOptions, type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import type { ProcessEnvironment } from './host.ts';

export interface ChildEnvironment {
  /** The environment of this program, of which the child receives what is no secret of this program. */
  readonly env: ProcessEnvironment;
  /** Variables for this child alone, such as the password of the database to which it connects. */
  readonly given?: ProcessEnvironment | undefined;
  /** Whether the child sends requests of its own, which need the user and the password of the proxy (default: false). */
  readonly usesProxy?: boolean | undefined;
}

type StartOptions = ChildEnvironment & Omit<SpawnOptions, 'env'>;

/**
 * Starts a child process. This file is the only one that starts processes, so that no child inherits a secret of this program:
 * what a child inherits can be read from its crash reports, and is passed on to every program that it starts.
 */
export function startChild(file: string, args: readonly string[], options: StartOptions): ChildProcess {
  const { env, given, usesProxy, ...rest } = options;
  return spawn(file, args, { windowsHide: true, ...rest, env: childEnvironment({ env, given, usesProxy }) });
}

/** Starts a child process and waits for its end. */
export function runChildSync(file: string, args: readonly string[], options: StartOptions): SpawnSyncReturns<string> {
  const { env, given, usesProxy, ...rest } = options;
  const own = childEnvironment({ env, given, usesProxy });
  return spawnSync(file, args, { windowsHide: true, ...rest, env: own, encoding: 'utf8' });
}

/**
 * Calls a function of a package that starts a child itself, which would inherit `process.env`. What this program holds as `env`
 * is the other object, which does not change.
 */
export async function withChildEnvironment<T>(env: ProcessEnvironment, start: () => Promise<T>): Promise<T> {
  const own = process.env;
  process.env = childEnvironment({ env });
  try {
    return await start();
  } finally {
    process.env = own;
  }
}

/** The environment of a child process. On Windows names of variables have no case. */
export function childEnvironment({ env, given, usesProxy = false }: ChildEnvironment): NodeJS.ProcessEnv {
  const inherited = Object.entries(env).flatMap(([name, value]) => {
    const upper = name.toUpperCase();
    if (passwords.has(upper) || (upper.startsWith('CLOUDCTL_') && !places.has(upper))) return [];
    return [[name, upper.endsWith('_PROXY') && !usesProxy ? withoutCredentials(value) : value]];
  });
  return { ...Object.fromEntries(inherited), ...given };
}

const passwords: ReadonlySet<string> = new Set(['PGPASSWORD', 'REDISCLI_AUTH']);

/**
 * Of the variables of this program, a child that is this program needs only where its files are. Every other one is left out,
 * also those that are no secret, so that a new secret need not be listed here.
 */
const places: ReadonlySet<string> = new Set(['CLOUDCTL_CONFIG_DIR', 'CLOUDCTL_STATE_DIR']);

/** Passwords of proxies contain `@`, `/` and `#` as they are, so everything before the last `@` is left out. */
function withoutCredentials(proxy: string | undefined): string | undefined {
  return proxy?.replace(/^(\s*[a-z][a-z\d+.-]*:\/\/)?[\s\S]*@/i, '$1');
}

/**
 * The path of a program: a path stays as it is, and a name is searched in the absolute entries of PATH, because a relative entry
 * would name a program in whatever folder the command runs. Undefined when there is none.
 */
export function findProgram(program: string, env: ProcessEnvironment): string | undefined {
  // Windows adds extensions and searches other folders first.
  if (program.includes('/') || process.platform === 'win32') return program;
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => isAbsolute(folder));
  return folders.map((folder) => join(folder, program)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
