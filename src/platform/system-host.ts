import { resolveFolders } from './folders.ts';
import { helperKeychain } from './helper-keychain.ts';
import type { HostSystem } from './host.ts';
import { startPager } from './pager.ts';
import { systemSignals } from './signals.ts';
import { streamSink } from './stream-sink.ts';
import { systemClock } from './waiting.ts';

interface SystemHostOptions {
  /** The bundle of keychain-child.ts (default: beside this file). */
  readonly keychainHelper?: string;
  /** Called once before the first HTTP request of the process. */
  readonly onNetwork?: () => Promise<void>;
}

/** This machine. Creates the Host of the real system; modules are loaded, streams opened and processes started on first use. */
export function systemHost(options: SystemHostOptions = {}): HostSystem {
  const { env, platform } = process;
  const signals = systemSignals();
  // A closed pipe ends the program with exit code 0. Work that must be completed, such as a token refresh, listens for signals
  // until it is committed.
  const onClosed = () => signals.whenNoListeners(() => process.exit(0));
  return {
    env,
    platform,
    // src/standalone.ts sets it to the path of the executable.
    program: process.argv[1] ?? process.execPath,
    get stdin() {
      return process.stdin;
    },
    get screen() {
      return process.stderr;
    },
    stdout: streamSink(() => process.stdout, { descriptor: 1, name: 'standard output', lossless: true, onClosed }),
    stderr: streamSink(() => process.stderr, {
      descriptor: 2,
      name: 'standard error',
      lossless: false,
      onClosed: () => {},
    }),
    clock: systemClock,
    random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
    folders: resolveFolders(env, platform),
    async createSender(sendOptions) {
      const { undiciSender } = await import('./undici-sender.ts');
      const send = await undiciSender({ ...sendOptions, now: systemClock.now });
      await options.onNetwork?.();
      return send;
    },
    browser: {
      async open(url, onFailure) {
        const { systemBrowser } = await import('./browser.ts');
        return systemBrowser(env, platform).open(url, onFailure);
      },
    },
    startPager: (command) => startPager(command, env),
    keychain: helperKeychain({
      env,
      ...(options.keychainHelper === undefined ? {} : { script: options.keychainHelper }),
    }),
    signals,
  };
}
