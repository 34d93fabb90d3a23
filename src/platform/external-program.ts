import { spawn } from 'node:child_process';
import type { Environment } from './host.ts';

export interface ProgramResult {
  /** undefined: a signal ended it. */
  readonly status: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ProgramOptions {
  /** All it gets: nothing is inherited. */
  readonly env: Environment;
  readonly signal: AbortSignal;
  /** Bytes of output; more ends it. */
  readonly maxOutputBytes: number;
}

export type RunExternalProgram = (
  file: string,
  words: readonly string[],
  options: ProgramOptions,
) => Promise<ProgramResult>;

/** Runs a program to its end without a shell and without input. However it settles, the program is gone by then. */
export const runExternalProgram: RunExternalProgram = (file, words, { env, signal, maxOutputBytes: most }) =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const child = spawn(file, words, { env, stdio: ['ignore', 'pipe', 'pipe'], windowsHide: true });
    let failure: unknown;
    let deaf: NodeJS.Timeout | undefined;
    const end = (why: unknown) => {
      failure ??= why;
      child.kill('SIGTERM');
      deaf ??= setTimeout(() => child.kill('SIGKILL'), terminationGraceMs);
    };
    const stop = () => end(signal.reason);
    const gather = () => {
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
    const [out, err] = [gather(), gather()];
    child.stdout.on('data', out.add);
    child.stderr.on('data', err.add);
    signal.addEventListener('abort', stop);
    child.once('error', (error) => {
      failure ??= error;
    });
    child.once('close', (status) => {
      clearTimeout(deaf);
      signal.removeEventListener('abort', stop);
      if (failure !== undefined) reject(failure);
      else resolve({ status: status ?? undefined, stdout: out.text(), stderr: err.text() });
    });
  });

/** Milliseconds that a program has to end by itself when it is told to. */
const terminationGraceMs = 2000;
