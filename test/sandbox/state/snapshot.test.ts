import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type SandboxServers, startServers } from '../../../src/sandbox/sandbox.ts';
import { decodeSnapshot, takeSnapshot } from '../../../src/sandbox/state/snapshot.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import {
  admin,
  authorizationQuery,
  authorize,
  callApi,
  errorOf,
  grantFor,
  MAYA,
  refreshWith,
  sandboxFor,
  signIn,
  tokenFor,
} from '../requests.ts';
import { makeFolder } from './state-folders.ts';

it('GET /_sandbox/snapshot returns the whole state, secrets included', async () => {
  const sandbox = await sandboxFor();
  await admin(sandbox, 'POST', '/_sandbox/clock', { freeze: true });
  const { status, body } = await admin(sandbox, 'GET', '/_sandbox/snapshot');
  expect([status, JSON.parse(body)]).toEqual([200, takeSnapshot(sandbox.world)]);
  expect(body).toContain(sandbox.ready.client_secret);
});

async function snapshotOf(sandbox: SandboxServers): Promise<Record<string, unknown>> {
  const answer = await admin(sandbox, 'GET', '/_sandbox/snapshot');
  expect(answer.status).toBe(200);
  return JSON.parse(answer.body);
}

describe('a snapshot', () => {
  it('restores the whole state, virtual time included', async () => {
    const sandbox = await sandboxFor();
    const one = await grantFor(sandbox, { changes: { scope: 'read write' } });
    await admin(sandbox, 'POST', '/_sandbox/clock', { freeze: true });
    const { now, ...taken } = await snapshotOf(sandbox);
    await refreshWith(sandbox, one.refresh_token);
    await admin(sandbox, 'POST', '/_sandbox/clock', { advance: '90d' });
    expect((await admin(sandbox, 'POST', '/_sandbox/restore', { now, ...taken })).status).toBe(200);
    expect(await snapshotOf(sandbox)).toEqual({ now, ...taken });
    expect((await callApi(sandbox, one.access_token, 'GET', '/v2/droplets')).status).toBe(200);
    expect((await refreshWith(sandbox, one.refresh_token)).status).toBe(200);
  });

  it('continues from the instant when it was taken, however long ago', async () => {
    let machine = 1_700_000_000_000;
    const sandbox = await sandboxFor({ now: () => machine });
    const grant = await tokenFor(sandbox);
    const taken = await snapshotOf(sandbox);
    machine += 400 * 86_400_000;
    expect((await callApi(sandbox, grant.access_token, 'GET', '/v2/droplets')).status).toBe(404);
    await admin(sandbox, 'POST', '/_sandbox/restore', taken);
    expect((await callApi(sandbox, grant.access_token, 'GET', '/v2/droplets')).status).toBe(200);
    machine += 30 * 86_400_000;
    expect((await callApi(sandbox, grant.access_token, 'GET', '/v2/droplets')).status).toBe(404);
  });

  it('brings its people and applications into another sandbox, which keeps them across a restart', async () => {
    const [from, folder] = [await sandboxFor(), makeFolder()];
    const grant = await grantFor(from);
    const to = await sandboxFor({ state: folder });
    const answer = await admin(to, 'POST', '/_sandbox/restore', await snapshotOf(from));
    expect(JSON.parse(answer.body)).toMatchObject({ client_id: from.ready.client_id, auth_url: to.ready.auth_url });
    expect((await callApi(to, grant.access_token, 'GET', '/v2/droplets')).status).toBe(200);
    await to.close();
    const again = await sandboxFor({ state: folder });
    expect(again.ready).toMatchObject({ client_id: from.ready.client_id, admin_token: to.ready.admin_token });
    expect((await callApi(again, grant.access_token, 'GET', '/v2/droplets')).status).toBe(200);
  });

  it('is refused and changes nothing when any byte is damaged', async () => {
    const sandbox = await sandboxFor();
    await grantFor(sandbox);
    await admin(sandbox, 'POST', '/_sandbox/clock', { freeze: true });
    const before = (await admin(sandbox, 'GET', '/_sandbox/snapshot')).body;
    const headers = { 'x-admin-token': sandbox.ready.admin_token };
    const { send } = await import('../requests.ts');
    await fc.assert(
      fc.asyncProperty(fc.nat(before.length - 1), fc.constantFrom('0', '"', 'x', '}', ''), async (at, put) => {
        const body = before.slice(0, at) + put + before.slice(at + 1);
        fc.pre(body !== before && before.slice(0, at).includes('"now"'));
        const answer = await send(sandbox.ready.auth_url, '/_sandbox/restore', { method: 'POST', headers, body });
        expect([body, answer.status]).toEqual([body, 422]);
      }),
      { numRuns: 100 },
    );
    expect((await admin(sandbox, 'GET', '/_sandbox/snapshot')).body).toBe(before);
  });

  it.each([
    ['an array', []],
    ['another format', { format: 'other' }],
    ['a later version', { format: 'cloudctl-sandbox-snapshot', version: 2 }],
    ['incomplete', { format: 'cloudctl-sandbox-snapshot', version: 1 }],
  ])('is refused when it is %s', async (_name, body) => {
    const answer = await admin(await sandboxFor(), 'POST', '/_sandbox/restore', body);
    expect(answer.status).toBe(422);
    expectGolden('sandbox', JSON.parse(answer.body).message);
  });

  it.each([null, 7, 'text', undefined])('is refused when it is %j', (value) => {
    expect(decodeSnapshot(value)).toBe(decodeSnapshot({}));
    expectGolden('sandbox', String(decodeSnapshot(value)));
  });

  it('can be restored after an edit when its digest is removed and its references are valid', async () => {
    const sandbox = await sandboxFor();
    const grant = await tokenFor(sandbox);
    const { digest, world, ...rest } = await snapshotOf(sandbox);
    const edited = JSON.parse(JSON.stringify(world).replaceAll('"web-01"', '"renamed"'));
    const damaged = await admin(sandbox, 'POST', '/_sandbox/restore', { ...rest, world: edited, digest });
    expect(damaged.status).toBe(422);
    expect((await admin(sandbox, 'POST', '/_sandbox/restore', { ...rest, world: edited })).status).toBe(200);
    expect((await callApi(sandbox, grant.access_token, 'GET', '/v2/droplets')).body).toContain('renamed');
    const orphan = { ...edited, sessions: [{ id: 'x', person: 'nobody', forms: [] }] };
    const answer = await admin(sandbox, 'POST', '/_sandbox/restore', { ...rest, world: orphan });
    expect(answer.status).toBe(422);
    expectGolden('sandbox', [damaged, answer].map(({ body }) => JSON.parse(body).message).join('\n'));
  });

  it.each<[string, unknown]>([
    ['seed.people', []],
    ['seed.people.1.email', 'MAYA@example.com'],
    ['seed.people.0.uuid', 'x'],
    ['seed.people.0.password', 'secret '],
    ['seed.people.1.teams.1', 'unknown'],
    ['seed.applications', []],
    ['seed.applications.0.callbackUrls.0', 'http://127.0.0.1:9/é d'],
    ['seed.applications.0.callbackUrls.0', 'javascript:alert(1)'],
    ['seed.applications.0.callbackUrls', []],
    ['seed.applications.0.clientId', '\u001b[31m'],
    ['seed.applications.0.clientSecret', 'a\r\nb'],
    ['seed.clusters.0.owner', '00000000-0000-4000-8000-000000000000'],
    ['seed.droplets.0.size', 'huge'],
    ['seed.droplets.0.age', 1e15],
    ['world.droplets.0.region', 'nowhere'],
    ['world.droplets.0.createdAt', 9e15],
    ['world.clock.frozenAt', 9e15],
    ['now', 9e15],
    ['now', -1],
  ])('is refused when its %s is %j', async (path, value) => {
    const sandbox = await sandboxFor();
    const edited = { ...(await snapshotOf(sandbox)), digest: undefined };
    const names = path.split('.');
    const last = names.pop() ?? '';
    const at = names.reduce<Record<string, unknown>>((one, name) => one[name] as Record<string, unknown>, edited);
    at[last] = value;
    const answer = await admin(sandbox, 'POST', '/_sandbox/restore', edited);
    expect([answer.status, answer.body]).toEqual([422, expect.stringContaining(path.replaceAll(/\.(\d)/g, '[$1]'))]);
    await expect(startServers({ data: edited })).rejects.toThrow('snapshot');
  });

  it('may be larger than other requests when the admin token is sent', async () => {
    const sandbox = await sandboxFor();
    const { access_token: token, refresh_token: refreshToken } = await tokenFor(sandbox);
    const person = sandbox.ready.users[0]?.uuid ?? '';
    const blueprint = { region: 'fra1', size: 's-1vcpu-1gb', image: 155_133_621, tags: [], features: [] };
    sandbox.world.droplets.create(
      person,
      Array.from({ length: 10_000 }, (_, at) => `n${at}`),
      blueprint,
    );
    const taken = await snapshotOf(sandbox);
    expect(JSON.stringify(taken).length).toBeGreaterThan(2 ** 20);
    await refreshWith(sandbox, refreshToken);
    expect((await admin(sandbox, 'POST', '/_sandbox/restore', taken)).status).toBe(200);
    expect(JSON.parse((await callApi(sandbox, token, 'GET', '/v2/droplets')).body).meta.total).toBe(10_003);
    expect(errorOf(await refreshWith(sandbox, 'sandbox_unknown'))).toBe('invalid_grant');
  });
});

