import { type DbusConnection, type DbusReply, type DbusWriter, openBus } from './dbus.ts';
import type { ItemAbsent, ItemFound, KeychainUnavailable, ProcessEnvironment } from './host.ts';
import { classifyError } from './keychain-wire.ts';

/**
 * Reads one item from the Secret Service (https://specifications.freedesktop.org/secret-service/0.2). The Secret Service is
 * accessed over its socket, because a native call that hangs blocks a thread, for which process.exit waits. Reading from the
 * Secret Service never unlocks a keyring or prompts.
 */
export async function readServiceItem(
  env: ProcessEnvironment,
  attributes: ItemAttributes,
  signal: AbortSignal,
): Promise<ItemFound | ItemAbsent | KeychainUnavailable> {
  return withSecretService(env, signal, async (bus) => {
    const [item, session] = await Promise.all([findItem(bus, attributes), openServiceSession(bus)]);
    if (typeof item !== 'string') return item ?? { kind: 'absent' };
    return { kind: 'found', value: await getSecret(bus, item, session) };
  });
}

/** Opens a connection to the Secret Service for the function `talk` and closes the connection afterwards. */
export async function withSecretService<Outcome>(
  env: ProcessEnvironment,
  signal: AbortSignal,
  talk: (bus: DbusConnection) => Promise<Outcome>,
): Promise<Outcome | KeychainUnavailable> {
  const bus = openBus(env);
  if (bus === undefined) return { kind: 'unavailable', why: 'missing', reason: 'no session bus exists' };
  signal.addEventListener('abort', () => bus.close());
  try {
    await registerClient(bus);
    return await talk(bus);
  } catch (error) {
    return classifyError(error);
  } finally {
    bus.close();
  }
}

export const busName = 'org.freedesktop.secrets';
const root = {
  destination: busName,
  path: '/org/freedesktop/secrets',
  interface: 'org.freedesktop.Secret.Service',
};

/**
 * The keyring service gnome-keyring (at least versions 42 to 50) registers a new client asynchronously. In about one of
 * 2,000 connections the OpenSession call arrives before the registration and ends the whole service. Therefore the
 * program first calls ReadAlias, which needs no registration, and sends OpenSession after the reply to ReadAlias.
 */
async function registerClient(bus: DbusConnection): Promise<void> {
  // The result of the ReadAlias call is ignored; if the service is missing, the next call reports it.
  await findKeyring(bus, '').catch(() => undefined);
}

/** Returns the path of the collection with this alias; `/` when there is none. */
export async function findKeyring(bus: DbusConnection, alias: string): Promise<string> {
  const call = { ...root, member: 'ReadAlias', signature: 's' };
  const reply = await bus.call({ ...call, body: (writer) => writer.string(alias) });
  return requireSignature(reply, 'o').body.string();
}

/** The object path of the only item with these attributes; undefined when there is none. */
export async function findItem(
  bus: DbusConnection,
  attributes: ItemAttributes,
): Promise<string | KeychainUnavailable | undefined> {
  const found = await searchItems(bus, attributes);
  const [item, another] = found.unlocked;
  if (found.locked.length > 0) return { kind: 'unavailable', why: 'locked', reason: 'the keyring is locked' };
  if (another !== undefined)
    return { kind: 'unavailable', why: 'failed', reason: 'several items have these attributes' };
  return item;
}

export type ItemAttributes = Readonly<Record<string, string>>;

export function writeAttributes(writer: DbusWriter, attributes: ItemAttributes): void {
  writer.array(8, () => {
    for (const [name, value] of Object.entries(attributes)) {
      writer.align(8);
      writer.string(name);
      writer.string(value);
    }
  });
}

interface FoundItems {
  readonly unlocked: readonly string[];
  readonly locked: readonly string[];
}

async function searchItems(bus: DbusConnection, attributes: ItemAttributes): Promise<FoundItems> {
  const reply = await bus.call({
    ...root,
    member: 'SearchItems',
    signature: 'a{ss}',
    body: (writer) => writeAttributes(writer, attributes),
  });
  const { body } = requireSignature(reply, 'aoao');
  const paths = (): readonly string[] => {
    const list: string[] = [];
    body.array(4, () => list.push(body.string()));
    return list;
  };
  return { unlocked: paths(), locked: paths() };
}

/**
 * The session is unencrypted (`plain`), because the bus is a socket of this user, and a process that can read the socket can
 * also request the secret.
 */
export async function openServiceSession(bus: DbusConnection): Promise<string> {
  const reply = await bus.call({
    ...root,
    member: 'OpenSession',
    signature: 'sv',
    body(writer) {
      writer.string('plain');
      writer.signature('s');
      writer.string('');
    },
  });
  const { body } = requireSignature(reply, 'vo');
  body.variant();
  return body.string();
}

async function getSecret(bus: DbusConnection, item: string, session: string): Promise<string> {
  const reply = await bus.call({
    destination: busName,
    path: item,
    interface: 'org.freedesktop.Secret.Item',
    member: 'GetSecret',
    signature: 'o',
    body: (writer) => writer.string(session),
  });
  const { body } = requireSignature(reply, '(oayays)');
  body.align(8);
  body.string();
  body.byteArray();
  return body.byteArray().toString('utf8');
}

export function requireSignature(reply: DbusReply, signature: string): DbusReply {
  if (reply.signature !== signature)
    throw new Error(`the keyring returned the type ${reply.signature} instead of ${signature}`);
  return reply;
}
