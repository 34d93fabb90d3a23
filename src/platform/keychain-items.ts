import { AsyncEntry } from '@napi-rs/keyring';
import { classifyKeychainError } from './classify-keychain-error.ts';
import type { Environment, KeychainAbsent, KeychainDone, KeychainFound, KeychainUnavailable } from './host.ts';
import { keychainService } from './keychain-service.ts';
import { readSecret } from './secret-service.ts';
import { removeSecret, writeSecret } from './secret-service-write.ts';

export interface KeychainHost {
  readonly env: Environment;
  readonly platform: NodeJS.Platform;
}

/**
 * On Linux the Secret Service is asked by ourselves as long as nobody has to unlock anything: the native client opens a
 * connection for every operation with the call that now and then aborts gnome-keyring (see secret-service.ts). It does
 * what takes a prompt, and whatever else we could not: to read is harmless twice, and so is to write the same again.
 */
export async function readKeychainItem(
  account: string,
  { env, platform }: KeychainHost,
): Promise<KeychainFound | KeychainAbsent | KeychainUnavailable> {
  if (platform === 'linux') {
    const read = await readSecret(env, attributesOf(account), new AbortController().signal);
    if (read.kind !== 'unavailable') return read;
  }
  try {
    const value = (await keyringEntry(account).getPassword()) ?? null;
    return value === null ? { kind: 'absent' } : { kind: 'found', value };
  } catch (error) {
    return classifyKeychainError(error);
  }
}

/** What is stored decides: a write that failed may have landed, and an accepted one may not be there. */
export async function writeKeychainItem(
  account: string,
  value: string,
  machine: KeychainHost,
): Promise<KeychainDone | KeychainUnavailable> {
  const item = { label: `keyring:${account}@${keychainService}`, attributes: attributesOf(account), value };
  const failure = await attempt(
    machine,
    () => writeSecret(machine.env, item),
    () => keyringEntry(account).setPassword(value),
  );
  if (failure !== undefined && failuresBeforeWrite.has(failure.why)) return failure;
  const stored = await readKeychainItem(account, machine);
  if (stored.kind === 'found' && stored.value === value) return { kind: 'done' };
  return failure ?? unverified(stored, 'the keychain does not hold what was written to it');
}

export async function removeKeychainItem(
  account: string,
  machine: KeychainHost,
): Promise<KeychainDone | KeychainUnavailable> {
  const failure = await attempt(
    machine,
    () => removeSecret(machine.env, attributesOf(account)),
    () => keyringEntry(account).deletePassword(),
  );
  if (failure !== undefined && failuresBeforeWrite.has(failure.why)) return failure;
  const stored = await readKeychainItem(account, machine);
  if (stored.kind === 'absent') return { kind: 'done' };
  return failure ?? unverified(stored, 'the keychain still holds what was removed from it');
}

/** Reading after one of these would only show a second prompt to a person who has dismissed the first. */
const failuresBeforeWrite: ReadonlySet<KeychainUnavailable['why']> = new Set(['locked', 'missing']);

function keyringEntry(account: string): AsyncEntry {
  return new AsyncEntry(keychainService, account, keyringOptions);
}

/** Pinned on Linux: else the library silently takes the kernel keyring, which is gone at the next start of the machine. */
const keyringOptions = { linux: { store: 'secret-service' } } as const;

/** As the native client names them, so that either finds the other's. */
function attributesOf(account: string): Readonly<Record<string, string>> {
  return { service: keychainService, username: account };
}

async function attempt(
  { platform }: KeychainHost,
  straight: () => Promise<KeychainDone | KeychainUnavailable>,
  natively: () => Promise<unknown>,
): Promise<KeychainUnavailable | undefined> {
  if (platform === 'linux' && (await straight()).kind === 'done') return undefined;
  try {
    await natively();
    return undefined;
  } catch (error) {
    return classifyKeychainError(error);
  }
}

function unverified(stored: KeychainFound | KeychainAbsent | KeychainUnavailable, reason: string): KeychainUnavailable {
  return stored.kind === 'unavailable' ? stored : { kind: 'unavailable', why: 'failed', reason };
}
