import { AsyncEntry } from '@napi-rs/keyring';
import type { Environment, KeychainAbsent, KeychainDone, KeychainFound, KeychainUnavailable } from './host.ts';
import { service } from './keychain-names.ts';
import { unavailable } from './keychain-words.ts';
import { readSecret } from './secret-service.ts';
import { removeSecret, writeSecret } from './secret-service-write.ts';

export interface Machine {
  readonly env: Environment;
  readonly platform: NodeJS.Platform;
}

/**
 * On Linux the Secret Service is asked by ourselves as long as nobody has to unlock anything: the native client opens a
 * connection for every operation with the call that now and then aborts gnome-keyring (see secret-service.ts). It does
 * what takes a prompt, and whatever else we could not: to read is harmless twice, and so is to write the same again.
 */
export async function readItem(
  account: string,
  { env, platform }: Machine,
): Promise<KeychainFound | KeychainAbsent | KeychainUnavailable> {
  if (platform === 'linux') {
    const read = await readSecret(env, attributesOf(account), new AbortController().signal);
    if (read.kind !== 'unavailable') return read;
  }
  try {
    const value = (await entry(account).getPassword()) ?? null;
    return value === null ? { kind: 'absent' } : { kind: 'found', value };
  } catch (error) {
    return unavailable(error);
  }
}

/** What is stored decides: a write that failed may have landed, and an accepted one may not be there. */
export async function writeItem(
  account: string,
  value: string,
  machine: Machine,
): Promise<KeychainDone | KeychainUnavailable> {
  const item = { label: `keyring:${account}@${service}`, attributes: attributesOf(account), value };
  const failure = await attempt(
    machine,
    () => writeSecret(machine.env, item),
    () => entry(account).setPassword(value),
  );
  if (failure !== undefined && neverBegan.has(failure.why)) return failure;
  const stored = await readItem(account, machine);
  if (stored.kind === 'found' && stored.value === value) return { kind: 'done' };
  return failure ?? notAsAsked(stored, 'the keychain does not hold what was written to it');
}

export async function removeItem(account: string, machine: Machine): Promise<KeychainDone | KeychainUnavailable> {
  const failure = await attempt(
    machine,
    () => removeSecret(machine.env, attributesOf(account)),
    () => entry(account).deletePassword(),
  );
  if (failure !== undefined && neverBegan.has(failure.why)) return failure;
  const stored = await readItem(account, machine);
  if (stored.kind === 'absent') return { kind: 'done' };
  return failure ?? notAsAsked(stored, 'the keychain still holds what was removed from it');
}

/** Reading after one of these would only show a second prompt to a person who has dismissed the first. */
const neverBegan: ReadonlySet<KeychainUnavailable['why']> = new Set(['locked', 'missing']);

function entry(account: string): AsyncEntry {
  return new AsyncEntry(service, account, pinned);
}

/** Pinned on Linux: else the library silently takes the kernel keyring, which is gone at the next start of the machine. */
const pinned = { linux: { store: 'secret-service' } } as const;

/** As the native client names them, so that either finds the other's. */
function attributesOf(account: string): Readonly<Record<string, string>> {
  return { service, username: account };
}

async function attempt(
  { platform }: Machine,
  straight: () => Promise<KeychainDone | KeychainUnavailable>,
  natively: () => Promise<unknown>,
): Promise<KeychainUnavailable | undefined> {
  if (platform === 'linux' && (await straight()).kind === 'done') return undefined;
  try {
    await natively();
    return undefined;
  } catch (error) {
    return unavailable(error);
  }
}

function notAsAsked(stored: KeychainFound | KeychainAbsent | KeychainUnavailable, reason: string): KeychainUnavailable {
  return stored.kind === 'unavailable' ? stored : { kind: 'unavailable', why: 'failed', reason };
}
