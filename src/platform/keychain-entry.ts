import { AsyncEntry } from '@napi-rs/keyring';
import type { KeychainAbsent, KeychainDone, KeychainFound, KeychainUnavailable } from './host.ts';
import { service } from './keychain-names.ts';
import { unavailable } from './keychain-words.ts';

export async function readItem(account: string): Promise<KeychainFound | KeychainAbsent | KeychainUnavailable> {
  try {
    const value = (await entry(account).getPassword()) ?? null;
    return value === null ? { kind: 'absent' } : { kind: 'found', value };
  } catch (error) {
    return unavailable(error);
  }
}

/** What is stored decides: a write that failed may have landed, and an accepted one may not be there. */
export async function writeItem(account: string, value: string): Promise<KeychainDone | KeychainUnavailable> {
  const failure = await attempt(() => entry(account).setPassword(value));
  if (failure !== undefined && neverBegan.has(failure.why)) return failure;
  const stored = await readItem(account);
  if (stored.kind === 'found' && stored.value === value) return { kind: 'done' };
  return failure ?? notAsAsked(stored, 'the keychain does not hold what was written to it');
}

export async function removeItem(account: string): Promise<KeychainDone | KeychainUnavailable> {
  const failure = await attempt(() => entry(account).deletePassword());
  if (failure !== undefined && neverBegan.has(failure.why)) return failure;
  const stored = await readItem(account);
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

async function attempt(work: () => Promise<unknown>): Promise<KeychainUnavailable | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    return unavailable(error);
  }
}

function notAsAsked(stored: KeychainFound | KeychainAbsent | KeychainUnavailable, reason: string): KeychainUnavailable {
  return stored.kind === 'unavailable' ? stored : { kind: 'unavailable', why: 'failed', reason };
}
