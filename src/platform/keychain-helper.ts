import { type SpawnOptions, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Environment } from './host.ts';
import {
  decodeKeychainReply,
  type KeychainReply,
  type KeychainRequest,
  operationStartedLine,
} from './keychain-wire.ts';
import { sanitizeRemoteText } from './sanitize-remote-text.ts';

export interface KeychainHelperOptions {
  readonly env: Environment;
  /** The bundle of keychain-child.ts; beside this file's own bundle when not given. */
  readonly script?: string;
  readonly node?: string;
  /** Milliseconds in which it has to start and to load the native client (10 s). */
  readonly starting?: number;
  /** A descriptor of this process that the helper keeps open while it lives. */
  readonly inherits?: number | undefined;
}

export interface KeychainHelper {
  isAlive(): boolean;
  /** `onBegun` is called when the helper, which has to start first, asks the keychain. */
  request(request: KeychainRequest, onBegun: () => void): Promise<KeychainReply>;
  /** Ends it from outside and waits until it is gone. */
  kill(): Promise<void>;
  /** Lets it end by itself, which it does at the end of its standard input. */
  end(): Promise<void>;
}

export function startKeychainHelper({ env, script, node, inherits }: KeychainHelperOptions): KeychainHelper {
  const path = script ?? fileURLToPath(new URL('./keychain.cjs', import.meta.url));
  const { child, stdin, stdout, stderr } = spawnWithPipes(node ?? process.execPath, path, {
    env: helperEnvironment(env),
    stdio: ['pipe', 'pipe', 'pipe', inherits ?? 'ignore'],
    windowsHide: true,
    // A Ctrl-C of the terminal goes to the whole process group, and must not end a write half-way.
    detached: process.platform !== 'win32',
  });
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
    child.once('error', (error) => end(`the keychain helper did not start: ${error.message}`));
    child.once('close', (status, signal) => end(endReason(status ?? signal, words)));
  });
  createInterface({ input: stdout }).on('line', (line) => {
    if (line === operationStartedLine) return begin();
    waiting?.(
      decodeKeychainReply(line) ?? {
        kind: 'unavailable',
        why: 'failed',
        reason: 'the keychain helper gave an unknown answer',
      },
    );
  });
  stderr.setEncoding('utf8').on('data', (text: string) => {
    words = (words + text).slice(-4000);
  });
  // A helper that is gone before it has read everything: its end tells why.
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

/** Node's types know pipes by their number only where there are exactly three. */
function spawnWithPipes(node: string, script: string, options: SpawnOptions) {
  const child = spawn(node, [script], options);
  const { stdin, stdout, stderr } = child;
  if (stdin === null || stdout === null || stderr === null) throw new Error('the keychain helper has no pipes');
  return { child, stdin, stdout, stderr };
}

function endReason(how: number | string | null, words: string): string {
  const last =
    words
      .trim()
      .split('\n')
      .find((line) => /error/i.test(line)) ?? '';
  return sanitizeRemoteText(`the keychain helper ended (${how})${last === '' ? '' : `: ${last}`}`);
}

/** Without what concerns Node's own ways: certificates cost it 35 ms, and the rest could make it talk or wait for a debugger. */
function helperEnvironment({
  NODE_OPTIONS,
  NODE_EXTRA_CA_CERTS,
  NODE_DEBUG,
  NODE_V8_COVERAGE,
  ...rest
}: Environment): NodeJS.ProcessEnv {
  return rest;
}
