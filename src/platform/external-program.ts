import { spawn } from 'node:child_process';
import type { ProcessEnvironment } from './host.ts';

export interface ExternalProgramResult {
  /** The exit status of the program; undefined if a signal ended it. */
  readonly status: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ExternalProgramOptions {
  /** The complete environment of the program, which inherits no other variables. */
  readonly env: ProcessEnvironment;
  readonly signal: AbortSignal;
  /** Maximum size of each output stream in bytes; the program is ended when it writes more. */
  readonly maxOutputBytes: number;
  /**
   * Starts the program in a process group of its own, so that programs it has started are ended with it; they have no controlling
   * terminal then. Without effect on Windows.
   */
  readonly ownGroup?: boolean;
}

export type ExternalProgramRunner = (
  file: string,
  args: readonly string[],
  options: ExternalProgramOptions,
) => Promise<ExternalProgramResult>;

/** Runs an external program without a shell and without input. The external program has ended when the promise settles. */
export const runExternalProgram: ExternalProgramRunner = (
  file,
  args,
  { env, signal, maxOutputBytes: most, ownGroup = false },
) =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const detached = ownGroup && process.platform !== 'win32';
    const child = spawn(file, args, { env, stdio: ['ignore', 'pipe', 'pipe'], windowsHide: true, detached });
    const kill = (name: NodeJS.Signals) => (detached ? killGroup(child.pid, name) : child.kill(name));
    let failure: unknown;
    let killTimer: NodeJS.Timeout | undefined;
    const end = (why: unknown) => {
      failure ??= why;
      kill('SIGTERM');
      killTimer ??= setTimeout(() => {
        kill('SIGKILL');
        // A program that the external program has started may keep the pipes open.
        child.stdout.destroy();
        child.stderr.destroy();
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
    child.stdout.on('data', out.add);
    child.stderr.on('data', err.add);
    signal.addEventListener('abort', stop);
    child.once('error', (error) => {
      failure ??= error;
    });
    child.once('close', (status) => {
      clearTimeout(killTimer);
      signal.removeEventListener('abort', stop);
      if (failure !== undefined && detached) kill('SIGKILL');
      if (failure !== undefined) reject(failure);
      else resolve({ status: status ?? undefined, stdout: out.text(), stderr: err.text() });
    });
  });

/** Milliseconds between SIGTERM and SIGKILL for an external program. */
const terminationGraceMs = 2000;

function killGroup(leader: number | undefined, name: NodeJS.Signals): void {
  if (leader === undefined) return;
  try {
    process.kill(-leader, name);
  } catch {
    // All of them have ended.
  }
}
