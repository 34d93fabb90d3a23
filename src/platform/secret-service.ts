import { type Bus, openBus } from './dbus.ts';
import type { Reply } from './dbus-wire.ts';
import type { Environment, KeychainAbsent, KeychainFound, KeychainUnavailable } from './host.ts';
import { unavailable } from './keychain-words.ts';

/**
 * Reads one item straight from the Secret Service (https://specifications.freedesktop.org/secret-service/0.2).
 * The native client cannot be used where a hung service must not hang the program: its call blocks a thread that
 * process.exit waits for. This one is a socket, which closes; it never unlocks and never prompts.
 */
export async function readSecret(
  env: Environment,
  attributes: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<KeychainFound | KeychainAbsent | KeychainUnavailable> {
  const bus = openBus(env);
  if (bus === undefined) return { kind: 'unavailable', why: 'missing', reason: 'there is no session bus' };
  signal.addEventListener('abort', () => bus.close());
  try {
    return await read(bus, attributes);
  } catch (error) {
    return unavailable(error);
  } finally {
    bus.close();
  }
}

async function read(
  bus: Bus,
  attributes: Readonly<Record<string, string>>,
): Promise<KeychainFound | KeychainAbsent | KeychainUnavailable> {
  const [found, session] = await Promise.all([search(bus, attributes), openSession(bus)]);
  const [item, another] = found.unlocked;
  if (found.locked.length > 0) return { kind: 'unavailable', why: 'locked', reason: 'the keyring is locked' };
  if (another !== undefined) return { kind: 'unavailable', why: 'failed', reason: 'there are several such items' };
  if (item === undefined) return { kind: 'absent' };
  return { kind: 'found', value: await getSecret(bus, item, session) };
}

const service = 'org.freedesktop.secrets';
const root = { destination: service, path: '/org/freedesktop/secrets', interface: 'org.freedesktop.Secret.Service' };

interface Matches {
  readonly unlocked: readonly string[];
  readonly locked: readonly string[];
}

async function search(bus: Bus, attributes: Readonly<Record<string, string>>): Promise<Matches> {
  const reply = await bus.call({
    ...root,
    member: 'SearchItems',
    signature: 'a{ss}',
    body: (writer) =>
      writer.array(8, () => {
        for (const [name, value] of Object.entries(attributes)) {
          writer.align(8);
          writer.string(name);
          writer.string(value);
        }
      }),
  });
  const { body } = expecting(reply, 'aoao');
  const paths = (): readonly string[] => {
    const list: string[] = [];
    body.array(4, () => list.push(body.string()));
    return list;
  };
  return { unlocked: paths(), locked: paths() };
}

/** `plain`: the bus is a socket of this user alone, and whoever can listen on it can ask for the secret himself. */
async function openSession(bus: Bus): Promise<string> {
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
  const { body } = expecting(reply, 'vo');
  body.variant();
  return body.string();
}

async function getSecret(bus: Bus, item: string, session: string): Promise<string> {
  const reply = await bus.call({
    destination: service,
    path: item,
    interface: 'org.freedesktop.Secret.Item',
    member: 'GetSecret',
    signature: 'o',
    body: (writer) => writer.string(session),
  });
  const { body } = expecting(reply, '(oayays)');
  body.align(8);
  body.string();
  body.byteArray();
  return body.byteArray().toString('utf8');
}

function expecting(reply: Reply, signature: string): Reply {
  if (reply.signature !== signature) throw new Error(`the keyring answered ${reply.signature} instead of ${signature}`);
  return reply;
}
