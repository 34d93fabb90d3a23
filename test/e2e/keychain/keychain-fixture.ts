import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { openBus } from '../../../src/platform/dbus.ts';
import { type Ran, type RunOptions, run } from '../../fixtures/cli.ts';
import { type Environment, type Folders, makeFolders } from '../../fixtures/folders.ts';
import { logIn } from '../../fixtures/login.ts';
import { lacks } from '../../fixtures/needs.ts';
import { type Sandbox, startSandbox } from '../../fixtures/sandbox.ts';
import { type SecretService, startSecretService } from '../../fixtures/secret-service.ts';

export const noKeyring = lacks('gnome-keyring-daemon', 'dbus-daemon', 'dbus-send', 'secret-tool');

/** A sandbox whose consent page answers by itself, and a person with a keychain of their own. */
export interface KeychainFixture {
  readonly sandbox: Sandbox;
  readonly service: SecretService;
  readonly folders: Folders;
  /** Where the person's programs find the sandbox and the keychain. */
  readonly env: Environment;
  run(args: readonly string[], more?: Partial<RunOptions>): Promise<Ran>;
  logIn(words?: readonly string[], more?: Partial<RunOptions>): Promise<Ran>;
  /** The items of cloudctl in the keychain, as another program sees them: account to value. */
  items(): Promise<ReadonlyMap<string, string>>;
  close(): Promise<void>;
}

export async function makeKeychainFixture(): Promise<KeychainFixture> {
  const [world, folders] = [makeFolders(), makeFolders()];
  const [sandbox, service] = await Promise.all([
    startSandbox(world, ['--no-profile', '--consent', 'approve maya@example.com']),
    startSecretService(),
  ]);
  const env = {
    CLOUDCTL_AUTH_URL: sandbox.auth_url,
    CLOUDCTL_BASE_URL: sandbox.base_url,
    CLOUDCTL_CLIENT_ID: sandbox.client_id,
    CLOUDCTL_CALLBACK_URL: sandbox.callback_url,
    DBUS_SESSION_BUS_ADDRESS: service.env.DBUS_SESSION_BUS_ADDRESS,
  };
  const options = (more: Partial<RunOptions>): RunOptions => ({ folders, ...more, env: { ...env, ...more.env } });
  return {
    sandbox,
    service,
    folders,
    env,
    run: (args, more = {}) => run(args, options(more)),
    logIn: (words = [], more = {}) => logIn(options(more), words),
    items: () => itemsOf(service),
    close: async () => {
      await Promise.all([sandbox.stop(), service.stop()]);
      world.remove();
      folders.remove();
    },
  };
}

/** Setup from a script: everything but the secret comes from variables. */
export function setUp(
  fixture: KeychainFixture,
  words: readonly string[] = [],
  more: Partial<RunOptions> = {},
): Promise<Ran> {
  return fixture.run(['auth', 'setup', '--client-secret-stdin', '--no-input', ...words], {
    stdin: `${fixture.sandbox.client_secret}\n`,
    ...more,
  });
}

/** The window that asks to unlock the keychain, with nobody there to answer it. Resolves with what takes it away. */
export async function openUnlockWindow(service: SecretService): Promise<() => void> {
  const bus = openBus(service.env);
  if (bus === undefined) throw new Error('there is no session bus');
  const daemon = 'org.freedesktop.DBus';
  const name = { destination: daemon, path: '/org/freedesktop/DBus', interface: daemon, member: 'RequestName' };
  await bus.call({
    ...name,
    signature: 'su',
    body(writer) {
      writer.string('org.gnome.keyring.SystemPrompter');
      writer.uint32(0);
    },
  });
  return () => bus.close();
}

/** What a stored session holds; the test's own assertions check it. */
export interface StoredRecord {
  readonly gen: number;
  readonly sid: string;
  readonly access_token: string;
  readonly refresh_token: string;
}

export function recordOf(item: string | undefined): StoredRecord {
  return JSON.parse(item ?? 'null');
}

/** By secret-tool, which knows nothing of cloudctl but the attributes of its items. */
async function itemsOf(service: SecretService): Promise<ReadonlyMap<string, string>> {
  const found = await secretTool(service, 'search', '--all', 'service', 'cloudctl');
  const accounts = [...found.matchAll(/^attribute\.username = (.*)$/gm)].map(([, account = '']) => account);
  const values = await Promise.all(
    accounts.map((account) => secretTool(service, 'lookup', 'service', 'cloudctl', 'username', account)),
  );
  return new Map(accounts.map((account, at) => [account, values[at] ?? '']));
}

async function secretTool(service: SecretService, ...words: string[]): Promise<string> {
  // `search` prints the attributes on stderr, and ends with 1 when there is nothing.
  const { stdout, stderr } = await promisify(execFile)('secret-tool', words, { env: service.env }).catch(
    (error: { readonly code: unknown; readonly stdout: string; readonly stderr: string }) => {
      if (error.code !== 1) throw error;
      return error;
    },
  );
  return words[0] === 'search' ? `${stdout}\n${stderr}` : stdout;
}
