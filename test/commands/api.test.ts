import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { reply, serverFor } from '../fixtures/fake-server.ts';
import { expectGolden } from '../fixtures/golden.ts';
import { testHost } from '../fixtures/host.ts';
import { seedSession } from '../fixtures/session.ts';
import { admin, MAYA, sandboxFor, tokenFor } from '../sandbox/requests.ts';
import { recordedRequests, runCloudctl, stableText } from './run-cloudctl.ts';

async function loggedIn(scope = 'read write') {
  const [host, sandbox] = [testHost(), await sandboxFor()];
  return { host, sandbox, ...(await seedSession(host, sandbox, { scope })) };
}

const body = { name: 'api-01', size: 's-1vcpu-1gb', image: 'ubuntu-24-04-x64' };

describe('api', () => {
  it('prints the body of the answer as JSON', async () => {
    const { host } = await loggedIn();
    const ran = await runCloudctl(host, ['api', 'GET', '/v2/droplets?per_page=1']);
    expect(ran).toMatchObject({ code: 0, err: '' });
    expect(ran.json()).toMatchObject({ droplets: [{}], links: { pages: {} }, meta: {} });
    expect(ran.out).toMatch(/^\{\n {2}"droplets"/);
  });

  it('takes a method in small letters', async () => {
    const { host } = await loggedIn();
    expect((await runCloudctl(host, ['api', 'get', '/v2/actions'])).code).toBe(0);
  });

  it('sends a body from the words, a file or standard input', async () => {
    const { host } = await loggedIn();
    const file = join(host.place.work, 'body.json');
    writeFileSync(file, JSON.stringify({ ...body, name: 'api-02' }));
    const ways = [
      [JSON.stringify(body), {}],
      [`@${file}`, {}],
      ['-', { stdin: JSON.stringify({ ...body, name: 'api-03' }) }],
    ] as const;
    for (const [data, options] of ways) {
      const ran = await runCloudctl(host, ['api', 'POST', '/v2/droplets', '--data', data], options);
      expect(ran).toMatchObject({ code: 0 });
      expect(ran.json()).toMatchObject({ droplet: { name: expect.stringMatching(/^api-0[123]$/) } });
    }
  });

  it('HEAD and DELETE print no data and say so', async () => {
    const { host } = await loggedIn();
    const { droplet } = (
      await runCloudctl(host, ['api', 'POST', '/v2/droplets', '--data', JSON.stringify(body)])
    ).json<{
      droplet: { id: number };
    }>();
    const path = `/v2/droplets/${droplet.id}`;
    expect(await runCloudctl(host, ['api', 'HEAD', path])).toMatchObject({ code: 0, out: '', err: '200, no body.\n' });
    expect(await runCloudctl(host, ['api', 'DELETE', path])).toMatchObject({
      code: 0,
      out: '',
      err: '204, no body.\n',
    });
    const gone = await runCloudctl(host, ['api', 'GET', path, '-o', 'json']);
    expect(gone).toMatchObject({ code: 1, out: '' });
    expect(gone.error()).toMatchObject({ code: 'not_found' });
  });

  it('renews a refused token for HEAD too, whose answer has no body', async () => {
    const { host, sandbox, grant, stored } = await loggedIn();
    await admin(sandbox, 'POST', '/_sandbox/tokens/expire', { token: grant.access_token });
    expect((await runCloudctl(host, ['api', 'HEAD', '/v2/actions'])).code).toBe(0);
    expect(stored()?.gen).toBe(2);
  });

  it('prints in the format asked for', async () => {
    const { host } = await loggedIn();
    const words = ['api', 'GET', '/v2/droplets?per_page=2'];
    expect((await runCloudctl(host, [...words, '-o', 'yaml'])).out).toMatch(/^droplets:\n/);
    const query = await runCloudctl(host, [...words, '--query', 'droplets[].name', '-o', 'json']);
    expect(query.json<string[]>()).toHaveLength(2);
  });

  it('knows no columns, and says so', async () => {
    const { host } = await loggedIn();
    const ran = await runCloudctl(host, ['api', 'GET', '/v2/droplets', '--format', 'Name']);
    expect(ran).toMatchObject({ code: 1, out: '' });
    expect(ran.err).toMatch(/unknown column "Name"/);
  });

  it('of a read session says which scope to ask for', async () => {
    const { host } = await loggedIn('read');
    const ran = await runCloudctl(host, ['api', 'POST', '/v2/droplets', '--data', '{}', '-o', 'json']);
    expect(ran).toMatchObject({ code: 4, out: '' });
    expect(ran.error()).toMatchObject({
      code: 'scope_too_small',
      hint: expect.stringContaining('--scope "read write"'),
    });
  });
});

describe('api --paginate', () => {
  it('prints every item of every page as one array', async () => {
    const { host, sandbox } = await loggedIn();
    const ran = await runCloudctl(host, ['api', 'GET', '/v2/droplets?per_page=1', '--paginate']);
    const ids = ran.json<{ id: number }[]>().map(({ id }) => id);
    const whole = await runCloudctl(host, ['droplets', 'list', '-o', 'json']);
    expect(ids).toEqual(whole.json<{ id: number }[]>().map(({ id }) => id));
    expect(ids.length).toBeGreaterThan(1);
    expect((await recordedRequests(sandbox)).filter((line) => line === 'GET /v2/droplets').length).toBeGreaterThan(2);
  });

  it('sends a file without its byte order mark', async () => {
    const { origin, seen } = await serverFor((_, response) => reply(response, 200, {}));
    const host = testHost({ env: { CLOUDCTL_ACCESS_TOKEN: 'x', CLOUDCTL_BASE_URL: origin } });
    const file = join(host.place.work, 'body.json');
    writeFileSync(file, '\uFEFF{"a":1}');
    for (const words of [
      ['--data', `@${file}`],
      ['--input', file],
    ])
      expect((await runCloudctl(host, ['api', 'POST', '/v2/x', ...words])).err).toContain(file);
    expect(seen.map(({ body }) => body)).toEqual(['{"a":1}', '{"a":1}']);
  });

  it.each([
    ['a link to itself', '/v2/things', 'incomplete_list'],
    ['a link that leaves the base origin', 'http://127.0.0.1:1/v2/things', 'api_error'],
  ])('with %s is an error', async (_what, next, code) => {
    const { host, sandbox, seen } = await pagesOf({ things: [1], links: { pages: { next } } });
    const ran = await runCloudctl(host, ['api', 'GET', '/v2/things', '--paginate', '-o', 'json']);
    expect(ran).toMatchObject({ code: 1, out: '' });
    expect(ran.error()).toMatchObject({ code });
    expect(seen.length).toBe(1);
    await sandbox.close();
  });

  it('waits for the rate limit once it has begun, and not before', async () => {
    const { host, sandbox } = await loggedIn();
    const words = ['api', 'GET', '/v2/droplets?per_page=1', '--paginate'];
    const match = { method: 'GET', path: '/v2/droplets' };
    sandbox.faults.add({ match, nth: 2, action: 'rate_limit' });
    const ran = await runCloudctl(host, words);
    expect(ran.code).toBe(0);
    expect(ran.json<unknown[]>().length).toBeGreaterThan(1);
    expect(ran.err).not.toBe('');
    sandbox.faults.add({ match, action: 'rate_limit' });
    expect((await runCloudctl(host, [...words, '-o', 'json'])).error()).toMatchObject({ code: 'rate_limited' });
  });

  it('takes a page of more items than a call can have arguments', async () => {
    const { host } = await pagesOf({ things: Array.from({ length: 300_000 }, () => 1) });
    const ran = await runCloudctl(host, [
      'api',
      'GET',
      '/v2/things',
      '--paginate',
      '--query',
      'length(@)',
      '-o',
      'json',
    ]);
    expect(ran).toMatchObject({ code: 0, out: '300000\n' });
  });

  it('of a response that is not a list is not a usage error', async () => {
    const { host } = await pagesOf({ thing: {} });
    const ran = await runCloudctl(host, ['api', 'GET', '/v2/thing', '--paginate']);
    expect(ran).toMatchObject({ code: 1, out: '' });
    expectGolden('api', stableText(ran));
  });

  async function pagesOf(page: object) {
    const { origin, seen } = await serverFor((_, response) => reply(response, 200, page));
    const sandbox = await sandboxFor();
    const { access_token: token } = await tokenFor(sandbox);
    return { host: testHost({ env: { CLOUDCTL_ACCESS_TOKEN: token, CLOUDCTL_BASE_URL: origin } }), sandbox, seen };
  }
});

describe('the words of curl and gh', () => {
  const account = { account: { email: MAYA } };

  it.each([
    ['-X', 'GET', '/v2/account'],
    ['-XGET', '/v2/account'],
    ['/v2/account', '-X', 'GET'],
    ['--method', 'GET', '/v2/account'],
    ['--method=get', '/v2/account'],
    ['-X', 'GET', 'get', '/v2/account'],
    ['v2/account'],
    ['GET', 'v2/account'],
    ['-X', 'GET', 'v2/account'],
  ])('%s %s %s', async (...words) => {
    const { host, sandbox } = await loggedIn();
    const ran = await runCloudctl(host, ['api', ...words]);
    expect(ran).toMatchObject({ code: 0, err: '' });
    expect(ran.json()).toMatchObject(account);
    expect(await recordedRequests(sandbox)).toEqual(['GET /v2/account']);
  });

  it.each([
    [['-XPOST', 'v2/droplets', '-d', JSON.stringify(body)]],
    [['--method', 'post', '/v2/droplets', '--data', JSON.stringify(body)]],
    [['-d', JSON.stringify(body), '/v2/droplets']],
  ])('%j creates a droplet', async (words) => {
    const { host } = await loggedIn();
    expect((await runCloudctl(host, ['api', ...words])).json()).toMatchObject({ droplet: { name: body.name } });
  });

  it('fields of -X GET are the query', async () => {
    const { host, sandbox } = await loggedIn();
    const ran = await runCloudctl(host, ['api', '-X', 'GET', 'v2/droplets', '-f', 'per_page=1']);
    expect(ran.json<{ droplets: unknown[] }>().droplets).toHaveLength(1);
    expect(await recordedRequests(sandbox)).toEqual(['GET /v2/droplets']);
  });

  it('a URL of the resource API is its path', async () => {
    const { host, sandbox } = await loggedIn();
    const origin = sandbox.ready.base_url;
    for (const url of [
      `${origin}/v2/droplets?per_page=1`,
      `${origin.replace('http', 'HTTP')}/v2/droplets?per_page=1`,
    ]) {
      const ran = await runCloudctl(host, ['api', url]);
      expect(ran).toMatchObject({ code: 0, err: '' });
      expect(ran.json<{ droplets: unknown[] }>().droplets).toHaveLength(1);
    }
    expect((await runCloudctl(host, ['api', `${origin}/v2/droplets?per_page=1`, '--paginate'])).code).toBe(0);
  });

  it('a URL of any other host, scheme or port gets no request and no token', async () => {
    const { origin, seen } = await serverFor((_, response) => reply(response, 200, {}));
    const { host, sandbox } = await loggedIn();
    const [base, other] = [new URL(sandbox.ready.base_url), new URL(origin)];
    const urls = [
      `${origin}/v2/droplets`,
      `http://${base.host}@${other.host}/v2/droplets`,
      `http://user:pass@${base.host}/v2/droplets`,
      `http://${base.host}\\@${other.host}/v2/droplets`,
      `http:${other.host}/v2/droplets`,
      `http:\\\\${other.host}\\v2`,
      `https://${base.host}/v2/droplets`,
      `http://${base.host}.evil.example/v2/droplets`,
      `http://${base.hostname}:${other.port}/v2/droplets`,
      `http://${base.host}/v2/droplets#x`,
      `http://\t${base.host}/v2/droplets`,
      `ftp://${base.host}/v2/droplets`,
      `file:///${base.host}/v2/droplets`,
      `//${other.host}/v2/droplets`,
    ];
    for (const url of urls) {
      const ran = await runCloudctl(host, ['api', url]);
      expect({ url, code: ran.code, out: ran.out }).toEqual({ url, code: 2, out: '' });
      expect(ran.err).not.toContain('pass@');
    }
    // Without a scheme it is a path, which the resource API does not have.
    expect((await runCloudctl(host, ['api', `${other.host}/v2/droplets`])).code).not.toBe(0);
    expect(seen).toEqual([]);
    expect((await recordedRequests(sandbox)).filter((line) => !line.includes(other.port))).toEqual([]);
  });
});

describe('wrong arguments', () => {
  it.each([
    [['FETCH', '/v2/x']],
    [['-X', 'GET']],
    [['-X', 'FETCH', '/v2/x']],
    [['-X', 'GET', 'POST', '/v2/x']],
    [['C:/Program Files/Git/v2/droplets?per_page=1']],
    [['ftp://127.0.0.1/v2/x']],
    [['javascript:x']],
    [['-X', 'POST', '/v2/x', '-d', '{']],
    [['GET', '//evil.example/v2']],
    [['GET', '/\\evil.example']],
    [['GET', 'https://evil.example/v2']],
    [['GET', 'HTTP://evil.example/v2']],
    [['GET', '/v2/x#y']],
    [['GET', '/v2/ x']],
    [['GET', '/v2/x\n']],
    [['GET', '']],
    [['GET', '/v2/x', '--data', '{}']],
    [['HEAD', '/v2/x', '--data', '{}']],
    [['POST', '/v2/x', '--data', '{']],
    [['POST', '/v2/x', '--data', '']],
    [['POST', '/v2/x', '--data', '@/no/such/file']],
    [['DELETE', '/v2/x', '--paginate']],
    [['GET']],
    [['GET', '/v2/x', '/v2/y']],
  ])('%j are refused before any request', async (words) => {
    const { host, sandbox } = await loggedIn();
    const ran = await runCloudctl(host, ['api', ...words]);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expectGolden('api', stableText(ran));
    expect(await recordedRequests(sandbox)).toEqual([]);
  });
});
