import { statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { profilePaths } from '../../../../src/session/profile-paths.ts';
import { decodeShareEncryptionKeys } from '../../../../src/shared-store/share-encryption-keys.ts';
import { expectGolden } from '../../../fixtures/golden.ts';
import { testHost } from '../../../fixtures/host.ts';
import { lacks } from '../../../fixtures/needs.ts';
import { startPostgres } from '../../../fixtures/postgres.ts';
import { profileOf } from '../../../fixtures/session.ts';
import { sandboxFor } from '../../../sandbox/requests.ts';
import { runCloudctl } from '../../run-cloudctl.ts';
import { shareFixture } from './share-fixture.ts';

it.skipIf(lacks('redis-server'))('creates a key in a file of mode 0600, and keeps it at the next run', async () => {
  const fixture = await shareFixture();
  const host = await fixture.first();
  const key = fixture.keysOf(host);
  expect(decodeShareEncryptionKeys(key)?.keys).toHaveLength(1);
  expect(statSync(profilePaths(host.folders.state, 'default').shareFile).mode & 0o777).toBe(0o600);
  const again = await runCloudctl(host, ['auth', 'share', 'init', '--print-key']);
  expect([again.code, again.out.trim()]).toEqual([0, key]);
});

it.skipIf(lacks('redis-server'))('uses the key that another command creates while the machine connects', async () => {
  const fixture = await shareFixture();
  const host = fixture.machine('ci-1');
  let key = '';
  const ran = await fixture.runDuring(host, ['auth', 'share', 'init', '--print-key'], async () => {
    await runCloudctl(host, ['auth', 'share', 'init']);
    key = fixture.keysOf(host);
  });
  expect([ran.code, ran.out.trim(), fixture.keysOf(host)]).toEqual([0, key, key]);
});

describe.skipIf(lacks('redis-server'))('a Redis server', () => {
  it.each([
    ['no append-only file', []],
    ['allkeys-lru', ['appendonly yes', 'maxmemory-policy allkeys-lru']],
    ['allkeys-lfu', ['appendonly yes', 'maxmemory-policy allkeys-lfu']],
    ['allkeys-random', ['appendonly yes', 'maxmemory-policy allkeys-random']],
  ])('that would lose the session is refused: %s', async (_name, config) => {
    const fixture = await shareFixture(config);
    const ran = await runCloudctl(fixture.machine('ci-1'), ['auth', 'share', 'init', '-o', 'json']);
    expect(ran.error()).toMatchObject({ code: 'config_invalid', exit_code: 2 });
  });

  it.each(['noeviction', 'volatile-lru', 'volatile-ttl'])(
    'with %s deletes no key without a lifetime',
    async (policy) => {
      const fixture = await shareFixture(['appendonly yes', `maxmemory-policy ${policy}`]);
      expect((await runCloudctl(fixture.machine('ci-1'), ['auth', 'share', 'init'])).code).toBe(0);
    },
  );
});

it('prints SQL for a DBA when the role may not create the schema', async () => {
  const [sandbox, server] = [await sandboxFor(), await startPostgres()];
  await server.query("CREATE ROLE ci LOGIN PASSWORD 'ci'");
  const host = testHost({ env: { CLOUDCTL_STORE_URL: `postgres://ci:ci@127.0.0.1:${server.port}/postgres` } });
  host.writeConfig({ profiles: { default: { ...profileOf(sandbox), credential_store: 'shared' } } });
  const ran = await runCloudctl(host, ['auth', 'share', 'init', '-o', 'json']);
  expect(ran.code).toBe(1);
  expect(ran.out).toMatch(/^BEGIN;\n[\s\S]*SECURITY DEFINER[\s\S]*\nCOMMIT;\n$/);
  await server.query(ran.out);
  await server.query('GRANT cloudctl_share_member TO ci');
  expect((await runCloudctl(host, ['auth', 'share', 'init'])).code).toBe(0);
  expect((await runCloudctl(host, ['auth', 'share', 'status', '-o', 'json'])).json()).toMatchObject({
    state: 'no_session',
  });
});

it('needs the variable, and a profile whose store is shared', async () => {
  const sandbox = await sandboxFor();
  const host = testHost();
  host.writeConfig({ profiles: { default: profileOf(sandbox) } });
  const other = await runCloudctl(host, ['auth', 'share', 'init']);
  host.writeConfig({ profiles: { default: { ...profileOf(sandbox), credential_store: 'shared' } } });
  const missing = await runCloudctl(host, ['auth', 'share', 'init']);
  expect([other.code, missing.code]).toEqual([2, 2]);
  expectGolden('auth-share', `${other.err}\n${missing.err}`);
});

it('prints the SQL without a connection', async () => {
  const ran = await runCloudctl(testHost(), ['auth', 'share', 'init', '--print-sql', '--role', 'a"b']);
  expect(ran.code).toBe(0);
  expect(ran.out).toContain('TO "a""b"');
});
