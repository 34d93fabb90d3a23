import { type SpawnOptions, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { cleaned } from './cleaned.ts';
import type { Environment } from './host.ts';
import { begun, decodeReply, type KeychainReply, type KeychainRequest } from './keychain-wire.ts';

export interface HelperOptions {
  readonly env: Environment;
  /** The bundle of keychain-child.ts; beside this file's own bundle when not given. */
  readonly script?: string;
  readonly node?: string;
  /** Milliseconds in which it has to start and to load the native client (10 s). */
  readonly starting?: number;
  /** A descriptor of this process that the helper keeps open while it lives. */
  readonly inherits?: number | undefined;
}

export interface HelperProcess {
  alive(): boolean;
  /** `onBegun` is called when the helper, which has to start first, asks the keychain. */
  ask(request: KeychainRequest, onBegun: () => void): Promise<KeychainReply>;
  /** Ends it from outside and waits until it is gone. */
  kill(): Promise<void>;
  /** Lets it end by itself, which it does at the end of its standard input. */
  end(): Promise<void>;
}

export function startHelper({ env, script, node, inherits }: HelperOptions): HelperProcess {
  const path = script ?? fileURLToPath(new URL('./keychain.cjs', import.meta.url));
  const { child, stdin, stdout, stderr } = piped(node ?? process.execPath, path, {
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
    child.once('close', (status, signal) => end(ended(status ?? signal, words)));
  });
  createInterface({ input: stdout }).on('line', (line) => {
    if (line === begun) return begin();
    waiting?.(
      decodeReply(line) ?? { kind: 'unavailable', why: 'failed', reason: 'the keychain helper gave an unknown answer' },
    );
  });
  stderr.setEncoding('utf8').on('data', (text: string) => {
    words = (words + text).slice(-4000);
  });
  // A helper that is gone before it has read everything: its end tells why.
  stdin.on('error', () => {});
  return {
    alive: () => !over,
    ask: (request, onBegun) =>
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
function piped(node: string, script: string, options: SpawnOptions) {
  const child = spawn(node, [script], options);
  const { stdin, stdout, stderr } = child;
  if (stdin === null || stdout === null || stderr === null) throw new Error('the keychain helper has no pipes');
  return { child, stdin, stdout, stderr };
}

function ended(how: number | string | null, words: string): string {
  const last =
    words
      .trim()
      .split('\n')
      .find((line) => /error/i.test(line)) ?? '';
  return cleaned(`the keychain helper ended (${how})${last === '' ? '' : `: ${last}`}`);
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
