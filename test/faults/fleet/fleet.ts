import { randomBytes } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { Secret } from '../../../src/base/secret.ts';
import type { LoggedRequest } from '../../../src/sandbox/request-log.ts';
import { type SandboxServers, startSandboxServers } from '../../../src/sandbox/sandbox.ts';
import { advanceVirtualClock } from '../../../src/sandbox/virtual-clock.ts';
import type { CredentialRecord } from '../../../src/session/credential-record.ts';
import { createSharedSessionEncryptor } from '../../../src/session/sealed-session.ts';
import { readLocalCopyOfSharedSession, writeLocalCopyOfSharedSession } from '../../../src/session/shared-copy.ts';
import { openSharedStore } from '../../../src/shared-store/open-shared-store.ts';
import {
  encodeShareEncryptionKeys,
  generateShareEncryptionKeys,
  type ShareEncryptionKeys,
} from '../../../src/shared-store/share-encryption-keys.ts';
import type {
  EncryptedSharedSession,
  SharedSessionEntry,
  SharedSessionStore,
} from '../../../src/shared-store/shared-session.ts';
import { parseSharedStoreUrl } from '../../../src/shared-store/store-url.ts';
import { tokenFor } from '../../sandbox/requests.ts';
import { createMachine, type Machine } from './fleet-machine.ts';
import type { FleetStore } from './fleet-store.ts';

/** Machines that share one session, and the authorization server that counts the refreshes. */
export interface Fleet {
  readonly sandbox: SandboxServers;
  /** Those that live. */
  readonly machines: readonly Machine[];
  /** Those that never run again. */
  readonly destroyed: readonly Machine[];
  readonly keys: ShareEncryptionKeys;
  /** The refresh requests that the server received. */
  refreshes(): readonly LoggedRequest[];
  /** How many of them the server has carried out. */
  commits(): number;
  /** Destroys a machine and puts a new one of another name in its place. */
  replace(machine: Machine): void;
  /** The row in the store. */
  row(): Promise<SharedSessionEntry>;
  /** Stores a new session, as a login on one more machine does. */
  login(): Promise<void>;
  /** Works on the store as one more machine. */
  withStore<T>(work: (store: SharedSessionStore) => Promise<T>): Promise<T>;
  /** The record of a row or a copy. */
  open(sealed: EncryptedSharedSession): CredentialRecord;
  /** The access token has expired: at the server, in the store, and in the copy of each machine. */
  expire(): Promise<void>;
}

export interface FleetOptions {
  readonly store: Pick<FleetStore, 'url'>;
  readonly machines: number;
  /** In place of the URL of the store: what the machines use. */
  readonly storeUrl?: string;
  /** In place of the authorization server's own origin. */
  readonly authUrl?: (sandbox: SandboxServers) => Promise<string>;
  /** The words that run a program on the machine of this number, which begins with 0. */
  readonly under?: (at: number) => readonly string[];
}

