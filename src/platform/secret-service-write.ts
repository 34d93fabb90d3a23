import type { DbusConnection } from './dbus-connection.ts';
import type { DbusWriter } from './dbus-wire.ts';
import type { KeychainOperationDone, KeychainUnavailable, ProcessEnvironment } from './host.ts';
import {
  findKeyringPathByAlias,
  findSecretServiceItem,
  openSecretServiceSession,
  requireDbusSignature,
  type SecretServiceAttributes,
  secretServiceBusName,
  withSecretService,
  writeSecretServiceAttributes,
} from './secret-service.ts';

export interface SecretServiceItem {
  readonly label: string;
  readonly attributes: SecretServiceAttributes;
  readonly value: string;
}

/**
 * Writes one item to the Secret Service. Writing to the Secret Service never unlocks a keyring or prompts: the result is
 * `unavailable` if an unlock is needed.
 */
export function writeSecretServiceItem(
  env: ProcessEnvironment,
  item: SecretServiceItem,
): Promise<KeychainOperationDone | KeychainUnavailable> {
  return withSecretService(env, new AbortController().signal, async (bus) => {
    const [path, session] = await Promise.all([
      findSecretServiceItem(bus, item.attributes),
      openSecretServiceSession(bus),
    ]);
    if (typeof path === 'object') return path;
    if (path === undefined) return createItem(bus, item, session);
    const call = {
      destination: secretServiceBusName,
      path,
      interface: 'org.freedesktop.Secret.Item',
      member: 'SetSecret',
    };
    await bus.call({ ...call, signature: '(oayays)', body: (writer) => writeStruct(writer, session, item.value) });
    return { kind: 'done' };
  });
}

/** Removes the Secret Service item with these attributes; a missing item also gives `done`. */
export function removeSecretServiceItem(
  env: ProcessEnvironment,
  attributes: SecretServiceAttributes,
): Promise<KeychainOperationDone | KeychainUnavailable> {
  return withSecretService(env, new AbortController().signal, async (bus) => {
    const path = await findSecretServiceItem(bus, attributes);
    if (typeof path === 'object') return path;
    if (path === undefined) return { kind: 'done' };
    const call = {
      destination: secretServiceBusName,
      path,
      interface: 'org.freedesktop.Secret.Item',
      member: 'Delete',
    };
    return resultOfPrompt(requireDbusSignature(await bus.call(call), 'o').body.string());
  });
}

async function createItem(
  bus: DbusConnection,
  item: SecretServiceItem,
  session: string,
): Promise<KeychainOperationDone | KeychainUnavailable> {
  const path = await findKeyringPathByAlias(bus, 'default');
  if (path === nullPath) return { kind: 'unavailable', why: 'missing', reason: 'no default keyring exists' };
  const call = {
    destination: secretServiceBusName,
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
  const { body } = requireDbusSignature(reply, 'oo');
  body.string();
  return resultOfPrompt(body.string());
}

/** The D-Bus object path that means "no object". */
const nullPath = '/';

function resultOfPrompt(prompt: string): KeychainOperationDone | KeychainUnavailable {
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
    writeSecretServiceAttributes(writer, attributes);
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
