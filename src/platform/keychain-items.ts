import type { AsyncEntry } from '@napi-rs/keyring';
import type { DbusConnection, DbusWriter } from './dbus.ts';
import type { ItemAbsent, ItemFound, KeychainUnavailable, OperationDone, ProcessEnvironment } from './host.ts';
import { classifyError, serviceName } from './keychain-wire.ts';
import {
  busName,
  findItem,
  findKeyring,
  type ItemAttributes,
  openServiceSession,
  readServiceItem,
  requireSignature,
  withSecretService,
  writeAttributes,
} from './secret-service.ts';

interface SecretServiceItem {
  readonly label: string;
  readonly attributes: ItemAttributes;
  readonly value: string;
}

/**
 * Writes one item to the Secret Service. Writing to the Secret Service never unlocks a keyring or prompts: the result is
 * `unavailable` if an unlock is needed.
 */
export function writeServiceItem(
  env: ProcessEnvironment,
  item: SecretServiceItem,
): Promise<OperationDone | KeychainUnavailable> {
  return withSecretService(env, new AbortController().signal, async (bus) => {
    const [path, session] = await Promise.all([findItem(bus, item.attributes), openServiceSession(bus)]);
    if (typeof path === 'object') return path;
    if (path === undefined) return createItem(bus, item, session);
    const call = {
      destination: busName,
      path,
      interface: 'org.freedesktop.Secret.Item',
      member: 'SetSecret',
    };
    await bus.call({ ...call, signature: '(oayays)', body: (writer) => writeStruct(writer, session, item.value) });
    return { kind: 'done' };
  });
}

/** Removes the Secret Service item with these attributes; a missing item also gives `done`. */
export function removeServiceItem(
  env: ProcessEnvironment,
  attributes: ItemAttributes,
): Promise<OperationDone | KeychainUnavailable> {
  return withSecretService(env, new AbortController().signal, async (bus) => {
    const path = await findItem(bus, attributes);
    if (typeof path === 'object') return path;
    if (path === undefined) return { kind: 'done' };
    const call = {
      destination: busName,
      path,
      interface: 'org.freedesktop.Secret.Item',
      member: 'Delete',
    };
    return resultOfPrompt(requireSignature(await bus.call(call), 'o').body.string());
  });
}

async function createItem(
  bus: DbusConnection,
  item: SecretServiceItem,
  session: string,
): Promise<OperationDone | KeychainUnavailable> {
  const path = await findKeyring(bus, 'default');
  if (path === nullPath) return { kind: 'unavailable', why: 'missing', reason: 'no default keyring exists' };
  const call = {
    destination: busName,
    path,
    interface: 'org.freedesktop.Secret.Collection',
    member: 'CreateItem',
  };
  const reply = await bus.call({
    ...call,
    signature: 'a{sv}(oayays)b',
    body(writer) {
      writeProperties(writer, item);
      writeStruct(writer, session, item.value);
      // The argument `replace` is true (1): an item with the same attributes that was created after the search is replaced.
      writer.uint32(1);
    },
  });
  const { body } = requireSignature(reply, 'oo');
  body.string();
  return resultOfPrompt(body.string());
}

/** The D-Bus object path that means "no object". */
const nullPath = '/';

function resultOfPrompt(prompt: string): OperationDone | KeychainUnavailable {
  if (prompt === nullPath) return { kind: 'done' };
  return { kind: 'unavailable', why: 'locked', reason: 'the keyring requires a confirmation' };
}

function writeProperties(writer: DbusWriter, { label, attributes }: SecretServiceItem): void {
  writer.array(8, () => {
    writer.align(8);
    writer.string('org.freedesktop.Secret.Item.Label');
    writer.signature('s');
    writer.string(label);
    writer.align(8);
    writer.string('org.freedesktop.Secret.Item.Attributes');
    writer.signature('a{ss}');
    writeAttributes(writer, attributes);
  });
}

/**
 * Writes a secret as the D-Bus structure of the Secret Service: its session, empty parameters, the value, and the content
 * type that the native client uses.
 */
function writeStruct(writer: DbusWriter, session: string, value: string): void {
  writer.align(8);
  writer.string(session);
  writeBytes(writer, Buffer.alloc(0));
  writeBytes(writer, Buffer.from(value, 'utf8'));
  writer.string('application/octet-stream');
}

function writeBytes(writer: DbusWriter, bytes: Buffer): void {
  writer.array(1, () => {
    for (const byte of bytes) writer.byte(byte);
  });
}

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
  { env, platform, service = serviceName }: KeychainEnvironment,
): Promise<ItemFound | ItemAbsent | KeychainUnavailable> {
  let direct: KeychainUnavailable | undefined;
  if (platform === 'linux') {
    const read = await readServiceItem(env, attributesOf(account, service), new AbortController().signal);
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
): Promise<OperationDone | KeychainUnavailable> {
  const { service = serviceName } = machine;
  const item = { label: `keyring:${account}@${service}`, attributes: attributesOf(account, service), value };
  const failure = await attempt(
    machine,
    () => writeServiceItem(machine.env, item),
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
): Promise<OperationDone | KeychainUnavailable> {
  const { service = serviceName } = machine;
  const failure = await attempt(
    machine,
    () => removeServiceItem(machine.env, attributesOf(account, service)),
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
  if (!(error instanceof NativeClientMissingError)) return classifyError(error);
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
  directly: () => Promise<OperationDone | KeychainUnavailable>,
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

function unverified(stored: ItemFound | ItemAbsent | KeychainUnavailable, reason: string): KeychainUnavailable {
  return stored.kind === 'unavailable' ? stored : { kind: 'unavailable', why: 'failed', reason };
}
