import { describe, expect, it } from 'vitest';
import { recordSandbox } from '../../../src/config/sandboxes.ts';
import { reply, serverFor } from '../../fixtures/fake-server.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { testHost } from '../../fixtures/host.ts';
import { profileOf, seedSession } from '../../fixtures/session.ts';
import { admin, MAYA, sandboxFor, tokenFor, userOf } from '../../sandbox/requests.ts';
import { recordedRequests, runCloudctl, sandboxEnvironment } from '../run-cloudctl.ts';

interface Droplet {
  readonly id: number;
  readonly name: string;
  readonly region: { readonly slug: string };
  readonly tags: readonly string[];
}

async function loggedIn() {
  const [host, sandbox] = [testHost(), await sandboxFor()];
  return { host, sandbox, ...(await seedSession(host, sandbox)) };
}

describe('the rate limit', () => {
  const many = async () => {
    const setup = await loggedIn();
    const names = Array.from({ length: 500 }, (_, at) => `many-${at}`);
    const blueprint = { region: 'nyc3', size: 's-1vcpu-1gb', image: 155_133_621, tags: [], features: [] };
    setup.sandbox.world.droplets.create(userOf(setup.sandbox, MAYA).uuid, names, blueprint);
    return { ...setup, names };
  };
  const match = { method: 'GET', path: '/v2/droplets' };

  it('is waited for in the middle of a list, which is whole then', async () => {
    const { host, sandbox, names } = await many();
    for (const nth of [2, 2]) sandbox.faults.add({ match, nth, action: 'rate_limit' });
    const began = host.clock.now();
    const ran = await runCloudctl(host, ['droplets', 'list', 'many-*', '-o', 'ndjson']);
    expect(ran.code).toBe(0);
    const rows: readonly Droplet[] = ran.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(rows.map(({ name }) => name).sort()).toEqual([...names].sort());
    expect(ran.err).toMatch(/^waiting \S+\b.*rate limit$/m);
    expect(host.clock.now()).toBeGreaterThan(began);
  });

  it('ends a list that has not begun, with the time to try again', async () => {
    const { host, sandbox } = await many();
    sandbox.faults.add({ match, action: 'rate_limit' });
    const ran = await runCloudctl(host, ['droplets', 'list']);
    expect(ran).toMatchObject({ code: 1, out: '' });
    expect(ran.err).toMatch(/^hint: .*\b\d+ s\b/m);
  });
});

