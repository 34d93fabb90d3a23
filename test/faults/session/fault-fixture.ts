import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestContext } from 'vitest';
import { keychainAccount, type ProfilePaths, profilePaths } from '../../../src/auth/session/paths.ts';
import { decodeRecord, encodeRecord, type SessionRecord } from '../../../src/auth/session/record.ts';
import { type CredentialStore, createFileStore, createKeychainStore } from '../../../src/auth/session/store.ts';
import { Secret } from '../../../src/base/secret.ts';
import { readText } from '../../../src/platform/files.ts';
import { helperKeychain } from '../../../src/platform/helper-keychain.ts';
import { readQuickly } from '../../../src/platform/quick-keychain.ts';
import type { LoggedRequest } from '../../../src/sandbox/request-log.ts';
import { type SandboxServers, startServers } from '../../../src/sandbox/sandbox.ts';
import { advanceClock } from '../../../src/sandbox/virtual-clock.ts';
import { node, type Ran, type Running, startProgram } from '../../fixtures/cli.ts';
import { type Environment, type Folders, makeFolders } from '../../fixtures/folders.ts';
import { profileNamed } from '../../fixtures/profile.ts';
import type { SecretService } from '../../fixtures/secret-service.ts';
import { admin, MAYA, tokenFor } from '../../sandbox/requests.ts';

export const build = fileURLToPath(new URL('../../../dist-test', import.meta.url));
const clock = fileURLToPath(new URL('./clock.cjs', import.meta.url));

/** Runs the build for tests: the program with the hook that kills or stops it at a point. */
export const program: readonly string[] = [node, '--require', clock, join(build, 'entry.cjs')];

export type StoreKind = 'keychain' | 'file';

export interface RunOptions {
  readonly env?: Environment;
  /** Put before the program: `['setpriv', …]`. */
  readonly under?: readonly string[];
  readonly limit?: number;
}

/** A person whose session has expired, and the server that can renew it. */
export interface FaultFixture {
  readonly store: StoreKind;
  readonly sandbox: SandboxServers;
  readonly folders: Folders;
  readonly env: Environment;
  readonly place: ProfilePaths;
  /** Everything that was ever a secret here, by what could be seen of it. */
  readonly secrets: Set<string>;
  /** Everything that was printed. */
  readonly printed: Ran[];
  /** The highest generation that was seen of a sid. */
  readonly highest: Map<string, number>;
  start(words: readonly string[], more?: RunOptions): Running;
  run(words: readonly string[], more?: RunOptions): Promise<Ran>;
  /** The item as it is stored, without what lies beside it. */
  item(profile?: string): Promise<SessionRecord | undefined>;
  write(record: SessionRecord, profile?: string): Promise<void>;
  /** The stored session has expired by the client's clock; with `everywhere` the server's clock has moved as well. */
  expire(everywhere?: boolean): Promise<void>;
  /** What lies beside the locks while a refresh is on its way. */
  beside(): readonly string[];
  refreshes(): readonly LoggedRequest[];
}

export interface FaultFixtureOptions {
  /** The fixture ends with this test. Tests that run at the same moment cannot be told apart without. */
  readonly test: Pick<TestContext, 'onTestFinished'>;
  readonly service?: SecretService | undefined;
  /** In place of the authorization server's own origin. */
  readonly authUrl?: ((sandbox: SandboxServers) => Promise<string>) | undefined;
  readonly profiles?: readonly string[];
}

export async function createFaultFixture(store: StoreKind, options: FaultFixtureOptions): Promise<FaultFixture> {
  const { service, profiles = ['default'] } = options;
  const folders = makeFolders();
  const sandbox = await startServers();
  options.test.onTestFinished(async () => {
    await sandbox.close();
    folders.remove();
  });
  await admin(sandbox, 'POST', '/_sandbox/consent', { mode: 'approve', user: MAYA });
  const authUrl = (await options.authUrl?.(sandbox)) ?? sandbox.ready.auth_url;
  const env: Environment = {
    CLOUDCTL_CLIENT_SECRET: sandbox.ready.client_secret,
    ...(store === 'keychain' ? { DBUS_SESSION_BUS_ADDRESS: service?.env.DBUS_SESSION_BUS_ADDRESS } : {}),
  };
  const fixture = createGround({ store, sandbox, folders, env, service });
  const profile = {
    auth_url: authUrl,
    base_url: sandbox.ready.base_url,
    client_id: sandbox.ready.client_id,
    callback_urls: [sandbox.ready.callback_url],
    credential_store: store,
    scope: 'read write',
  };
  mkdirSync(folders.config, { recursive: true });
  const config = { profile: profiles[0], profiles: Object.fromEntries(profiles.map((name) => [name, profile])) };
  writeFileSync(join(folders.config, 'config.json'), JSON.stringify(config));
  for (const name of profiles) {
    const grant = await tokenFor(sandbox);
    const record: SessionRecord = {
      sid: randomBytes(8).toString('hex'),
      gen: 1,
      journalKey: new Secret(randomBytes(32).toString('base64url')),
      accessToken: new Secret(grant.access_token),
      refreshToken: new Secret(grant.refresh_token),
      expiresAt: Math.floor(Date.now() / 1000) - 60,
      obtainedAt: Math.floor(Date.now() / 1000) - 3600,
      scope: 'read write',
      authOrigin: authUrl,
      baseOrigin: sandbox.ready.base_url,
      clientId: sandbox.ready.client_id,
    };
    await fixture.write(record, name);
    await fixture.item(name);
  }
  return fixture;
}

