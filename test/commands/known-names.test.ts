import { expect, it } from 'vitest';
import { readNames } from '../../src/config/known-names.ts';
import { reply, serverFor } from '../fixtures/fake-server.ts';
import { type TestHost, testHost } from '../fixtures/host.ts';
import { seedSession } from '../fixtures/session.ts';
import { sandboxFor } from '../sandbox/requests.ts';
import { createSandboxHost, recordedRequests, runCloudctl, runLogin, sandboxEnvironment } from './run-cloudctl.ts';

async function loggedIn() {
  const [host, sandbox] = [testHost(), await sandboxFor()];
  await seedSession(host, sandbox, { scope: 'read write' });
  const seen = () => readNames(host.folders.state, 'default', sandbox.ready.base_url);
  return {
    host,
    sandbox,
    seen,
    names: (kind: keyof ReturnType<typeof seen>) => seen()[kind].map(({ value }) => value),
  };
}

const suggested = async (host: TestHost, ...words: string[]) =>
  (await runCloudctl(host, ['__complete', '--', ...words])).out
    .split('\n')
    .flatMap((line) => line.split('\t')[0] || []);

it('lists of every format remember names, which are suggested without a request', async () => {
  for (const format of ['table', 'json', 'ndjson', 'csv']) {
    const { host, sandbox } = await loggedIn();
    expect(await suggested(host, 'droplets', 'get', '')).toEqual([]);
    await runCloudctl(host, ['droplets', 'list', '-o', format]);
    await runCloudctl(host, ['db', 'list', '-o', format]);
    const before = await recordedRequests(sandbox);
    expect(await suggested(host, 'droplets', 'get', 'web')).toEqual(['web-01', 'web-02']);
    expect(await suggested(host, 'droplets', 'create', '--region', 'fr')).toEqual(['fra1']);
    expect(await suggested(host, 'droplets', 'create', '--size', 's-4vcpu-8gb')).toContain('s-4vcpu-8gb');
    expect(await suggested(host, 'db', 'status', '')).toHaveLength(2);
    expect(await suggested(host, 'droplets', 'list', '--format', 'ID,Na')).toEqual(['ID,Name']);
    expect(await recordedRequests(sandbox)).toEqual(before);
  }
});

it('the whole list replaces the names, a part of it and a single droplet add to them', async () => {
  const { host, names } = await loggedIn();
  await runCloudctl(host, ['droplets', 'get', 'web-01']);
  expect(names('droplets')).toEqual(['web-01']);
  await runCloudctl(host, ['droplets', 'list', 'web-*']);
  expect(names('droplets')).toEqual(['web-01', 'web-02']);
  await runCloudctl(host, ['droplets', 'delete', 'web-02', '-y']);
  await runCloudctl(host, ['droplets', 'list', '--limit', '1']);
  expect(names('droplets')).toContain('web-02');
  await runCloudctl(host, ['droplets', 'list']);
  expect(names('droplets')).not.toContain('web-02');
});

it('the lists of `api` are remembered as well', async () => {
  const { host, names } = await loggedIn();
  await runCloudctl(host, ['api', '/v2/images?per_page=2']);
  expect(names('images')).toHaveLength(2);
  await runCloudctl(host, ['api', '/v2/sizes', '--paginate']);
  expect(names('sizes').length).toBeGreaterThan(2);
  await runCloudctl(host, ['api', '/v2/actions']);
});

it('a logout and a login forget them', async () => {
  const { host, names } = await loggedIn();
  await runCloudctl(host, ['droplets', 'list']);
  await runCloudctl(host, ['auth', 'logout', '--local']);
  expect(names('droplets')).toEqual([]);
  const fresh = await sandboxFor();
  const other = await createSandboxHost(fresh, { env: sandboxEnvironment(fresh) });
  await seedSession(other, fresh);
  await runCloudctl(other, ['droplets', 'list']);
  const stored = () => readNames(other.folders.state, 'default', fresh.ready.base_url).droplets;
  expect(stored()).not.toEqual([]);
  expect((await runLogin(other, ['--force'])).code).toBe(0);
  expect(stored()).toEqual([]);
});

it('a token of the environment leaves nothing', async () => {
  const { origin } = await serverFor((_, response) =>
    reply(response, 200, { droplets: [{ id: 1, name: 'web' }], meta: { total: 1 } }),
  );
  const host = testHost({ env: { CLOUDCTL_ACCESS_TOKEN: 'x', CLOUDCTL_BASE_URL: origin } });
  expect((await runCloudctl(host, ['droplets', 'list'])).code).toBe(0);
  expect(readNames(host.folders.state, 'default', origin).droplets).toEqual([]);
});

it('hostile and broken rows of a server are no suggestion', async () => {
  const { host, sandbox } = await loggedIn();
  const droplets = [
    { id: 1, name: 'a\u001b[2J', region: { slug: 'x\ny', sizes: [7, '\u0000'] } },
    { id: 2, name: '$(touch owned)', region: 7, image: { slug: 7 } },
  ];
  const { origin } = await serverFor((_, response) => reply(response, 200, { droplets, meta: { total: 2 } }));
  await seedSession(host, sandbox, { record: { baseOrigin: origin }, values: { base_url: origin } });
  expect((await runCloudctl(host, ['droplets', 'list'])).code).toBe(0);
  expect(await suggested(host, 'droplets', 'get', '')).toEqual(['$(touch owned)']);
});