describe('droplets list', () => {
  it('gives the objects of the API as a bare array', async () => {
    const { host } = await loggedIn();
    const ran = await runCloudctl(host, ['droplets', 'list', '-o', 'json']);
    expect(ran).toMatchObject({ code: 0, err: '' });
    expect(ran.json<Droplet[]>()[0]).toMatchObject({ id: expect.any(Number), size: expect.any(Object) });
    expect((await runCloudctl(host, ['droplets', '-o', 'json'])).out).toBe(ran.out);
  });

  it('has the documented columns, filled', async () => {
    const { host } = await loggedIn();
    const { out } = await runCloudctl(host, [
      'droplets',
      'list',
      '-o',
      'ndjson',
      '--format',
      'ID,name,PublicIPv4,Memory,VCPUs,Disk,Region,Image,Size,Status,Tags,CreatedAt',
    ]);
    const rows = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const columns = [
      'ID',
      'Name',
      'PublicIPv4',
      'Memory',
      'VCPUs',
      'Disk',
      'Region',
      'Image',
      'Size',
      'Status',
      'Tags',
      'CreatedAt',
    ];
    expect(Object.keys(rows[0])).toEqual(columns);
    for (const row of rows.filter(({ Status }) => Status === 'active')) {
      for (const column of columns) expect(row[column], column).not.toBeNull();
    }
    const table = await runCloudctl(host, ['droplets', 'list']);
    expect(table.out.split('\n')[0]?.trim().split(/ {2,}/)).toEqual(columns);
  });

  it.each([
    ['web-*', (name: string) => name.startsWith('web-')],
    ['db-0?', (name: string) => /^db-0.$/.test(name)],
    ['*-[0-9]2', (name: string) => /-\d2$/.test(name)],
    ['nothing', () => false],
  ])('%s keeps the names that match', async (glob, matches) => {
    const { host } = await loggedIn();
    const all = (await runCloudctl(host, ['droplets', 'list', '-o', 'json'])).json<Droplet[]>();
    const ran = await runCloudctl(host, ['droplets', 'list', glob, '-o', 'json']);
    expect(ran.code).toBe(0);
    expect(ran.json<Droplet[]>()).toEqual(all.filter(({ name }) => matches(name)));
  });

  it('reads a list of one name with one request', async () => {
    const { host, sandbox } = await loggedIn();
    const names = Array.from({ length: 500 }, (_, at) => `many-${at}`);
    const blueprint = { region: 'nyc3', size: 's-1vcpu-1gb', image: 155_133_621, tags: ['t'], features: [] };
    sandbox.world.droplets.create(userOf(sandbox, MAYA).uuid, names, blueprint);
    const listed = async (...args: readonly string[]) => {
      const before = (await recordedRequests(sandbox)).length;
      const ran = await runCloudctl(host, ['droplets', 'list', 'many-499', ...args, '-o', 'json']);
      const requests = (await recordedRequests(sandbox)).slice(before).filter((line) => line.includes('/v2/droplets'));
      return { names: ran.json<Droplet[]>().map(({ name }) => name), requests: requests.length };
    };
    expect(await listed()).toEqual({ names: ['many-499'], requests: 1 });
    expect((await listed('--tag', 't')).names).toEqual(['many-499']);
    expect(await listed('--region', 'ams3')).toEqual({ names: [], requests: 1 });
  });

  it('reads all pages for one name where the server ignores the name', async () => {
    const host = testHost();
    const droplets = ['a', 'b'].map((name, at) => ({ id: at + 1, name, created_at: '2026-01-01T00:00:00Z' }));
    const server = await serverFor((_, response) => reply(response, 200, { droplets, meta: { total: 2 } }));
    const env = { CLOUDCTL_BASE_URL: server.origin, CLOUDCTL_ACCESS_TOKEN: 'at_abc' };
    const ran = await runCloudctl(host, ['droplets', 'list', 'b', '-o', 'json'], { env });
    expect(ran.json<Droplet[]>().map(({ name }) => name)).toEqual(['b']);
  });

  it('filters by region here and by tag at the server', async () => {
    const { host } = await loggedIn();
    await runCloudctl(host, [
      'droplets',
      'create',
      'tagged',
      '--size',
      's-1vcpu-1gb',
      '--image',
      'ubuntu-24-04-x64',
      '--region',
      'sfo3',
      '--set',
      'tags=["blue"]',
    ]);
    const region = await runCloudctl(host, ['droplets', 'list', '--region', 'sfo3', '-o', 'json']);
    expect(region.json<Droplet[]>().every(({ region: { slug } }) => slug === 'sfo3')).toBe(true);
    const tag = await runCloudctl(host, ['droplets', 'list', '--tag', 'blue', '-o', 'json']);
    expect(tag.json<Droplet[]>().map(({ name }) => name)).toEqual(['tagged']);
  });

  it('with a tag gives no other droplets where the server does not know the filter', async () => {
    const droplets = [
      { id: 1, name: 'a', tags: ['Blue', 'x'] },
      { id: 2, name: 'b', tags: ['red'] },
      { id: 3, name: 'c' },
    ];
    const { origin } = await serverFor((_, response) => reply(response, 200, { droplets, meta: { total: 3 } }));
    const host = testHost({ env: { CLOUDCTL_ACCESS_TOKEN: 'x', CLOUDCTL_BASE_URL: origin } });
    const ran = await runCloudctl(host, ['droplets', 'list', '--tag', 'blue', '-o', 'json']);
    expect(ran.json<Droplet[]>().map(({ name }) => name)).toEqual(['a', 'c']);
  });

  it('with a limit stops there', async () => {
    const { host } = await loggedIn();
    expect(
      (await runCloudctl(host, ['droplets', 'list', '--limit', '1', '-o', 'json'])).json<Droplet[]>(),
    ).toHaveLength(1);
  });

  it('with a limit asks for what it gives and no more', async () => {
    const { host, sandbox } = await loggedIn();
    const paths: string[] = [];
    const send: typeof host.createSender = async (options) => {
      const real = await host.createSender(options);
      return (url, init) => {
        paths.push(url.replace(sandbox.ready.base_url, ''));
        return real(url, init);
      };
    };
    await runCloudctl(host, ['droplets', 'list', '--limit', '2', '-o', 'json'], { send });
    await runCloudctl(host, ['droplets', 'list', '*', '--limit', '1', '-o', 'json'], { send });
    expect(paths).toEqual(['/v2/droplets?page=1&per_page=2', '/v2/droplets?page=1&per_page=200']);
  });

  it('judges the columns before the session', async () => {
    const sandbox = await sandboxFor();
    const host = testHost();
    host.writeConfig({ profiles: { default: profileOf(sandbox) } });
    for (const what of ['droplets', 'actions']) {
      const ran = await runCloudctl(host, [what, 'list', '--format', 'Nope']);
      expect(ran).toMatchObject({ code: 2, out: '', err: expect.stringContaining('unknown column "Nope"') });
    }
  });

  it('loses none that stayed, and cries no wolf, while others create and delete all the time', async () => {
    const { host, sandbox } = await loggedIn();
    const { world } = sandbox;
    const account = sandbox.ready.users[0]?.uuid ?? '';
    const blueprint = { region: 'nyc3', size: 's-1vcpu-1gb', image: 155_133_621, tags: [], features: [] };
    const names = Array.from({ length: 900 }, (_, at) => `old-${at}`);
    const born = world.droplets.create(account, names, blueprint).map(({ droplet }) => droplet);
    const victims = born.filter((_, at) => at % 3 === 0);
    let pages = 0;
    const send: typeof host.createSender = async (options) => {
      const real = await host.createSender(options);
      return (url, init) => {
        pages += 1;
        // One goes and one comes: the total stays what it was.
        for (const victim of pages < 12 ? victims.splice(0, 1 + (pages % 3)) : []) {
          world.droplets.delete(victim);
          world.droplets.create(account, ['new'], blueprint);
        }
        return real(url, init);
      };
    };
    const ran = await runCloudctl(host, ['droplets', 'list', '-o', 'ndjson'], { send });
    expect(ran).toMatchObject({ code: 0, err: '' });
    const ids = ran.out
      .trim()
      .split('\n')
      .map((line): number => JSON.parse(line).id);
    expect(new Set(ids).size).toBe(ids.length);
    const missing = born.filter(({ id }) => world.droplets.get(id) !== undefined && !ids.includes(id));
    expect(missing).toEqual([]);
  });

  it('of nothing is an empty array', async () => {
    const { host } = await loggedIn();
    expect((await runCloudctl(host, ['droplets', 'list', 'no-*', '-o', 'json'])).out).toBe('[]\n');
  });

  it.each([
    [['[z-a]'], /GLOB is not a valid shell pattern/],
    [[''], /GLOB is empty/],
    [['--tag', ''], /--tag is empty/],
    [['--region', ' '], /--region is empty/],
    [['--limit', '0'], /--limit/],
    [['a', 'b'], /a/],
    [['--query', '[?'], /./],
  ])('%j is a usage error before any request', async (words, message) => {
    const { host, sandbox } = await loggedIn();
    const ran = await runCloudctl(host, ['droplets', 'list', ...words]);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toMatch(message);
    expect(await recordedRequests(sandbox)).toEqual([]);
  });
});

