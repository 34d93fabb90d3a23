import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, onTestFinished, vi } from 'vitest';
import type { SandboxServers } from '../../../../src/sandbox/sandbox.ts';
import { profilePaths } from '../../../../src/session/profile-paths.ts';
import { createSharedSessionEncryptor } from '../../../../src/session/sealed-session.ts';
import { openSharedStore } from '../../../../src/shared-store/open-shared-store.ts';
import { decodeShareEncryptionKeys } from '../../../../src/shared-store/share-encryption-keys.ts';
import type { SharedSessionStore } from '../../../../src/shared-store/shared-session.ts';
import { parseSharedStoreUrl } from '../../../../src/shared-store/store-url.ts';
import { type TestHost, type TestHostOptions, testHost } from '../../../fixtures/host.ts';
import { type RedisServer, startRedis } from '../../../fixtures/redis.ts';
import { profileOf, recordOf } from '../../../fixtures/session.ts';
import { startTcpRelay } from '../../../fixtures/tcp-relay.ts';
import { sandboxFor, tokenFor } from '../../../sandbox/requests.ts';
import { type RunResult, runCloudctl } from '../../run-cloudctl.ts';

/** Machines that share a session in the store at a URL. */
export interface ShareMachines {
  readonly sandbox: SandboxServers;
  readonly url: string;
  /** A machine whose profile uses the store; it has not joined. */
  machine(name: string, env?: Readonly<Record<string, string>>): TestHost;
  /** A machine that has created the share, as the user of `ownerUrl` if that is another one. */
  first(ownerUrl?: string): Promise<TestHost>;
  /** The key file of a machine. */
  keysOf(host: TestHost): string;
  /** Stores a session, as a login on a machine does. */
  login(host: TestHost, seconds?: number): Promise<void>;
  withStore<T>(host: TestHost, work: (store: SharedSessionStore) => Promise<T>): Promise<T>;
}

export interface ShareFixture extends ShareMachines {
  readonly redis: RedisServer;
  /** Runs a command whose connection to the store is not answered before `work` has ended. */
  runDuring(
    host: TestHost,
    argv: readonly string[],
    work: () => Promise<unknown>,
    options?: TestHostOptions,
  ): Promise<RunResult>;
}

/** A Redis server that machines share; it ends with the test. */
export async function shareFixture(config: readonly string[] = ['appendonly yes']): Promise<ShareFixture> {
  const redis = await startRedis({ config });
  onTestFinished(() => redis.stop());
  const runDuring: ShareFixture['runDuring'] = async (host, argv, work, options = {}) => {
    const relay = await startTcpRelay(redis.port);
    onTestFinished(() => relay.stop());
    relay.setPaused(true);
    const env = { CLOUDCTL_STORE_URL: `redis://127.0.0.1:${relay.port}/0` };
    const ran = runCloudctl(host, argv, { ...options, env });
    await vi.waitFor(() => expect(relay.connections()).toBeGreaterThan(0), 5_000);
    await work();
    relay.setPaused(false);
    return ran;
  };
  return { ...(await shareMachines(`redis://${redis.host}:${redis.port}/0`)), redis, runDuring };
}

export async function shareMachines(url: string): Promise<ShareMachines> {
  const sandbox = await sandboxFor();
  const keysOf = (host: TestHost): string =>
    readFileSync(profilePaths(host.folders.state, 'default').shareFile, 'utf8').trim();
  const machine: ShareMachines['machine'] = (name, env = {}) => {
    const host = testHost({ env: { CLOUDCTL_STORE_URL: url, CLOUDCTL_MACHINE_NAME: name, ...env } });
    host.writeConfig({ profiles: { default: { ...profileOf(sandbox), credential_store: 'shared' } } });
    return host;
  };
  const withStore: ShareMachines['withStore'] = async (host, work) => {
    const { share = '' } = decodeShareEncryptionKeys(keysOf(host)) ?? {};
    const store = await openSharedStore(
      parseSharedStoreUrl(url, () => undefined),
      { share, profile: 'default' },
    );
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  };
  return {
    sandbox,
    url,
    machine,
    keysOf,
    withStore,
    async first(ownerUrl = url) {
      const host = machine('ci-1');
      const ran = await runCloudctl(host, ['auth', 'share', 'init'], { env: { CLOUDCTL_STORE_URL: ownerUrl } });
      if (ran.code !== 0) throw new Error(ran.err);
      return host;
    },
    async login(host, seconds = 3600) {
      const keys = decodeShareEncryptionKeys(keysOf(host));
      if (keys === undefined) throw new Error('the machine has no keys');
      const version = { epoch: Math.floor(Date.now() / 1000), sid: randomBytes(8).toString('hex'), gen: 1 };
      const grant = await tokenFor(sandbox);
      const expiresAt = Math.floor(Date.now() / 1000) + seconds;
      const record = recordOf(host, sandbox, grant, { sid: version.sid, expiresAt, obtainedAt: expiresAt - 3600 });
      const sealed = createSharedSessionEncryptor(keys, 'default', randomBytes).seal(version, record);
      await withStore(host, (store) => store.run({ op: 'commit', by: 'login', event: 'login', ...sealed }));
    },
  };
}
