import type { DbusConnection } from './dbus-connection.ts';
import type { DbusWriter } from './dbus-wire.ts';
import type { Environment, KeychainDone, KeychainUnavailable } from './host.ts';
import {
  findItem,
  openSecretSession,
  readAlias,
  requireSignature,
  type SecretAttributes,
  secretServiceName,
  withSecretService,
  writeAttributes,
} from './secret-service.ts';

export interface SecretItem {
  readonly label: string;
  readonly attributes: SecretAttributes;
  readonly value: string;
}

/** Writes one item straight to the Secret Service. Never unlocks and never prompts: what would take that is `unavailable`. */
export function writeSecret(env: Environment, item: SecretItem): Promise<KeychainDone | KeychainUnavailable> {
  return withSecretService(env, new AbortController().signal, async (bus) => {
    const [path, session] = await Promise.all([findItem(bus, item.attributes), openSecretSession(bus)]);
    if (typeof path === 'object') return path;
    if (path === undefined) return createItem(bus, item, session);
    const call = {
      destination: secretServiceName,
      path,
      interface: 'org.freedesktop.Secret.Item',
      member: 'SetSecret',
    };
    await bus.call({ ...call, signature: '(oayays)', body: (writer) => writeStruct(writer, session, item.value) });
    return { kind: 'done' };
  });
}

/** Removes the item with these attributes; `done` as well when there is none. */
export function removeSecret(
  env: Environment,
  attributes: SecretAttributes,
): Promise<KeychainDone | KeychainUnavailable> {
  return withSecretService(env, new AbortController().signal, async (bus) => {
    const path = await findItem(bus, attributes);
    if (typeof path === 'object') return path;
    if (path === undefined) return { kind: 'done' };
    const call = { destination: secretServiceName, path, interface: 'org.freedesktop.Secret.Item', member: 'Delete' };
    return resultOfPrompt(requireSignature(await bus.call(call), 'o').body.string());
  });
}

async function createItem(
  bus: DbusConnection,
  item: SecretItem,
  session: string,
): Promise<KeychainDone | KeychainUnavailable> {
  const path = await readAlias(bus, 'default');
  if (path === nullPath) return { kind: 'unavailable', why: 'missing', reason: 'there is no default keyring' };
  const call = {
    destination: secretServiceName,
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
      // In place of one with the same attributes that came meanwhile.
      writer.uint32(1);
    },
  });
  const { body } = requireSignature(reply, 'oo');
  body.string();
  return resultOfPrompt(body.string());
}

/** The path that means none. */
const nullPath = '/';

function resultOfPrompt(prompt: string): KeychainDone | KeychainUnavailable {
  if (prompt === nullPath) return { kind: 'done' };
  return { kind: 'unavailable', why: 'locked', reason: 'the keyring asks for a confirmation' };
}

function writeProperties(writer: DbusWriter, { label, attributes }: SecretItem): void {
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

/** Session, parameters (none), value and content type, which is the native client's own. */
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