describe('the session of a profile', () => {
  it.each(['--base-url', '--auth-url'])('never goes to another server by %s', async (option) => {
    const { host, sandbox, grant } = await loggedIn();
    const { origin, seen } = await serverFor((_, response) => reply(response, 200, { droplets: [] }));
    const ran = await runCloudctl(host, ['droplets', 'list', option, origin, '-o', 'json']);
    expect(ran).toMatchObject({ code: 4, out: '' });
    expect(ran.error()).toMatchObject({ code: 'not_logged_in', message: expect.stringContaining('other servers') });
    expect(ran.err).not.toContain(grant.access_token);
    expect(seen).toEqual([]);
    expect(await recordedRequests(sandbox)).toEqual([]);
  });

  it('never goes elsewhere by environment, profile or client id either', async () => {
    const { host, sandbox } = await loggedIn();
    const { origin, seen } = await serverFor((_, response) => reply(response, 200, { droplets: [] }));
    const list = ['droplets', 'list'];
    expect((await runCloudctl(host, list, { env: { CLOUDCTL_BASE_URL: origin } })).code).toBe(4);
    expect((await runCloudctl(host, list, { env: { CLOUDCTL_CLIENT_ID: 'other' } })).code).toBe(4);
    await runCloudctl(host, ['config', 'set', 'base_url', origin]);
    expect((await runCloudctl(host, list)).code).toBe(4);
    await runCloudctl(host, ['config', 'set', 'base_url', sandbox.ready.base_url]);
    expect((await runCloudctl(host, list)).code).toBe(0);
    expect(seen).toEqual([]);
  });

  it('is not touched when CLOUDCTL_ACCESS_TOKEN is set', async () => {
    const { host, sandbox, grant, stored } = await loggedIn();
    const other = await tokenFor(sandbox, { scope: 'read' });
    const env = { CLOUDCTL_ACCESS_TOKEN: other.access_token };
    expect((await runCloudctl(host, ['droplets', 'list'], { env })).code).toBe(0);
    await admin(sandbox, 'POST', '/_sandbox/tokens/revoke', { token: other.access_token });
    const ran = await runCloudctl(host, ['droplets', 'list', '-o', 'json'], { env });
    expect(ran).toMatchObject({ code: 4, out: '' });
    expect(ran.error()).toMatchObject({
      code: 'token_refused',
      hint: expect.stringContaining('unset CLOUDCTL_ACCESS_TOKEN'),
    });
    expect(stored()?.accessToken.reveal()).toBe(grant.access_token);
  });

  it('of the environment alone needs no profile', async () => {
    const sandbox = await sandboxFor();
    const host = testHost({ env: { ...sandboxEnvironment(sandbox), CLOUDCTL_PROFILE: 'ci' } });
    await seedSession(host, sandbox, { profile: 'ci' });
    host.writeConfig({});
    expect((await runCloudctl(host, ['droplets', 'list'])).code).toBe(0);
  });

  it('is renewed when it is due, once for a whole list', async () => {
    const { host, sandbox, stored } = await loggedIn();
    host.clock.advance(31 * 86_400_000);
    await admin(sandbox, 'POST', '/_sandbox/clock', { advance: '31d' });
    expect((await runCloudctl(host, ['droplets', 'list', '-o', 'json'])).code).toBe(0);
    expect(stored()?.gen).toBe(2);
    expect((await recordedRequests(sandbox)).filter((line) => line === 'POST /v1/oauth/token')).toHaveLength(1);
  });

  it('that nobody has says how to get one', async () => {
    const sandbox = await sandboxFor();
    const host = testHost();
    host.writeConfig({ profiles: { work: profileOf(sandbox) } });
    const ran = await runCloudctl(host, ['droplets', 'list', '--profile', 'work', '-o', 'json']);
    expect(ran.error()).toMatchObject({ code: 'not_logged_in', hint: '`cloudctl auth login --profile work`' });
    const unknown = await runCloudctl(host, ['droplets', 'list', '--profile', 'nope', '-o', 'json']);
    expect(unknown.error()).toMatchObject({ code: 'profile_unknown', exit_code: 2 });
  });
});

