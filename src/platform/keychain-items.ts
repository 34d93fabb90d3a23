import type { AsyncEntry } from '@napi-rs/keyring';
import { classifyKeychainError } from './classify-keychain-error.ts';
import type {
  KeychainItemAbsent,
  KeychainItemFound,
  KeychainOperationDone,
  KeychainUnavailable,
  ProcessEnvironment,
} from './host.ts';
import { keychainServiceName } from './keychain-service.ts';
import { readSecretServiceItem } from './secret-service.ts';
import { removeSecretServiceItem, writeSecretServiceItem } from './secret-service-write.ts';

export interface KeychainEnvironment {
  readonly env: ProcessEnvironment;
  readonly platform: NodeJS.Platform;
  /** The service name of the keychain items (default: the service name that this program uses). */
  readonly service?: string;
}

/**
 * On Linux this program accesses the Secret Service directly as long as no unlock is needed, because the native client starts
 * each operation with a call that can crash gnome-keyring (see secret-service.ts). The native client is used for unlock prompts
 * and after any other failure of direct access; repeating a read or a write has no side effect.
 */
export async function readKeychainItem(
  account: string,
  { env, platform, service = keychainServiceName }: KeychainEnvironment,
): Promise<KeychainItemFound | KeychainItemAbsent | KeychainUnavailable> {
  let direct: KeychainUnavailable | undefined;
  if (platform === 'linux') {
    const read = await readSecretServiceItem(env, attributesOf(account, service), new AbortController().signal);
    if (read.kind !== 'unavailable') return read;
    direct = read;
  }
  try {
    const value = (await (await openKeyringEntry(account, service)).getPassword()) ?? null;
    return value === null ? { kind: 'absent' } : { kind: 'found', value };
  } catch (error) {
    return nativeFailure(error, direct);
  }
}

/** After a write the item is read back, because a failed write may have been stored, and a successful one may be missing. */
export async function writeKeychainItem(
  account: string,
  value: string,
  machine: KeychainEnvironment,
): Promise<KeychainOperationDone | KeychainUnavailable> {
  const { service = keychainServiceName } = machine;
  const item = { label: `keyring:${account}@${service}`, attributes: attributesOf(account, service), value };
  const failure = await attempt(
    machine,
    () => writeSecretServiceItem(machine.env, item),
    async () => (await openKeyringEntry(account, service)).setPassword(value),
  );
  if (failure !== undefined && failuresBeforeWrite.has(failure.why)) return failure;
  const stored = await readKeychainItem(account, machine);
  if (stored.kind === 'found' && stored.value === value) return { kind: 'done' };
  return failure ?? unverified(stored, 'the keychain does not contain the written item');
}

export async function removeKeychainItem(
  account: string,
  machine: KeychainEnvironment,
): Promise<KeychainOperationDone | KeychainUnavailable> {
  const { service = keychainServiceName } = machine;
  const failure = await attempt(
    machine,
    () => removeSecretServiceItem(machine.env, attributesOf(account, service)),
    async () => (await openKeyringEntry(account, service)).deletePassword(),
  );
  if (failure !== undefined && failuresBeforeWrite.has(failure.why)) return failure;
  const stored = await readKeychainItem(account, machine);
  if (stored.kind === 'absent') return { kind: 'done' };
  return failure ?? unverified(stored, 'the keychain still contains the removed item');
}

/** When the keychain is locked or missing, the item is not read back, because a read would only show the same unlock prompt again. */
const failuresBeforeWrite: ReadonlySet<KeychainUnavailable['why']> = new Set(['locked', 'missing']);

/**
 * The error for a missing binary of the native client: npm installed the dependencies without optional ones, or for another
 * system.
 */
class NativeClientMissingError extends Error {}

/**
 * Loads the keyring library on first use: if the library has no binary, the Secret Service can still be used directly.
 */
async function openKeyringEntry(account: string, service: string): Promise<AsyncEntry> {
  const loaded = await import('@napi-rs/keyring').catch((cause: unknown) => {
    const text = 'the package @napi-rs/keyring has no binary for this system: install it without `--omit=optional`';
    throw new NativeClientMissingError(text, { cause });
  });
  return new loaded.AsyncEntry(service, account, keyringOptions);
}

/** @param direct the failure of direct access to the Secret Service, which is more specific than a missing native client */
function nativeFailure(error: unknown, direct: KeychainUnavailable | undefined): KeychainUnavailable {
  if (!(error instanceof NativeClientMissingError)) return classifyKeychainError(error);
  return direct ?? { kind: 'unavailable', why: 'missing', reason: error.message };
}

/**
 * On Linux the option `target` of the keyring library is set explicitly, because otherwise the library uses the kernel
 * keyring, which is lost at the next boot.
 */
const keyringOptions = { linux: { store: 'secret-service' } } as const;

/** The attributes that the native client uses, so that direct access to the Secret Service finds the same item. */
function attributesOf(account: string, service: string): Readonly<Record<string, string>> {
  return { service, username: account };
}

async function attempt(
  { platform }: KeychainEnvironment,
  directly: () => Promise<KeychainOperationDone | KeychainUnavailable>,
  natively: () => Promise<unknown>,
): Promise<KeychainUnavailable | undefined> {
  let direct: KeychainUnavailable | undefined;
  if (platform === 'linux') {
    const written = await directly();
    if (written.kind === 'done') return undefined;
    direct = written;
  }
  try {
    await natively();
    return undefined;
  } catch (error) {
    return nativeFailure(error, direct);
  }
}

function unverified(
  stored: KeychainItemFound | KeychainItemAbsent | KeychainUnavailable,
  reason: string,
): KeychainUnavailable {
  return stored.kind === 'unavailable' ? stored : { kind: 'unavailable', why: 'failed', reason };
}
