import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import { type ChildEnvironment, findProgram, startChild } from './child.ts';
import { timeoutSignal } from './timeout-signal.ts';

export interface ExternalProgramResult {
  /** The exit status of the program; undefined if a signal ended it. */
  readonly status: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ExternalProgramOptions extends ChildEnvironment {
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

export type ExternalProgramRunner = (
  file: string,
  args: readonly string[],
  options: ExternalProgramOptions,
) => Promise<ExternalProgramResult>;

/** Runs an external program without a shell and without input. The external program has ended when the promise settles. */
export const runExternalProgram: ExternalProgramRunner = async (file, args, options) => {
  const { failure, ...result } = await runToEnd(file, args, options);
  if (failure !== undefined) throw failure;
  return result;
};

export interface PrintingProgramOptions
  extends Pick<ExternalProgramOptions, 'env' | 'given' | 'signal' | 'maxOutputBytes'> {
  /** Time limit in milliseconds. */
  readonly limit: number;
}

/** What a program printed; `failure` is the reason why its output must not be used, as a clause without any of its output. */
export type PrintedOutput = Pick<ExternalProgramResult, 'stdout' | 'stderr'> & { readonly failure?: string };

/**
 * Runs a program that prints a secret: without a shell, without input, without a terminal, and with a time limit. At a limit, the
 * programs that it has started are ended with it.
 */
export async function runPrintingProgram(
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
