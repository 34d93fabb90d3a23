import { type DbusConnection, type DbusReply, type DbusWriter, openSessionBus } from './dbus.ts';
import type { KeychainItemAbsent, KeychainItemFound, KeychainUnavailable, ProcessEnvironment } from './host.ts';
import { classifyKeychainError } from './keychain-wire.ts';

/**
 * Reads one item from the Secret Service (https://specifications.freedesktop.org/secret-service/0.2). The Secret Service is
 * accessed over its socket, because a native call that hangs blocks a thread, for which process.exit waits. Reading from the
 * Secret Service never unlocks a keyring or prompts.
 */
export async function readSecretServiceItem(
  env: ProcessEnvironment,
  attributes: SecretServiceAttributes,
  signal: AbortSignal,
): Promise<KeychainItemFound | KeychainItemAbsent | KeychainUnavailable> {
  return withSecretService(env, signal, async (bus) => {
    const [item, session] = await Promise.all([findSecretServiceItem(bus, attributes), openSecretServiceSession(bus)]);
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
  const bus = openSessionBus(env);
  if (bus === undefined) return { kind: 'unavailable', why: 'missing', reason: 'no session bus exists' };
  signal.addEventListener('abort', () => bus.close());
  try {
    await registerClient(bus);
    return await talk(bus);
  } catch (error) {
    return classifyKeychainError(error);
  } finally {
    bus.close();
  }
}

export const secretServiceBusName = 'org.freedesktop.secrets';
const root = {
  destination: secretServiceBusName,
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
  await findKeyringPathByAlias(bus, '').catch(() => undefined);
}

/** Returns the path of the collection with this alias; `/` when there is none. */
export async function findKeyringPathByAlias(bus: DbusConnection, alias: string): Promise<string> {
  const call = { ...root, member: 'ReadAlias', signature: 's' };
  const reply = await bus.call({ ...call, body: (writer) => writer.string(alias) });
  return requireDbusSignature(reply, 'o').body.string();
}

/** The object path of the only item with these attributes; undefined when there is none. */
export async function findSecretServiceItem(
  bus: DbusConnection,
  attributes: SecretServiceAttributes,
): Promise<string | KeychainUnavailable | undefined> {
  const found = await searchItems(bus, attributes);
  const [item, another] = found.unlocked;
  if (found.locked.length > 0) return { kind: 'unavailable', why: 'locked', reason: 'the keyring is locked' };
  if (another !== undefined)
    return { kind: 'unavailable', why: 'failed', reason: 'several items have these attributes' };
  return item;
}

export type SecretServiceAttributes = Readonly<Record<string, string>>;

export function writeSecretServiceAttributes(writer: DbusWriter, attributes: SecretServiceAttributes): void {
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

async function searchItems(bus: DbusConnection, attributes: SecretServiceAttributes): Promise<FoundItems> {
  const reply = await bus.call({
    ...root,
    member: 'SearchItems',
    signature: 'a{ss}',
    body: (writer) => writeSecretServiceAttributes(writer, attributes),
  });
  const { body } = requireDbusSignature(reply, 'aoao');
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
export async function openSecretServiceSession(bus: DbusConnection): Promise<string> {
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
  const { body } = requireDbusSignature(reply, 'vo');
  body.variant();
  return body.string();
}

async function getSecret(bus: DbusConnection, item: string, session: string): Promise<string> {
  const reply = await bus.call({
    destination: secretServiceBusName,
    path: item,
    interface: 'org.freedesktop.Secret.Item',
    member: 'GetSecret',
    signature: 'o',
    body: (writer) => writer.string(session),
  });
  const { body } = requireDbusSignature(reply, '(oayays)');
  body.align(8);
  body.string();
  body.byteArray();
  return body.byteArray().toString('utf8');
}

export function requireDbusSignature(reply: DbusReply, signature: string): DbusReply {
  if (reply.signature !== signature)
    throw new Error(`the keyring returned the type ${reply.signature} instead of ${signature}`);
  return reply;
}