describe('an empty list', () => {
  it('says on standard error what did not match', async () => {
    const { host } = await loggedIn();
    for (const words of [
      ['nothing-*', '--region', 'nyc3'],
      ['--tag', 'none'],
    ]) {
      const ran = await runCloudctl(host, ['droplets', 'list', ...words]);
      expect(ran.code).toBe(0);
      expectGolden('droplets', ran.err, words.join(' '));
      expect((await runCloudctl(host, ['droplets', 'list', ...words, '-q'])).err).toBe('');
    }
    const ran = await runCloudctl(host, ['actions', 'list', '--status', 'errored', '-o', 'json']);
    expect(ran.json()).toEqual([]);
    expectGolden('actions', ran.err);
  });
});

describe('one rule decides about colour on both streams, which are no terminals', () => {
  it.each([
    [{ FORCE_COLOR: '1' }, [], true],
    [{ FORCE_COLOR: '3', NO_COLOR: '1' }, [], true],
    [{ FORCE_COLOR: 'true', TERM: 'dumb' }, [], true],
    [{ FORCE_COLOR: '1' }, ['--no-color'], false],
    [{ FORCE_COLOR: '0' }, [], false],
    [{ FORCE_COLOR: 'false' }, [], false],
    [{ FORCE_COLOR: '' }, [], false],
    [{}, [], false],
  ])('%j %j', async (env, words, colours) => {
    const host = testHost({ env });
    await seedSession(host, await sandboxFor());
    const printed = [
      (await runCloudctl(host, ['droplets', 'list', ...words])).out,
      (await runCloudctl(host, ['droplets', 'get', 'web-01', ...words])).out,
      (await runCloudctl(host, ['help', 'droplets', ...words])).out,
      (await runCloudctl(host, ['drplets', ...words])).err,
      (await runCloudctl(host, ['droplets', 'get', 'none', ...words])).err,
    ];
    expect(printed.map((text) => text.includes('\u001b['))).toEqual(printed.map(() => colours));
  });

  it('formats and values that programs read never have colour', async () => {
    const host = testHost({ env: { FORCE_COLOR: '1' } });
    await seedSession(host, await sandboxFor());
    const get = ['droplets', 'get', 'web-01'];
    for (const words of [
      ...['json', 'ndjson', 'yaml', 'csv'].map((format) => ['-o', format]),
      ['--format', 'Status', '--no-header'],
    ])
      expect((await runCloudctl(host, [...get, ...words])).out).not.toContain('\u001b');
  });
});

it('on a terminal with hyperlinks the id leads to the page of the droplet', async () => {
  const [host, sandbox] = [testHost({ env: { FORCE_HYPERLINK: '1' } }), await sandboxFor()];
  await seedSession(host, sandbox);
  const linked = `\u001b]8;;${sandbox.ready.panel_url}/droplets?droplet=`;
  const shown = async (options = {}) => (await runCloudctl(host, ['droplets', 'list'], options)).out;
  expect(await shown({ terminal: 100 })).not.toContain('\u001b]8');
  recordSandbox(host.folders.state, sandbox.ready);
  expect(await shown({ terminal: 100 })).toContain(linked);
  expect(await shown()).not.toContain('\u001b');
});
