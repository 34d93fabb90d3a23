import { classifyKeychainError } from './classify-keychain-error.ts';
import { type DbusConnection, openSessionBus } from './dbus-connection.ts';
import type { DbusReply, DbusWriter } from './dbus-wire.ts';
import type { Environment, KeychainAbsent, KeychainFound, KeychainUnavailable } from './host.ts';

/**
 * Reads one item straight from the Secret Service (https://specifications.freedesktop.org/secret-service/0.2).
 * The native client cannot be used where a hung service must not hang the program: its call blocks a thread that
 * process.exit waits for. This one is a socket, which closes; it never unlocks and never prompts.
 */
export async function readSecret(
  env: Environment,
  attributes: SecretAttributes,
  signal: AbortSignal,
): Promise<KeychainFound | KeychainAbsent | KeychainUnavailable> {
  return withSecretService(env, signal, async (bus) => {
    const [item, session] = await Promise.all([findItem(bus, attributes), openSecretSession(bus)]);
    if (typeof item !== 'string') return item ?? { kind: 'absent' };
    return { kind: 'found', value: await getSecret(bus, item, session) };
  });
}

/** A connection to the service for as long as `talk` takes. */
export async function withSecretService<Outcome>(
  env: Environment,
  signal: AbortSignal,
  talk: (bus: DbusConnection) => Promise<Outcome>,
): Promise<Outcome | KeychainUnavailable> {
  const bus = openSessionBus(env);
  if (bus === undefined) return { kind: 'unavailable', why: 'missing', reason: 'there is no session bus' };
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

export const secretServiceName = 'org.freedesktop.secrets';
const root = {
  destination: secretServiceName,
  path: '/org/freedesktop/secrets',
  interface: 'org.freedesktop.Secret.Service',
};

/**
 * gnome-keyring (42 to 50 at least) notes a new client in one source of its main loop and answers its call in another:
 * now and then (one connection in 2,000 here) the call comes first, and an OpenSession of a client that is not noted
 * aborts the whole service. So the first call is one that needs no client, and the next waits until it is answered.
 */
async function registerClient(bus: DbusConnection): Promise<void> {
  // Whatever it says: a service that knows no such alias is there, and one that is not there says so to the next call.
  await readAlias(bus, '').catch(() => undefined);
}

/** `/` when no collection has this alias. */
export async function readAlias(bus: DbusConnection, alias: string): Promise<string> {
  const call = { ...root, member: 'ReadAlias', signature: 's' };
  const reply = await bus.call({ ...call, body: (writer) => writer.string(alias) });
  return requireSignature(reply, 'o').body.string();
}

/** The path of the one item with these attributes; undefined when there is none. */
export async function findItem(
  bus: DbusConnection,
  attributes: SecretAttributes,
): Promise<string | KeychainUnavailable | undefined> {
  const found = await searchItems(bus, attributes);
  const [item, another] = found.unlocked;
  if (found.locked.length > 0) return { kind: 'unavailable', why: 'locked', reason: 'the keyring is locked' };
  if (another !== undefined) return { kind: 'unavailable', why: 'failed', reason: 'there are several such items' };
  return item;
}

export type SecretAttributes = Readonly<Record<string, string>>;

export function writeAttributes(writer: DbusWriter, attributes: SecretAttributes): void {
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

async function searchItems(bus: DbusConnection, attributes: SecretAttributes): Promise<FoundItems> {
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

/** `plain`: the bus is a socket of this user alone, and whoever can listen on it can ask for the secret himself. */
export async function openSecretSession(bus: DbusConnection): Promise<string> {
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
    destination: secretServiceName,
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
  if (reply.signature !== signature) throw new Error(`the keyring answered ${reply.signature} instead of ${signature}`);
  return reply;
}