export async function createFleet({ store, machines: count, ...options }: FleetOptions): Promise<Fleet> {
  const sandbox = await startSandboxServers();
  onTestFinished(() => sandbox.close());
  const keys = generateShareEncryptionKeys(randomBytes);
  const sealer = createSharedSessionEncryptor(keys, 'default', randomBytes);
  const profile = {
    auth_url: (await options.authUrl?.(sandbox)) ?? sandbox.ready.auth_url,
    base_url: sandbox.ready.base_url,
    client_id: sandbox.ready.client_id,
    callback_urls: [sandbox.ready.callback_url],
    credential_store: 'shared',
    scope: 'read write',
  };
  const create = (name: string, at: number): Machine =>
    createMachine({
      name,
      profile,
      ...(options.under === undefined ? {} : { under: options.under(at) }),
      env: {
        CLOUDCTL_STORE_URL: options.storeUrl ?? store.url,
        CLOUDCTL_STORE_KEY: encodeShareEncryptionKeys(keys).reveal(),
        // Clocks from 5 minutes behind to 5 minutes ahead.
        TEST_CLOCK: JSON.stringify({ offset: count === 1 ? 0 : Math.round((at / (count - 1) - 0.5) * 600_000) }),
      },
    });
  const machines = Array.from({ length: count }, (_, at) => create(`ci-${at + 1}`, at));
  const destroyed: Machine[] = [];
  const useStore: Fleet['withStore'] = async (work) => {
    const place = { share: keys.share, profile: 'default' };
    const opened = await openSharedStore(
      parseSharedStoreUrl(store.url, () => undefined),
      place,
    );
    try {
      return await work(opened);
    } finally {
      await opened.close();
    }
  };
  // On a busy machine, a connection may take longer than the limit. Each operation allows a repetition.
  const withStore: Fleet['withStore'] = (work) =>
    useStore(work)
      .catch(() => useStore(work))
      .catch(() => useStore(work));
  const row = async (): Promise<SharedSessionEntry> => {
    const { row: found } = await withStore((opened) => opened.run({ op: 'read' }));
    if (found === undefined) throw new Error('the store has no session');
    return found;
  };
  const open = (sealed: EncryptedSharedSession): CredentialRecord => {
    const opened = sealer.open(sealed);
    if (opened.kind !== 'record') throw new Error(`the record is ${opened.kind}`);
    return opened.record;
  };
  const login = (): Promise<void> =>
    withStore(async (opened) => {
      const { row: before, nowMs } = await opened.run({ op: 'read' });
      const epoch = Math.max((before?.epoch ?? 0) + 1, Math.floor(nowMs / 1000));
      const version = { epoch, sid: randomBytes(8).toString('hex'), gen: 1 };
      const record = await recordOfGrant(sandbox, profile, version.sid);
      await opened.run({ op: 'commit', by: 'login', event: 'login', ...sealer.seal(version, record) });
    });
  await login();
  const refreshes: Fleet['refreshes'] = () =>
    sandbox.requests('POST /v1/oauth/token').filter((one) => one.grant_type === 'refresh_token');
  return {
    sandbox,
    machines,
    keys,
    row,
    login,
    withStore,
    open,
    destroyed,
    refreshes,
    commits: () => refreshes().filter(({ status, committed }) => status === 200 && committed !== false).length,
    replace(machine) {
      const at = machines.indexOf(machine);
      machine.destroy();
      destroyed.push(machine);
      machines[at] = create(`ci-${at + 1}-${destroyed.length}`, at);
    },
    async expire() {
      sandbox.world.setClock((now) => advanceVirtualClock(now, 31 * 86_400_000));
      const past = (sealed: EncryptedSharedSession): EncryptedSharedSession =>
        sealer.seal(sealed, { ...open(sealed), expiresAt: Math.floor(Date.now() / 1000) - 60 });
      await withStore(async (opened) => {
        const { row: current } = await opened.run({ op: 'read' });
        if (current !== undefined) await opened.run({ op: 'commit', by: 'test', event: 'refresh', ...past(current) });
      });
      for (const { place } of machines) {
        const copy = readLocalCopyOfSharedSession(place, keys.share);
        if (copy !== undefined) writeLocalCopyOfSharedSession(place, { ...copy, ...past(copy) });
      }
    },
  };
}

async function recordOfGrant(
  sandbox: SandboxServers,
  profile: { readonly auth_url: string; readonly base_url: string; readonly client_id: string },
  sid: string,
): Promise<CredentialRecord> {
  const grant = await tokenFor(sandbox);
  const now = Math.floor(Date.now() / 1000);
  return {
    sid,
    gen: 1,
    journalKey: new Secret(randomBytes(32).toString('base64url')),
    accessToken: new Secret(grant.access_token),
    refreshToken: new Secret(grant.refresh_token),
    expiresAt: now + grant.expires_in,
    obtainedAt: now,
    scope: 'read write',
    authOrigin: profile.auth_url,
    baseOrigin: profile.base_url,
    clientId: profile.client_id,
  };
}
