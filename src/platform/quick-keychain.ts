import type { ItemAbsent, ItemFound, KeychainUnavailable, ProcessEnvironment } from './host.ts';
import { classifyError, serviceName } from './keychain-wire.ts';
import { readServiceItem } from './secret-service.ts';

type KeychainReadResult = ItemFound | ItemAbsent | KeychainUnavailable;

export interface QuickOptions {
  readonly env: ProcessEnvironment;
  readonly platform: NodeJS.Platform;
  /** Milliseconds. */
  readonly limit: number;
}

/**
 * Reads one keychain item without a helper process, for the fast path of `auth token`. After any result other than `found`, the
 * program repeats the read in a helper process, which can wait for an unlock and can be killed. On Linux the Secret Service is
 * accessed over its socket, which can be closed and is faster than the native client (1.4 instead of 1.6 times the start of
 * Node alone). On other platforms the native client is used; when it hangs, the process cannot exit normally (see
 * `exitBlocked`).
 */
export async function readQuickly(
  account: string,
  { env, platform, limit }: QuickOptions,
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
      ? readServiceItem(env, { service: serviceName, username: account }, given.signal)
      : readNatively(account);
  try {
    return await Promise.race([reading, late]);
  } finally {
    clearTimeout(timer);
    given.abort();
  }
}

/**
 * Ends this process although a native call blocks a thread, for which process.exit would wait. The function replaces the
 * process with another program, or kills the process where Node has no execve (Windows: status 1; Node 20 on macOS: status
 * 137).
 */
export function exitBlocked(status: number): void {
  const execve: unknown = Reflect.get(process, 'execve');
  if (process.platform !== 'win32' && typeof execve === 'function')
    execve.call(process, '/bin/sh', ['sh', '-c', `exit ${status}`], {});
  process.kill(process.pid, 'SIGKILL');
}

async function readNatively(account: string): Promise<KeychainReadResult> {
  const { AsyncEntry } = await import('@napi-rs/keyring');
  try {
    const value = await new AsyncEntry(serviceName, account).getPassword();
    return value === null ? { kind: 'absent' } : { kind: 'found', value };
  } catch (error) {
    return classifyError(error);
  }
}
