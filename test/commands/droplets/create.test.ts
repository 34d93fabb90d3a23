import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SandboxOptions } from '../../../src/sandbox/server.ts';
import { closedOrigin, reply, serverFor } from '../../fixtures/broken-server.ts';
import { testHost } from '../../fixtures/host.ts';
import { seedSession } from '../../fixtures/session.ts';
import { admin, sandboxFor } from '../../sandbox/driver.ts';
import { cloudctl, requestsOf } from '../ground.ts';

const like = ['--size', 's-1vcpu-1gb', '--image', 'ubuntu-24-04-x64'];

interface Row {
  readonly name: string;
  readonly status: string;
  readonly id?: number;
  readonly error?: string;
}

async function loggedIn(scope = 'read write', options: SandboxOptions = {}) {
  const [host, sandbox] = [testHost(), await sandboxFor(options)];
  return { host, sandbox, ...(await seedSession(host, sandbox, { scope })) };
}

function tokenTo(origin: string) {
  return testHost({ env: { CLOUDCTL_ACCESS_TOKEN: 'x', CLOUDCTL_BASE_URL: origin } });
}

describe('droplets create', () => {
  it('prints a row of the contract for every name, in their order', async () => {
    const { host } = await loggedIn();
    const ran = await cloudctl(host, ['droplets', 'create', 'n-{1..12}', 'z', ...like, '-o', 'json']);
    expect(ran.code).toBe(0);
    const rows = ran.json<Row[]>();
    expect(rows.map(({ name }) => name)).toEqual([...Array.from({ length: 12 }, (_, at) => `n-${at + 1}`), 'z']);
    for (const row of rows) {
      expect(row).toEqual({ name: row.name, status: 'created', id: expect.any(Number), action_id: expect.any(Number) });
    }
    expect(ran.err).toMatch(/13 created/);
  });

  it('takes names from words, --names, a file and standard input together', async () => {
    const { host } = await loggedIn();
    const file = join(host.place.work, 'names.txt');
    writeFileSync(file, '\uFEFFfrom-file-1\r\nfrom-file-{2..3}\n');
    const words = ['w', '--names', 'x-{a,b},y', ...like, '-o', 'json'];
    const ran = await cloudctl(host, ['droplets', 'create', ...words, '--names-from', file]);
    const piped = await cloudctl(host, ['droplets', 'create', ...like, '--names-from', '-', '-o', 'json'], {
      stdin: 'p-1\np-2',
    });
    const names = ran.json<Row[]>().map(({ name }) => name);
    expect(names).toEqual(['w', 'x-a', 'x-b', 'y', 'from-file-1', 'from-file-2', 'from-file-3']);
    expect(piped.json<Row[]>().map(({ name }) => name)).toEqual(['p-1', 'p-2']);
  });

  it('sends attributes as given, numbers of images as numbers', async () => {
    const { origin, seen } = await serverFor((_, response) => reply(response, 202, { droplet: { id: 1, name: 'a' } }));
    const words = ['--size', 's', '--image', '123', '--region', 'nyc3', '--set', 'tags=["x"]', '--set', 'ipv6=true'];
    expect((await cloudctl(tokenTo(origin), ['droplets', 'create', 'a', ...words])).code).toBe(0);
    expect(JSON.parse(seen[0]?.body ?? '')).toEqual({
      name: 'a',
      size: 's',
      image: 123,
      region: 'nyc3',
      tags: ['x'],
      ipv6: true,
    });
  });

  it('streams ndjson as each group becomes known', async () => {
    const { host } = await loggedIn();
    const ran = await cloudctl(host, ['droplets', 'create', 'n-{1..3}', ...like, '--batch-size', '1', '-o', 'ndjson']);
    expect(
      ran.out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).status),
    ).toEqual(['created', 'created', 'created']);
  });

  it('with --dry-run prints the requests, needs no session and sends nothing', async () => {
    const sandbox = await sandboxFor();
    const ran = await cloudctl(testHost(), ['droplets', 'create', 'n-{1..11}', ...like, '--dry-run', '-o', 'json']);
    expect(ran.code).toBe(0);
    expect(ran.json<{ body: object }[]>()).toMatchObject([
      { method: 'POST', path: '/v2/droplets', body: { names: expect.any(Array) } },
      { body: { name: 'n-11' } },
    ]);
    expect(await requestsOf(sandbox)).toEqual([]);
  });
});

