import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type SandboxServers, type ServerOptions, startServers } from '../../../src/sandbox/sandbox.ts';
import { SandboxStateFolderError } from '../../../src/sandbox/state/journal.ts';
import {
  admin,
  authorizationQuery,
  authorize,
  callApi,
  codeFor,
  errorOf,
  exchangeParameters,
  grantFor,
  locationOf,
  MAYA,
  postToken,
  refreshWith,
  signIn,
  TOMAS,
  tokenFor,
  userOf,
} from '../requests.ts';
import { makeFolder } from './state-folders.ts';

async function start(state: string, options: ServerOptions = {}): Promise<SandboxServers> {
  const sandbox = await startServers({ state, ...options });
  onTestFinished(() => sandbox.close());
  return sandbox;
}

/** The sandbox that starts on the folder after this one has closed. */
async function restarted(sandbox: SandboxServers, state: string, options: ServerOptions = {}): Promise<SandboxServers> {
  await sandbox.close();
  return start(state, options);
}

describe('a sandbox with a state folder', () => {
  it('restarts with the same addresses, applications, people and secrets', async () => {
    const folder = join(makeFolder(), 'deep', 'state');
    const first = await start(folder, { apps: [{ name: 'Mine', callbackUrl: 'http://127.0.0.1:9/cb' }] });
    const second = await restarted(first, folder);
    expect(second.ready).toEqual(first.ready);
    expect(second.world.seed).toEqual(first.world.seed);
    expect((await admin(second, 'GET', '/_sandbox/world')).status).toBe(200);
  });

  it('keeps rotation: a refreshed pair stays invalid, its successor stays valid', async () => {
    const folder = makeFolder();
    const first = await start(folder);
    const one = await grantFor(first, { changes: { scope: 'read write' } });
    const two = JSON.parse((await refreshWith(first, one.refresh_token)).body);
    const second = await restarted(first, folder);
    expect((await callApi(second, one.access_token, 'GET', '/v2/droplets')).status).toBe(404);
    expect(errorOf(await refreshWith(second, one.refresh_token))).toBe('invalid_grant');
    expect((await callApi(second, two.access_token, 'GET', '/v2/droplets')).status).toBe(200);
    expect((await refreshWith(second, two.refresh_token)).status).toBe(200);
    expect((await callApi(second, two.access_token, 'GET', '/v2/droplets')).status).toBe(404);
  });

  it('keeps sessions, approvals, unused and used codes, revocations, droplets, migrations, clock and consent script', async () => {
    const folder = makeFolder();
    const first = await start(folder);
    await admin(first, 'POST', '/_sandbox/clock', { freeze: true, advance: '3d' });
    const cookie = await signIn(first, TOMAS);
    const unused = await codeFor(first, { email: MAYA });
    const used = await codeFor(first, { email: MAYA });
    await postToken(first, exchangeParameters(first, used));
    const revoked = await tokenFor(first);
    await admin(first, 'POST', '/_sandbox/tokens/revoke', { token: revoked.access_token });
    const { access_token: live } = await tokenFor(first);
    await callApi(first, live, 'POST', '/v2/droplets', {
      name: 'kept',
      region: 'fra1',
      size: 's-1vcpu-1gb',
      image: 'ubuntu-24-04-x64',
    });
    const cluster = `/v2/databases/${first.ready.clusters[0]?.uuid}/online-migration`;
    const source = { host: 'db.example.com', dbname: 'shop', username: 'mover', password: 'S3cretWord' };
    expect((await callApi(first, live, 'PUT', cluster, { source })).status).toBe(200);
    await admin(first, 'POST', '/_sandbox/consent', { mode: 'approve', user: TOMAS });
    const views = async (sandbox: SandboxServers): Promise<readonly string[]> =>
      (
        await Promise.all([
          callApi(sandbox, live, 'GET', '/v2/droplets'),
          callApi(sandbox, live, 'GET', '/v2/actions'),
          callApi(sandbox, live, 'GET', cluster),
          admin(sandbox, 'GET', '/_sandbox/clock'),
          admin(sandbox, 'GET', '/_sandbox/consent'),
        ])
      ).map(({ body }) => body);
    const before = await views(first);
    expect(before.join()).toContain('kept');

    const second = await restarted(first, folder);
    expect(await views(second)).toEqual(before);
    expect((await callApi(second, revoked.access_token, 'GET', '/v2/droplets')).status).toBe(404);
    expect(errorOf(await postToken(second, exchangeParameters(second, used)))).toBe('invalid_grant');
    expect((await postToken(second, exchangeParameters(second, unused))).status).toBe(200);
    await admin(second, 'POST', '/_sandbox/consent', { mode: 'ask' });
    expect((await authorize(second, authorizationQuery(second), cookie)).body).toContain('csrf');
    const silent = locationOf(
      await authorize(second, authorizationQuery(second, { prompt: 'none' }), await signIn(second, MAYA)),
    );
    expect(silent.searchParams.get('code')).not.toBeNull();
  });

  it('prefers options to the saved state: ports, callback URLs, more applications', async () => {
    const folder = makeFolder();
    const first = await start(folder);
    const second = await restarted(first, folder, {
      port: 0,
      callbackUrls: ['http://127.0.0.1:9/other'],
      apps: [{ name: 'Added', callbackUrl: 'http://127.0.0.1:9/added' }],
    });
    expect(second.ready.base_url).toBe(first.ready.base_url);
    expect(second.ready.auth_url).not.toBe(first.ready.auth_url);
    expect(second.ready.client_id).toBe(first.ready.client_id);
    expect(second.ready.callback_url).toBe('http://127.0.0.1:9/other');
    const third = await restarted(second, folder);
    expect(third.ready).toEqual(second.ready);
    expect(third.world.seed.applications.map(({ name }) => name)).toEqual([
      'Sandbox CLI',
      'Sandbox Dashboard',
      'Added',
    ]);
  });

  it('refuses a seed other than the one its ids were generated from', async () => {
    const folder = makeFolder();
    const first = await start(folder, { seed: 7 });
    await first.close();
    await expect(start(folder, { seed: 8 })).rejects.toMatchObject({ name: 'StateError', reason: 'unusable' });
    expect((await start(folder, { seed: 7 })).ready.client_id).toBe(first.ready.client_id);
  });

  it('has its folder alone', async () => {
    const folder = makeFolder();
    const first = await start(folder);
    await expect(start(folder)).rejects.toMatchObject({ name: 'StateError', reason: 'busy' });
    await first.close();
    await start(folder);
  });

  it('refuses a folder with other files, and does not change it', async () => {
    const folder = makeFolder();
    writeFileSync(join(folder, 'thesis.txt'), 'x');
    chmodSync(folder, 0o755);
    await expect(start(folder)).rejects.toMatchObject({
      reason: 'unusable',
      detail: expect.stringContaining('thesis.txt'),
    });
    expect(readdirSync(folder)).toEqual(['thesis.txt']);
    expect(statSync(folder).mode & 0o777).toBe(0o755);
    await expect(start(join(folder, 'thesis.txt'))).rejects.toMatchObject({
      reason: 'unusable',
      message: expect.stringContaining('EEXIST'),
    });
  });

  it('refuses a path where no folder can be created', async () => {
    const nowhere = existsSync('/proc/self') ? '/proc/cloudctl/state' : '/dev/null/state';
    await expect(startServers({ state: nowhere })).rejects.toThrow(SandboxStateFolderError);
  });

  it('gives only its user access to its files', async () => {
    const folder = join(makeFolder(), 'state');
    mkdirSync(folder, { mode: 0o755 });
    const sandbox = await start(folder);
    await tokenFor(sandbox);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    const names = readdirSync(folder).sort();
    expect(names).toEqual(['journal', 'lock']);
    for (const name of names) expect([name, statSync(join(folder, name)).mode & 0o777]).toEqual([name, 0o600]);
    expect(readFileSync(join(folder, 'journal'), 'utf8')).toContain(userOf(sandbox, MAYA).password);
  });

  it('has every grant in its journal before it answers, also with concurrent requests', async () => {
    const folder = makeFolder();
    const sandbox = await start(folder);
    const count = () => readFileSync(join(folder, 'journal'), 'latin1').split('\n').length;
    const before = count();
    const walkers = Array.from({ length: 8 }, async () => {
      let grant = await tokenFor(sandbox);
      for (let turn = 0; turn < 10; turn += 1) {
        grant = JSON.parse((await refreshWith(sandbox, grant.refresh_token)).body);
        expect(readFileSync(join(folder, 'journal'), 'latin1')).toContain(grant.refresh_token);
      }
    });
    await Promise.all(walkers);
    expect(count() - before).toBeLessThan(88);
  });

  it('answers 500 to every request after a failed write', async () => {
    const folder = makeFolder();
    const sandbox = await start(folder);
    const grant = await tokenFor(sandbox);
    mkdirSync(join(folder, '.journal.tmp'));
    const answers = [await admin(sandbox, 'POST', '/_sandbox/reset'), await refreshWith(sandbox, grant.refresh_token)];
    expect(answers.map(({ status, body }) => [status, body])).toEqual([
      [500, ''],
      [500, ''],
    ]);
    expect((await sandbox.failure).message).toMatch(/EISDIR/);
    expect(existsSync(join(folder, 'journal'))).toBe(true);
  });
});
