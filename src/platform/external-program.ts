import { type ChildProcess, type SpawnOptions, type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import type { Readable } from 'node:stream';
import type { ProcessEnvironment } from './host.ts';
import { timeoutSignal } from './waiting.ts';

interface ChildEnvironment {
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
  return findPrograms([program], env)[0];
}

/** The executable files with these names in the absolute folders of PATH, in its order. */
export function findPrograms(names: readonly string[], env: ProcessEnvironment): readonly string[] {
  const folders = pathEntries(env).filter((folder) => isAbsolute(folder));
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).filter(isExecutable);
}

/** The entries of PATH as they are. An empty one is the current folder, but on Windows, which ignores it. */
export function pathEntries({ PATH, Path }: ProcessEnvironment): readonly string[] {
  const list = PATH ?? Path ?? '';
  return list === '' ? [] : list.split(delimiter);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

interface ExternalProgramResult {
  /** The exit status of the program; undefined if a signal ended it. */
  readonly status: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

interface ExternalProgramOptions extends ChildEnvironment {
  readonly signal: AbortSignal;
  /** Maximum size of each output stream in bytes; the program is ended when it writes more. */
  readonly maxOutputBytes: number;
  /**
   * Starts the program in a process group of its own, so that programs it has started are ended with it; they have no controlling
   * terminal then. Without effect on Windows.
   */
  readonly ownGroup?: boolean;
  /**
   * Milliseconds after the end of the program until its output counts as complete although another program keeps the pipe open,
   * as the connection that `ssh` shares with later calls does. Without it, the end of the output is awaited.
   */
  readonly outputGraceMs?: number;
}

export type ProgramRunner = (
  file: string,
  args: readonly string[],
  options: ExternalProgramOptions,
) => Promise<ExternalProgramResult>;

/** Runs an external program without a shell and without input. The external program has ended when the promise settles. */
export const runProgram: ProgramRunner = async (file, args, options) => {
  const { failure, ...result } = await runToEnd(file, args, options);
  if (failure !== undefined) throw failure;
  return result;
};

interface PrintingProgramOptions extends Pick<ExternalProgramOptions, 'env' | 'given' | 'signal' | 'maxOutputBytes'> {
  /** Time limit in milliseconds. */
  readonly limit: number;
}

/** What a program printed; `failure` is the reason why its output must not be used, as a clause without any of its output. */
export type PrintedOutput = Pick<ExternalProgramResult, 'stdout' | 'stderr'> & { readonly failure?: string };

/**
 * Runs a program that prints a secret: without a shell, without input, without a terminal, and with a time limit. At a limit, the
 * programs that it has started are ended with it.
 */
export async function runPrinting(
  [program = '', ...words]: readonly string[],
  { limit, signal, ...options }: PrintingProgramOptions,
): Promise<PrintedOutput> {
  const expired = timeoutSignal(limit);
  const either = AbortSignal.any([expired, signal]);
  const file = findProgram(program, options.env);
  if (file === undefined) return { stdout: '', stderr: '', failure: 'there is no such program' };
  const { status, stdout, stderr, failure } = await runToEnd(file, words, {
    ...options,
    signal: either,
    ownGroup: true,
    // A program that fetches a secret sends requests.
    usesProxy: true,
    outputGraceMs: 500,
  });
  const printed = { stdout, stderr };
  if (expired.aborted && failure !== undefined) return { ...printed, failure: `it took longer than ${limit / 1000} s` };
  if (signal.aborted && failure !== undefined) return { ...printed, failure: 'it was interrupted' };
  // What was written after the limit was not read, so standard error cannot be searched for it.
  if (failure !== undefined) return { stdout, stderr: '', failure: startFailure(failure, options.maxOutputBytes) };
  if (status === undefined) return { ...printed, failure: 'a signal ended it' };
  return status === 0 ? printed : { ...printed, failure: `its exit status is ${status}` };
}

function startFailure(error: unknown, maxOutputBytes: number): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT') return 'there is no such program';
  if (typeof code === 'string' && /^E[A-Z0-9]+$/.test(code)) return `it could not be started (${code})`;
  return `it printed more than ${maxOutputBytes} bytes`;
}

/** `failure` is the error because of which the program could not be started or was ended. */
interface EndedProgram extends ExternalProgramResult {
  readonly failure?: unknown;
}

const runToEnd = (
  file: string,
  args: readonly string[],
  { signal, maxOutputBytes: most, ownGroup = false, outputGraceMs, ...environment }: ExternalProgramOptions,
): Promise<EndedProgram> =>
  new Promise((resolve) => {
    if (signal.aborted) {
      resolve({ status: undefined, stdout: '', stderr: '', failure: signal.reason });
      return;
    }
    const detached = ownGroup && process.platform !== 'win32';
    const started = startIfPossible(file, args, { ...environment, detached });
    if ('failure' in started) {
      resolve({ status: undefined, stdout: '', stderr: '', failure: started.failure });
      return;
    }
    const { child, stdout, stderr } = started;
    const kill = (name: NodeJS.Signals) => (detached ? killGroup(child.pid, name) : child.kill(name));
    let failure: unknown;
    let killTimer: NodeJS.Timeout | undefined;
    let graceTimer: NodeJS.Timeout | undefined;
    const closePipes = () => {
      stdout.destroy();
      stderr.destroy();
    };
    const end = (why: unknown) => {
      failure ??= why;
      kill('SIGTERM');
      killTimer ??= setTimeout(() => {
        kill('SIGKILL');
        // A program that the external program has started may keep the pipes open.
        closePipes();
        // A program of another user, which sudo starts, and one that waits for a device cannot be killed.
        killTimer = setTimeout(() => {
          child.unref();
          finish(null);
        }, killGraceMs);
      }, terminationGraceMs);
    };
    const stop = () => end(signal.reason);
    const collectOutput = () => {
      const chunks: Buffer[] = [];
      let length = 0;
      return {
        add(chunk: Buffer) {
          length += chunk.length;
          if (length > most) end(new Error(`${file} wrote more than ${most} bytes`));
          else chunks.push(chunk);
        },
        text: () => Buffer.concat(chunks).toString('utf8'),
      };
    };
    const [out, err] = [collectOutput(), collectOutput()];
    stdout.on('data', out.add);
    stderr.on('data', err.add);
    signal.addEventListener('abort', stop);
    child.once('error', (error) => {
      failure ??= error;
    });
    child.once('exit', () => {
      if (outputGraceMs === undefined) return;
      // What the program wrote before its end is read in the turn of the event loop before `setImmediate`.
      graceTimer = setTimeout(() => setImmediate(closePipes), outputGraceMs);
    });
    const finish = (status: number | null) => {
      clearTimeout(killTimer);
      clearTimeout(graceTimer);
      signal.removeEventListener('abort', stop);
      if (failure !== undefined && detached) kill('SIGKILL');
      const result = { status: status ?? undefined, stdout: out.text(), stderr: err.text() };
      resolve(failure === undefined ? result : { ...result, failure });
    };
    child.once('close', finish);
  });

/** Milliseconds between SIGTERM and SIGKILL for an external program. */
const terminationGraceMs = 2000;
/** Milliseconds after SIGKILL until a program that has not ended is left alone. */
const killGraceMs = 500;

/** Node throws some errors of a start, such as ENOEXEC, and emits others as an event. */
function startIfPossible(
  file: string,
  args: readonly string[],
  options: ChildEnvironment & { readonly detached: boolean },
):
  | { readonly child: ChildProcess; readonly stdout: Readable; readonly stderr: Readable }
  | { readonly failure: unknown } {
  try {
    const child = startChild(file, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    const { stdout, stderr } = child;
    return stdout === null || stderr === null
      ? { failure: new Error(`${file} has no pipes`) }
      : { child, stdout, stderr };
  } catch (failure) {
    return { failure };
  }
}

function killGroup(leader: number | undefined, name: NodeJS.Signals): void {
  if (leader === undefined) return;
  try {
    process.kill(-leader, name);
  } catch {
    // All of them have ended.
  }
}