describe('the exit status', () => {
  it('is 4 with a read session, and says which scope to ask for', async () => {
    const { host } = await loggedIn('read');
    const ran = await cloudctl(host, ['droplets', 'create', 'a', 'b', ...like, '-o', 'json']);
    expect(ran.code).toBe(4);
    expect(ran.json<Row[]>().map(({ status }) => status)).toEqual(['failed', 'failed']);
    expect(ran.error()).toMatchObject({
      code: 'scope_too_small',
      hint: expect.stringContaining('--scope "read write"'),
    });
  });

  it('is 1 when the server took none', async () => {
    const { host } = await loggedIn();
    const ran = await cloudctl(host, ['droplets', 'create', 'a', '--size', 'huge', '--image', 'x', '-o', 'json']);
    expect(ran.code).toBe(1);
    expect(ran.json<Row[]>()).toMatchObject([
      { name: 'a', status: 'failed', error: expect.stringMatching(/size|image/) },
    ]);
  });

  it('is 5 when some were created', async () => {
    const { host, sandbox } = await loggedIn('read write', { dropletLimit: 5 });
    const { json } = await cloudctl(host, ['droplets', 'list', '-o', 'json']);
    const room = Math.max(0, 5 - json<unknown[]>().length);
    const words = ['n-{1..9}', ...like, '--batch-size', '1', '--concurrency', '1', '-o', 'json'];
    const ran = await cloudctl(host, ['droplets', 'create', ...words]);
    expect(ran.code).toBe(room === 0 ? 1 : 5);
    expect(ran.json<Row[]>().filter(({ status }) => status === 'created')).toHaveLength(room);
    expect(ran.json<Row[]>()).toHaveLength(9);
    expect(sandbox.ready.base_url).toBeDefined();
  });

  it('is 5 when a group is in doubt, and its names are unknown', async () => {
    const { origin, seen } = await serverFor((_, response, count) =>
      count === 1 ? reply(response, 202, { droplet: { id: 1, name: 'a' } }) : void response.destroy(),
    );
    const words = ['a', 'b', ...like, '--batch-size', '1', '--concurrency', '1', '-o', 'json'];
    const ran = await cloudctl(tokenTo(origin), ['droplets', 'create', ...words]);
    expect(ran.code).toBe(5);
    expect(ran.json<Row[]>()).toMatchObject([
      { name: 'a', status: 'created' },
      { name: 'b', status: 'unknown' },
    ]);
    expect(ran.error()).toMatchObject({ code: 'batch_partial', hint: expect.stringContaining('droplets list') });
    expect(seen).toHaveLength(2);
  });

  it('is 5 when all are in doubt', async () => {
    const { origin } = await serverFor((_, response) => reply(response, 500, { message: 'oops' }));
    expect((await cloudctl(tokenTo(origin), ['droplets', 'create', 'a', ...like])).code).toBe(5);
  });

  it('is 6 when nobody could be reached', async () => {
    const ran = await cloudctl(tokenTo(await closedOrigin()), ['droplets', 'create', 'a', ...like, '-o', 'json']);
    expect(ran.code).toBe(6);
    expect(ran.json<Row[]>()).toMatchObject([{ status: 'failed' }]);
  });

  it('is 0 although a sibling renewed the session in the middle: no droplet twice', async () => {
    const { host, sandbox, grant } = await loggedIn();
    await admin(sandbox, 'POST', '/tokens/expire', { token: grant.access_token });
    const words = ['n-{1..20}', ...like, '--batch-size', '2', '-o', 'json'];
    expect((await cloudctl(host, ['droplets', 'create', ...words])).code).toBe(0);
    const list = (await cloudctl(host, ['droplets', 'list', 'n-*', '-o', 'json'])).json<Row[]>();
    expect(list).toHaveLength(20);
    expect((await requestsOf(sandbox)).filter((line) => line === 'POST /v1/oauth/token')).toHaveLength(1);
  });
});

describe('wrong words', () => {
  it.each([
    [[...like], /names are missing/],
    [['a'], /--size and --image are missing/],
    [['a', '--size', 's'], /--image is missing/],
    [['a', 'b', 'a', ...like], /1 name given more than once\ndetail: a/],
    [['-a-', 'a b', ...like], /looks like an option|2 names|unknown option/],
    [['a_b', 'c_d', ...like], /2 names cannot be used\ndetail: a_b, c_d/],
    [['a', '--names', 'b,,c', ...like], /\(blank\)/],
    [['a', '--batch-size', '11', ...like], /--batch-size/],
    [['a', '--concurrency', '0', ...like], /--concurrency/],
    [['a', '--set', 'x', ...like], /--set is not KEY=JSON/],
    [['a', '--set', 'x=y', ...like], /--set is not KEY=JSON/],
    [['a', '--set', 'name="b"', ...like], /--set cannot give name/],
    [['a', '--set', 'size="b"', ...like], /--set cannot give size/],
    [['--names-from', '/no/such/file', ...like], /could not read the names/],
  ])('%j are refused before any request', async (words, message) => {
    const { host, sandbox } = await loggedIn();
    const ran = await cloudctl(host, ['droplets', 'create', ...words]);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toMatch(message);
    expect(await requestsOf(sandbox)).toEqual([]);
  });

  it('a blank line of a file is named', async () => {
    const { host } = await loggedIn();
    const ran = await cloudctl(host, ['droplets', 'create', ...like, '--names-from', '-'], { stdin: 'a\n\nb\n' });
    expect(ran.code).toBe(2);
    expect(ran.err).toMatch(/1 name cannot be used\ndetail: \(blank\)/);
  });
});