it('reset restores the initial state and keeps the credentials', async () => {
  const sandbox = await sandboxFor({ dropletLimit: 4 });
  const cookie = await signIn(sandbox, MAYA);
  const { access_token, refresh_token } = await grantFor(sandbox, { changes: { scope: 'read write' } });
  await callApi(sandbox, access_token, 'POST', '/v2/droplets', { name: 'a', size: '1gb', image: 'debian-12-x64' });
  await admin(sandbox, 'POST', '/_sandbox/clock', { freeze: true, advance: '30d' });
  await admin(sandbox, 'POST', '/_sandbox/consent', { mode: 'deny' });
  expect((await admin(sandbox, 'POST', '/_sandbox/reset')).status).toBe(204);

  expect(JSON.parse((await admin(sandbox, 'GET', '/_sandbox/requests')).body)).toEqual({ requests: [], counts: {} });
  expect(JSON.parse((await admin(sandbox, 'GET', '/_sandbox/clock')).body)).toMatchObject({
    frozen: false,
    offset_ms: 0,
  });
  expect((await callApi(sandbox, access_token, 'GET', '/v2/droplets')).status).toBe(404);
  expect((await refreshWith(sandbox, refresh_token)).status).toBe(400);
  expect((await authorize(sandbox, authorizationQuery(sandbox), cookie)).body).toContain('<h1>Sign in</h1>');
  const fresh = await tokenFor(sandbox);
  expect(JSON.parse((await callApi(sandbox, fresh.access_token, 'GET', '/v2/droplets')).body).meta.total).toBe(3);
  expect((await grantFor(sandbox)).scope).toBe('read');
});

it('reset clears the counters of the rate limit', async () => {
  const sandbox = await sandboxFor({ rateLimit: '1/h' });
  await admin(sandbox, 'POST', '/_sandbox/clock', { freeze: true });
  const read = () => callApi(sandbox, 'unknown', 'GET', '/v2/actions');
  expect([(await read()).status, (await read()).status]).toEqual([404, 429]);
  await admin(sandbox, 'POST', '/_sandbox/reset');
  expect((await read()).status).toBe(404);
});