type Parts = Pick<FaultFixture, 'store' | 'sandbox' | 'folders' | 'env'> & Pick<FaultFixtureOptions, 'service'>;

function createGround({ service, ...parts }: Parts): FaultFixture {
  const { store, sandbox, folders, env } = parts;
  const secrets = new Set([sandbox.ready.client_secret]);
  const printed: Ran[] = [];
  const highest = new Map<string, number>();
  const place = profilePaths(folders.state, 'default');
  const storeOf = (profile: string): CredentialStore => {
    const at = profilePaths(folders.state, profile);
    if (store === 'file') return createFileStore(at);
    return createKeychainStore({
      profile: profileNamed(profile),
      place: at,
      keychain: helperKeychain({ env: service?.env ?? {}, script: join(build, 'keychain.cjs') }),
      account: () => keychainAccount(at, randomBytes),
      limit: 5_000,
      onWaiting: () => undefined,
      platform: 'linux',
    });
  };
  const start: FaultFixture['start'] = (words, { under = [], limit = 60_000, ...more } = {}) => {
    const [file = '', ...args] = [...under, ...program, ...words];
    const running = startProgram(file, args, { folders, env: { ...env, ...more.env }, limit });
    running.child.stdin?.end();
    return running;
  };
  const fixture: FaultFixture = {
    ...parts,
    place,
    secrets,
    printed,
    highest,
    start,
    async run(words, more) {
      const ran = await start(words, more).ended;
      printed.push(ran);
      return ran;
    },
    async item(profile = 'default') {
      const text = await readStoredText(parts, profile, service);
      const record = text === undefined ? undefined : decodeRecord(text);
      if (text !== undefined && record === undefined) throw new Error('the item is damaged');
      if (record !== undefined) note(fixture, record);
      return record;
    },
    async write(record, profile = 'default') {
      const written = await storeOf(profile).withItems((items) => items.write('credential', encodeRecord(record)));
      if (written.kind !== 'done') throw new Error(written.reason);
    },
    async expire(everywhere = false) {
      const record = await fixture.item();
      if (record === undefined) throw new Error('there is no session to expire');
      await fixture.write({ ...record, expiresAt: Math.floor(Date.now() / 1000) - 60 });
      if (everywhere) expireAtServer(sandbox);
    },
    beside: () => readdirSync(place.folder).filter((name) => /\.(wal|tmp|next)$/.test(name)),
    refreshes: () => sandbox.requests('POST /v1/oauth/token').filter((one) => one.grant_type === 'refresh_token'),
  };
  return fixture;
}

/** Without a process of its own, which would cost more than everything else that is looked at. */
async function readStoredText(
  { store, folders }: Parts,
  profile: string,
  service: SecretService | undefined,
): Promise<string | undefined> {
  const place = profilePaths(folders.state, profile);
  if (store === 'file') return readText(place.credentialFile)?.trimEnd();
  const account = keychainAccount(place, randomBytes);
  const read = await readQuickly(account, { env: service?.env ?? {}, platform: 'linux', limit: 10_000 });
  if (read.kind === 'unavailable') throw new Error(read.reason);
  return read.kind === 'found' ? read.value : undefined;
}

/** The server's clock goes past the life of every access token there is. */
export function expireAtServer({ world }: SandboxServers): void {
  world.setClock((now) => advanceClock(now, 31 * 86_400_000));
}

function note({ secrets, highest }: FaultFixture, record: SessionRecord): void {
  const { sid, gen, journalKey: seal, accessToken, refreshToken } = record;
  for (const secret of [seal, accessToken, refreshToken]) if (secret !== undefined) secrets.add(secret.reveal());
  const before = highest.get(sid) ?? 0;
  if (gen < before) throw new Error(`the generation of ${sid} fell from ${before} to ${gen}`);
  highest.set(sid, gen);
}

/** The person's files that hold this text, but for the record of the file store and the temporary that becomes it. */
export function leaksOf({ folders }: FaultFixture, text: string): readonly string[] {
  return readdirSync(folders.home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/credential\.json/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => readFileSync(path).includes(text));
}
