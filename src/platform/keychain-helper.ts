import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { sanitizeLine } from '../base/sanitize.ts';
import { startChild } from './external-program.ts';
import type { ProcessEnvironment } from './host.ts';
import { decodeReply, type KeychainReply, type KeychainRequest, startedLine } from './keychain-wire.ts';

export interface HelperOptions {
  readonly env: ProcessEnvironment;
  /** The bundle of keychain-child.ts (default: beside the bundle of this file). */
  readonly script?: string;
  readonly node?: string;
  /** The service name of the keychain items (default: the service name that this program uses). */
  readonly service?: string;
  /** Time limit in milliseconds for the helper to start and to load the native keychain client (default: 10 s). */
  readonly starting?: number;
  /** A file descriptor of this process that the helper keeps open until the helper ends. */
  readonly inherits?: number | undefined;
}

export interface HelperProcess {
  isAlive(): boolean;
  /** `onBegun` is called when the helper has started and calls the keychain. */
  request(request: KeychainRequest, onBegun: () => void): Promise<KeychainReply>;
  /** Kills the helper process and waits until it has ended. */
  kill(): Promise<void>;
  /** Closes the standard input of the helper, so that the helper exits, and waits until it has exited. */
  end(): Promise<void>;
}

export function startHelper({ env, script, node, service, inherits }: HelperOptions): HelperProcess {
  const path = script ?? fileURLToPath(new URL('./keychain.cjs', import.meta.url));
  const child = startChild(node ?? process.execPath, service === undefined ? [path] : [path, service], {
    env: withoutNodeVariables(env),
    stdio: ['pipe', 'pipe', 'pipe', inherits ?? 'ignore'],
    // The helper has its own process group, so that Ctrl-C, which signals the group of the terminal, interrupts no write.
    detached: process.platform !== 'win32',
  });
  const { stdin, stdout, stderr } = child;
  if (stdin === null || stdout === null || stderr === null) throw new Error('the keychain helper has no pipes');
  let waiting: ((reply: KeychainReply) => void) | undefined;
  let begin = (): void => {};
  let words = '';
  let over = false;
  const gone = new Promise<void>((resolve) => {
    const end = (reason: string) => {
      over = true;
      waiting?.({ kind: 'unavailable', why: 'failed', reason });
      resolve();
    };
    child.once('error', (error) => end(`could not start the keychain helper: ${error.message}`));
    child.once('close', (status, signal) => end(endReason(status ?? signal, words)));
  });
  createInterface({ input: stdout }).on('line', (line) => {
    if (line === startedLine) return begin();
    waiting?.(
      decodeReply(line) ?? {
        kind: 'unavailable',
        why: 'failed',
        reason: 'the keychain helper sent an invalid reply',
      },
    );
  });
  stderr.setEncoding('utf8').on('data', (text: string) => {
    words = (words + text).slice(-4000);
  });
  // If a helper ends before it has read all its input, its exit status is reported instead of the write error.
  stdin.on('error', () => {});
  return {
    isAlive: () => !over,
    request: (request, onBegun) =>
      new Promise((resolve) => {
        begin = onBegun;
        waiting = resolve;
        stdin.write(`${JSON.stringify(request)}\n`);
      }),
    async kill() {
      child.kill('SIGKILL');
      await gone;
    },
    async end() {
      stdin.end();
      const stubborn = setTimeout(() => child.kill('SIGKILL'), 1000);
      await gone;
      clearTimeout(stubborn);
    },
  };
}

function endReason(how: number | string | null, words: string): string {
  const last =
    words
      .trim()
      .split('\n')
      .find((line) => /error/i.test(line)) ?? '';
  return sanitizeLine(`the keychain helper ended (${how})${last === '' ? '' : `: ${last}`}`);
}

/**
 * The helper's environment has no variables that affect Node: additional certificates take 35 ms to load, and other variables
 * add output or wait for a debugger.
 */
function withoutNodeVariables({
  NODE_OPTIONS,
  NODE_EXTRA_CA_CERTS,
  NODE_DEBUG,
  NODE_V8_COVERAGE,
  ...rest
}: ProcessEnvironment): ProcessEnvironment {
  return rest;
}
