import { writeSync } from 'node:fs';
import { programVersion } from './base/version.ts';
import { storedPage } from './cli/stored-help.ts';
import { maybeTerminal } from './platform/terminal.ts';
import type { ProgramBundle } from './platform/v8-code-cache.ts';

declare global {
  interface ImportMeta {
    /** The bundle files of the program; absent when the program runs from its source files. */
    readonly packs?: ProgramBundle;
  }
}

/**
 * The entry of the program. `--version`, help and `auth token` take little more time than the start of Node, because everything
 * else is in other files, which are loaded when they are needed.
 */
async function start(argv: readonly string[]): Promise<void> {
  if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) return print(`${programVersion}\n`);
  // On a terminal, help has colours and the width of the terminal.
  const page = (process.env.FORCE_COLOR ?? '') === '' && !maybeTerminal(1) ? storedPage(argv) : undefined;
  if (page !== undefined) return print(page);
  // Without a listener, SIGUSR1 opens the debugger of Node on a local port, where other users could read the access token.
  process.on('SIGUSR1', () => {});
  let isBlocked = false;
  if (argv.includes('auth') && argv.includes('token')) {
    const { readTokenFast: fastPathToken } = await import('./auth/session/token.ts');
    const token = await fastPathToken(argv, process.env, process.platform, Date.now(), () => {
      isBlocked = true;
    });
    if (token !== undefined) return print(`${token.reveal()}\n`);
  }
  const packs = import.meta.packs;
  const cache = packs && (await import('./platform/v8-code-cache.ts')).openCache(packs, process.env);
  const { runCliProcess } = await import('./main.ts');
  process.exitCode = await runCliProcess(argv);
  if (packs !== undefined && cache !== undefined && process.exitCode === 0 && cache.incompletePacks().length > 0)
    (await import('./platform/write-v8-code-cache.ts')).writeCache(cache, packs.moduleNames());
  if (isBlocked) (await import('./platform/quick-keychain.ts')).exitBlocked(process.exitCode);
}

/** Writes to the file descriptor, because creating process.stdout takes more time than the rest of `start`. */
function print(output: string | Uint8Array): void {
  let bytes = Buffer.from(output);
  try {
    while (bytes.length > 0) bytes = bytes.subarray(writeSync(1, bytes));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    // When the pipe is full (EAGAIN), process.stdout waits and writes the rest; a closed pipe (EPIPE) is not an error.
    if (code === 'EAGAIN') process.stdout.write(bytes);
    else if (code !== 'EPIPE') {
      process.stderr.write(`error: could not write to standard output: ${code}\n`);
      process.exitCode = 7;
    }
  }
}

void start(process.argv.slice(2));
