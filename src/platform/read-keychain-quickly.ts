import { classifyKeychainError } from './classify-keychain-error.ts';
import type { Environment, KeychainAbsent, KeychainFound, KeychainUnavailable } from './host.ts';
import { keychainService } from './keychain-service.ts';
import { readSecret } from './secret-service.ts';

type KeychainReadResult = KeychainFound | KeychainAbsent | KeychainUnavailable;

export interface QuickReadOptions {
  readonly env: Environment;
  readonly platform: NodeJS.Platform;
  /** Milliseconds. */
  readonly limit: number;
}

/**
 * One read without a helper process, for the fast path of `auth token`. Whatever is not `found` is better judged by
 * the whole program, whose helper can wait for a person to unlock the keychain, and can be killed.
 * On Linux a socket is asked: a socket can be closed, and it takes 1.4 times a bare start of Node, where the native
 * client takes 1.6 and, behind a question whether the service answers at all, 1.8. Elsewhere it is the native client,
 * and one that hangs keeps the process from ending: see `endBlocked`.
 */
export async function readKeychainQuickly(
  account: string,
  { env, platform, limit }: QuickReadOptions,
): Promise<KeychainReadResult> {
  const given = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<KeychainReadResult>((resolve) => {
    timer = setTimeout(resolve, limit, {
      kind: 'unavailable',
      why: 'hung',
      reason: `the keychain did not answer within ${limit / 1000} s`,
    });
  });
  const reading =
    platform === 'linux'
      ? readSecret(env, { service: keychainService, username: account }, given.signal)
      : readNatively(account);
  try {
    return await Promise.race([reading, late]);
  } finally {
    clearTimeout(timer);
    given.abort();
  }
}

/**
 * Ends this process although a native call blocks one of its threads, which process.exit and process.reallyExit wait
 * for and only a signal or another program in its place do not. Windows ends with 1 whatever the status; Node 20 on
 * macOS has no execve and ends with 137.
 */
export function endBlockedProcess(status: number): void {
  const execve: unknown = Reflect.get(process, 'execve');
  if (process.platform !== 'win32' && typeof execve === 'function')
    execve.call(process, '/bin/sh', ['sh', '-c', `exit ${status}`], {});
  process.kill(process.pid, 'SIGKILL');
}

async function readNatively(account: string): Promise<KeychainReadResult> {
  const { AsyncEntry } = await import('@napi-rs/keyring');
  try {
    const value = await new AsyncEntry(keychainService, account).getPassword();
    return value === null ? { kind: 'absent' } : { kind: 'found', value };
  } catch (error) {
    return classifyKeychainError(error);
  }
}
