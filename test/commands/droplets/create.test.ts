import { existsSync, readdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { tryAcquire } from '../../../src/platform/locks.ts';
import type { ServerOptions } from '../../../src/sandbox/sandbox.ts';
import { fastClock } from '../../droplets/batch-fixtures.ts';
import { closedOrigin, type RequestHandler, reply, serverFor } from '../../fixtures/fake-server.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { type TestClock, testHost } from '../../fixtures/host.ts';
import { seedSession } from '../../fixtures/session.ts';
import { admin, MAYA, sandboxFor, userOf } from '../../sandbox/requests.ts';
import { recordedRequests, runCloudctl, startCloudctl } from '../run-cloudctl.ts';

const like = ['--size', 's-1vcpu-1gb', '--image', 'ubuntu-24-04-x64'];

interface Row {
  readonly name: string;
  readonly status: string;
  readonly id?: number;
  readonly error?: string;
}

async function loggedIn(scope = 'read write', options: ServerOptions = {}) {
  const [host, sandbox] = [testHost(), await sandboxFor(options)];
  return { host, sandbox, ...(await seedSession(host, sandbox, { scope })) };
}

/** The ledger a run printed. */
function ledgerOf({ err, out }: { readonly err: string; readonly out: string }): string {
  return /^ledger: (.+)$/m.exec(err)?.[1] ?? /"ledger": ?"([^"]+)"/.exec(out)?.[1] ?? '';
}

/** What was printed on stderr, without what differs from run to run: paths of ledgers, addresses, rates of progress, waits. */
function messages(err: string): string {
  return err
    .replace(/^\d+\/\d+ created.*\n/gm, '')
    .replace(/^still .*\n/gm, '')
    .replaceAll(/[^\s`]+\/batches\/\w+\.jsonl/g, 'LEDGER')
    .replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, 'http://SERVER');
}

/** The command in a hint. */
function commandIn(hint: string | undefined): string | undefined {
  return /`([^`]+)`/.exec(hint ?? '')?.[1];
}

/** A machine with a fixed access token, on which the waits of a batch are short. */
function tokenTo(origin: string) {
  return { ...testHost({ env: { CLOUDCTL_ACCESS_TOKEN: 'x', CLOUDCTL_BASE_URL: origin } }), clock: fastClock() };
}

/** Real time in which a wait of an hour or more ends at once. */
function jumpingClock(): TestClock {
  const clock = fastClock(1);
  const sleep: TestClock['sleep'] = async (ms, signal) =>
    ms < 3_600_000 ? clock.sleep(ms, signal) : clock.advance(ms);
  return { ...clock, sleep };
}

/** A server whose account is empty whatever it creates. */
function forgetful(post: RequestHandler) {
  let posts = 0;
  return serverFor((seen, response) => {
    if (seen.method === 'GET') return reply(response, 200, { droplets: [], meta: { total: 0 } });
    posts += 1;
    post(seen, response, posts);
  });
}

describe('droplets create with a server that never responds to a creation', () => {
  it.each([
    ['without a terminal', {}, ['a']],
    ['on a terminal', { terminal: 80 }, ['a']],
    ['with -o json', {}, ['a', '-o', 'json']],
    ['with -o json on a terminal', { terminal: 80 }, ['a', '-o', 'json']],
    ['for several names', {}, ['a', 'b']],
  ])('looks up, and says after 10 s why it waits longer than --timeout: %s', async (_case, options, words) => {
    const { origin, seen } = await forgetful(() => undefined);
    const base = { ...tokenTo(origin), clock: fastClock(500) };
    const ran = await runCloudctl(base, ['droplets', 'create', ...words, ...like, '--timeout', '2s'], options);
    expect(ran.code).toBe(5);
    expect(seen.filter(({ method }) => method === 'POST')).toHaveLength(1);
    expect(seen.filter(({ method }) => method === 'GET').length).toBeGreaterThan(3);
    const lines = [...ran.err.matchAll(/still waiting.*/g)].map(([line]) => line);
    if (words.includes('-o')) expect(lines).toEqual([]);
    else
      expectGolden(
        'droplets',
        lines.find((line) => /late/.test(line) && !line.endsWith('twice'))?.replace(/for [\d a-z]+$/, 'for N s') ?? '',
      );
  });
});

describe('droplets create', () => {
  it('prints a documented row for every name, in their order', async () => {
    const { host } = await loggedIn();
    const ran = await runCloudctl(host, ['droplets', 'create', 'n-{1..12}', 'z', ...like, '-o', 'json']);
    expect(ran.code).toBe(0);
    const rows = ran.json<Row[]>();
    expect(rows.map(({ name }) => name)).toEqual([...Array.from({ length: 12 }, (_, at) => `n-${at + 1}`), 'z']);
    for (const row of rows) {
      expect(row).toEqual({
        ...{ name: row.name, status: 'created', id: expect.any(Number), action_id: expect.any(Number) },
        ledger: expect.stringMatching(/\/batches\/\w+\.jsonl$/),
      });
    }
    // A script parses it.
    expect(ran.err).toBe('');
  });

  it('takes names from words, --names, a file and standard input together', async () => {
    const { host } = await loggedIn();
    const file = join(host.place.work, 'names.txt');
    writeFileSync(file, '\uFEFFfrom-file-1\r\nfrom-file-{2..3}\n');
    const words = ['w', '--names', 'x-{a,b},y', ...like, '-o', 'json'];
    const ran = await runCloudctl(host, ['droplets', 'create', ...words, '--names-from', file]);
    const piped = await runCloudctl(host, ['droplets', 'create', ...like, '--names-from', '-', '-o', 'json'], {
      stdin: 'p-1\np-2',
    });
    const names = ran.json<Row[]>().map(({ name }) => name);
    expect(names).toEqual(['w', 'x-a', 'x-b', 'y', 'from-file-1', 'from-file-2', 'from-file-3']);
    expect(piped.json<Row[]>().map(({ name }) => name)).toEqual(['p-1', 'p-2']);
  });

  it('reads a file of names as Windows PowerShell writes it', async () => {
    const { host } = await loggedIn();
    const file = join(host.place.work, 'names.txt');
    writeFileSync(file, '\uFEFFweb-1\r\nweb-2\r\n', 'utf16le');
    const words = [...like, '--names-from', file, '--dry-run', '-o', 'json', '--query', '[].body.names[]'];
    expect((await runCloudctl(host, ['droplets', 'create', ...words])).json()).toEqual(['web-1', 'web-2']);
  });

  it('sends attributes as given, numbers of images as numbers', async () => {
    const { origin, seen } = await forgetful((_, response) => reply(response, 202, { droplet: { id: 1, name: 'a' } }));
    const sets = ['tags=["x"]', 'ipv6=true', 'ratio=1.0', 'id=9007199254740991'].flatMap((set) => ['--set', set]);
    const words = ['--size', 's', '--image', '123', '--region', 'nyc3', ...sets];
    expect((await runCloudctl(tokenTo(origin), ['droplets', 'create', 'a', ...words])).code).toBe(0);
    expect(JSON.parse(seen.find(({ method }) => method === 'POST')?.body ?? '')).toEqual({
      name: 'a',
      size: 's',
      image: 123,
      region: 'nyc3',
      tags: ['x'],
      ipv6: true,
      ratio: 1,
      id: 9_007_199_254_740_991,
    });
  });

  it('streams ndjson as each group becomes known', async () => {
    const { host } = await loggedIn();
    const ran = await runCloudctl(host, [
      'droplets',
      'create',
      'n-{1..3}',
      ...like,
      '--batch-size',
      '1',
      '-o',
      'ndjson',
    ]);
    expect(
      ran.out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).status),
    ).toEqual(['created', 'created', 'created']);
  });

  it('with --dry-run prints the requests, needs no session and sends nothing', async () => {
    const sandbox = await sandboxFor();
    const ran = await runCloudctl(testHost(), ['droplets', 'create', 'n-{1..11}', ...like, '--dry-run', '-o', 'json']);
    expect(ran.code).toBe(0);
    expect(ran.json<{ body: object }[]>()).toMatchObject([
      { method: 'POST', path: '/v2/droplets', body: { names: expect.any(Array) } },
      { body: { name: 'n-11' } },
    ]);
    expect(await recordedRequests(sandbox)).toEqual([]);
  });

  it('with --dry-run cuts no request to the terminal: it is there to be read and pasted', async () => {
    const words = ['droplets', 'create', 'n-{1..10}', ...like, '--dry-run'];
    const ran = await runCloudctl(testHost(), words, { terminal: 80 });
    expect(ran.code).toBe(0);
    expect(ran.out).toMatch(/curl -X POST .*"n-10"\],.*'$/m);
  });

  it('with --dry-run asks for a token of the address it was given, so that no other one is sent there', async () => {
    const { host } = await loggedIn();
    const words = ['droplets', 'create', 'a', ...like, '--dry-run', '-o', 'json'];
    const elsewhere = await runCloudctl(host, [...words, '--base-url', 'http://127.0.0.1:4999']);
    expect(elsewhere.json<{ curl: string }[]>()[0]?.curl).toContain(
      '"Authorization: Bearer $(cloudctl auth token --base-url http://127.0.0.1:4999)"',
    );
  });

  it('with --dry-run prints curl commands that fetch the token themselves', async () => {
    const { host } = await loggedIn();
    const words = ['n-{1..2}', ...like, '--set', 'user_data="it\'s"', '--dry-run', '-o', 'json'];
    const [planned] = (await runCloudctl(host, ['droplets', 'create', ...words])).json<
      { curl: string; body: object }[]
    >();
    const body = JSON.stringify(planned?.body).replaceAll("'", "'\\''");
    expect(planned?.curl).toBe(
      `curl -X POST ${host.readConfig().profiles.get('default')?.base_url}/v2/droplets -H "Authorization: Bearer $(cloudctl auth token)" -H 'Content-Type: application/json' --data '${body}'`,
    );
  });
});

describe('the exit status', () => {
  it('is 4 with a read session, and says which scope to ask for', async () => {
    const { host } = await loggedIn('read');
    const ran = await runCloudctl(host, ['droplets', 'create', 'a', 'b', ...like, '-o', 'json']);
    expect(ran.code).toBe(4);
    expect(ran.json<Row[]>().map(({ status }) => status)).toEqual(['failed', 'failed']);
    expect(ran.error()).toMatchObject({
      code: 'scope_too_small',
      hint: expect.stringContaining('--scope "read write"'),
    });
  });

  it('is 1 when the server took none', async () => {
    const { host } = await loggedIn();
    const ran = await runCloudctl(host, ['droplets', 'create', 'a', '--size', 'huge', '--image', 'x', '-o', 'json']);
    expect(ran.code).toBe(1);
    expect(ran.json<Row[]>()).toMatchObject([
      { name: 'a', status: 'failed', error: expect.stringMatching(/size|image/) },
    ]);
  });

  it('is 1 when all were refused: what to mend is the hint, for the ledger would only ask for the same', async () => {
    const { origin, seen } = await forgetful((_, response) => reply(response, 422, { message: 'size is unknown' }));
    const words = ['n-{1..3}', ...like, '--batch-size', '1'];
    const ran = await runCloudctl(tokenTo(origin), ['droplets', 'create', ...words]);
    expect(ran.code).toBe(1);
    expect(seen.filter(({ method }) => method === 'POST')).toHaveLength(3);
    expect(ran.err).not.toContain('--resume');
    expectGolden('droplets', messages(ran.err));
  });

  it.each([
    [['--size', 's-9'], 'sizes'],
    [['--image', 'none'], 'images'],
    [['--region', 'mars1'], 'regions'],
  ])('with %j is 1, ends the batch, and names the list of what there is', async (words, list) => {
    const { host } = await loggedIn();
    const ran = await runCloudctl(host, ['droplets', 'create', 'a', 'b', ...like, ...words]);
    expect(ran.code).toBe(1);
    expect(ran.err).not.toContain('--resume');
    const [, path = ''] = /`cloudctl api '(.+)'`/.exec(ran.err) ?? [];
    expect((await runCloudctl(host, ['api', path])).json()).toMatchObject({ [list]: expect.any(Array) });
    const batches = await runCloudctl(host, ['droplets', 'batches', 'list', '-o', 'json']);
    expect(batches.json<object[]>()).toMatchObject([{ state: 'finished', created: 0, failed: 2 }]);
  });

  it('comes with a command that meets the same profile and server', async () => {
    const { origin } = await forgetful((_, response) => reply(response, 403, { message: 'not now' }));
    const host = { ...testHost(), clock: fastClock() };
    const work = { base_url: origin, token_command: ['/bin/echo', 'a-token-of-the-test'] };
    host.writeConfig({ current: 'default', profiles: { default: {}, work } });
    const place = ['--profile', 'work', '--base-url', origin];
    const ran = await runCloudctl(host, ['droplets', 'create', 'a', ...like, ...place]);
    expect(ran.code).toBe(4);
    expect(ran.err).toContain(`droplets create --resume ${ledgerOf(ran)} ${place.join(' ')}\n`);
  });

  it('is 5 when only some were refused: the error says why, as the rows do', async () => {
    const { host, sandbox } = await loggedIn();
    sandbox.faults.add({ match: { method: 'POST', path: '/v2/droplets' }, action: 'status', status: 422, nth: 2 });
    const words = ['a', 'b', 'c', ...like, '--batch-size', '1', '--concurrency', '1'];
    const ran = await runCloudctl(host, ['droplets', 'create', ...words]);
    expect(ran.code).toBe(5);
    expectGolden('droplets', messages(ran.err));
  });

  it('is 5 when the session may not go on: what lets it is said before the command that goes on', async () => {
    const { host, sandbox } = await loggedIn();
    sandbox.faults.add({ match: { method: 'POST', path: '/v2/droplets' }, action: 'status', status: 403, nth: 2 });
    const words = ['a', 'b', ...like, '--batch-size', '1', '--concurrency', '1'];
    const ran = await runCloudctl(host, ['droplets', 'create', ...words]);
    expect(ran.code).toBe(5);
    expectGolden('droplets', messages(ran.err));
  });

  it('is 5 for names that are never sent again, and says that a script can resume them for ever', async () => {
    const { origin } = await forgetful((_, response) =>
      reply(response, 202, { droplet: { id: 1, name: 'web.example.com' } }),
    );
    const ran = await runCloudctl(tokenTo(origin), ['droplets', 'create', 'Web', ...like]);
    expect(ran.code).toBe(5);
    expectGolden('droplets', messages(ran.err));
  });

  it('is 5 when some were created', async () => {
    const { host, sandbox } = await loggedIn('read write', { dropletLimit: 5 });
    const { json } = await runCloudctl(host, ['droplets', 'list', '-o', 'json']);
    const room = Math.max(0, 5 - json<unknown[]>().length);
    const words = ['n-{1..9}', ...like, '--batch-size', '1', '--concurrency', '1', '-o', 'json'];
    const ran = await runCloudctl(host, ['droplets', 'create', ...words]);
    expect(ran.code).toBe(room === 0 ? 1 : 5);
    expect(ran.json<Row[]>().filter(({ status }) => status === 'created')).toHaveLength(room);
    expect(ran.json<Row[]>()).toHaveLength(9);
    expect(sandbox.ready.base_url).toBeDefined();
  });

  it('is 1 when the limit of droplets leaves no room for a request, with the number that fits', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor({ dropletLimit: 7 })];
    await seedSession(host, sandbox, { scope: 'read write' });
    for (const droplet of [...sandbox.world.droplets.of(userOf(sandbox, MAYA).uuid)])
      sandbox.world.droplets.delete(droplet);
    await runCloudctl(host, ['droplets', 'create', 'x-{1..4}', ...like]);
    const ran = await runCloudctl(host, ['droplets', 'create', 'n-{1..9}', ...like]);
    expect(ran.code).toBe(1);
    expectGolden('droplets', messages(ran.err));
    const some = ['n-{1..9}', ...like, '--batch-size', '2', '--concurrency', '1'];
    const partial = await runCloudctl(host, ['droplets', 'create', ...some]);
    expect(partial.code).toBe(5);
    expectGolden('droplets', messages(partial.err), 'partial');
  });

  it('is 5 when a group is in doubt, and its names are unknown', async () => {
    const { origin, seen } = await forgetful((_, response, count) =>
      count === 1 ? reply(response, 202, { droplet: { id: 1, name: 'a' } }) : void response.destroy(),
    );
    const words = ['a', 'b', ...like, '--batch-size', '1', '--concurrency', '1', '-o', 'json'];
    const ran = await runCloudctl(tokenTo(origin), ['droplets', 'create', ...words]);
    expect(ran.code).toBe(5);
    expect(ran.json<Row[]>()).toMatchObject([
      { name: 'a', status: 'created' },
      { name: 'b', status: 'unknown' },
    ]);
    const resume = `cloudctl droplets create --resume ${ledgerOf(ran)} --batch-size 1 --concurrency 1`;
    expect(ran.error()).toMatchObject({ code: 'batch_partial' });
    expect(commandIn(ran.error().hint)).toBe(resume);
    expect(seen.filter(({ method }) => method === 'POST')).toHaveLength(4);
  });

  it('is 5 when all are in doubt', async () => {
    const { origin } = await forgetful((_, response) => reply(response, 500, { message: 'oops' }));
    expect((await runCloudctl(tokenTo(origin), ['droplets', 'create', 'a', ...like])).code).toBe(5);
  });

  it('is 5 when the rate limit asks for a longer wait than a quarter of an hour', async () => {
    const { origin } = await forgetful((_, response) => reply(response, 429, {}, { 'retry-after': '1000' }));
    const ran = await runCloudctl(tokenTo(origin), ['droplets', 'create', 'a', ...like, '-o', 'json']);
    expect(ran.code).toBe(5);
    expect(ran.json<Row[]>()).toMatchObject([{ status: 'failed' }]);
    expect(ran.error()).toMatchObject({ code: 'rate_limited' });
    expect(ran.err).toContain('droplets create --resume');
  });

  it('is 0 after a longer wait that --max-wait allows', async () => {
    const { origin } = await forgetful((_, response, count) =>
      count === 1
        ? reply(response, 429, {}, { 'retry-after': '3700' })
        : reply(response, 202, { droplet: { id: 1, name: 'a' } }),
    );
    const host = { ...tokenTo(origin), clock: jumpingClock() };
    const ran = await runCloudctl(host, ['droplets', 'create', 'a', ...like, '--max-wait', '2h']);
    expect(ran.code).toBe(0);
    // At this speed each millisecond of the test counts.
    expectGolden('droplets', messages(ran.err).replace(/\d+ min/, 'N min'));
  });

  it('is 0 after a wait for the account, and 5 when that is longer than --max-wait', async () => {
    let refusals = 0;
    const { origin } = await serverFor((seen, response) => {
      if (seen.url === '/v2/account') refusals += 1;
      if (seen.url === '/v2/account' && refusals !== 2)
        return reply(response, 429, { message: 'slow down' }, { 'retry-after': '3700' });
      if (seen.method === 'GET') return reply(response, 200, { droplets: [], meta: { total: 0 } });
      reply(response, 202, { droplet: { id: 1, name: 'a' } });
    });
    const host = { ...tokenTo(origin), clock: jumpingClock() };
    const ran = await runCloudctl(host, ['droplets', 'create', 'a', ...like, '--max-wait', '2h']);
    expect(ran.code).toBe(0);
    expect(refusals).toBe(2);
    const refused = await runCloudctl(host, ['droplets', 'create', 'a', ...like, '--max-wait', '1h']);
    expect(refused.code).toBe(5);
    expectGolden('droplets', messages(ran.err + refused.err));
  });

  it('comes with what the server said of the limit that stopped it', async () => {
    const { origin } = await forgetful((seen, response) => {
      if (!seen.body.includes('"b"')) return reply(response, 202, { droplet: { id: 7, name: 'a' } });
      reply(response, 422, { id: 'droplet_limit', message: 'this exceeds your limit of 1' });
    });
    const words = ['droplets', 'create', 'a', 'b', ...like, '--batch-size', '1', '--concurrency', '1', '-o', 'json'];
    const ran = await runCloudctl(tokenTo(origin), words);
    expect(ran.code).toBe(5);
    expect(ran.error()).toMatchObject({ detail: expect.stringContaining('this exceeds your limit of 1') });
  });

  it('is 6 when nobody could be reached', async () => {
    const ran = await runCloudctl(tokenTo(await closedOrigin()), ['droplets', 'create', 'a', ...like, '-o', 'json']);
    expect(ran.code).toBe(6);
    expect(ran.json<Row[]>()).toMatchObject([{ status: 'failed' }]);
  });

  it('is 0 although a sibling renewed the session in the middle: no droplet twice', async () => {
    const { host, sandbox, grant } = await loggedIn();
    await admin(sandbox, 'POST', '/_sandbox/tokens/expire', { token: grant.access_token });
    const words = ['n-{1..20}', ...like, '--batch-size', '2', '-o', 'json'];
    expect((await runCloudctl(host, ['droplets', 'create', ...words])).code).toBe(0);
    const list = (await runCloudctl(host, ['droplets', 'list', 'n-*', '-o', 'json'])).json<Row[]>();
    expect(list).toHaveLength(20);
    expect((await recordedRequests(sandbox)).filter((line) => line === 'POST /v1/oauth/token')).toHaveLength(1);
  });
});

describe('names that are taken', () => {
  async function taken(...words: string[]) {
    const { host } = await loggedIn();
    const first = await runCloudctl(host, ['droplets', 'create', 'a', 'b', ...like, '-o', 'json']);
    const ran = await runCloudctl(host, ['droplets', 'create', 'a', 'b', 'c', ...like, '-o', 'json', ...words]);
    const all = (await runCloudctl(host, ['droplets', 'list', '?', '-o', 'json'])).json<Row[]>();
    return { ran, ids: first.json<Row[]>().map(({ id }) => id), names: all.map(({ name }) => name).sort(), host };
  }

  it('stop the batch before anything is sent, and leave no ledger', async () => {
    const { ran, names, host } = await taken();
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.error()).toMatchObject({ code: 'usage' });
    expectGolden('droplets', `${ran.error().message}\n${ran.error().hint}`);
    expect(names).toEqual(['a', 'b']);
    expect(ran.err).not.toContain('ledger:');
    expect(readdirSync(join(host.folders.state, 'batches')).filter((name) => name.includes('lock'))).toHaveLength(1);
  });

  it('are left out with --if-exists skip', async () => {
    const { ran, ids, names } = await taken('--if-exists', 'skip');
    expect(ran.code).toBe(0);
    expect(ran.json<Row[]>()).toMatchObject([
      { name: 'a', status: 'skipped', id: ids[0] },
      { name: 'b', status: 'skipped', id: ids[1] },
      { name: 'c', status: 'created' },
    ]);
    expect(names).toEqual(['a', 'b', 'c']);
  });

  it('are named with what differs when --if-exists skip leaves them out', async () => {
    const { host } = await loggedIn();
    await runCloudctl(host, ['droplets', 'create', 'a', 'b', ...like]);
    const larger = ['--size', 's-2vcpu-4gb', '--image', 'ubuntu-24-04-x64', '--if-exists', 'skip'];
    const rows = (await runCloudctl(host, ['droplets', 'create', 'a', 'b', ...larger, '-o', 'json'])).json<Row[]>();
    expect(rows.map((row) => 'difference' in row)).toEqual([true, true]);
    const { err } = await runCloudctl(host, ['droplets', 'create', 'a', 'b', ...larger, '-o', 'csv']);
    expectGolden('droplets', messages(err).replaceAll(/\(\d+\)/g, '(ID)'));
  });

  it('are used once more with --if-exists create', async () => {
    const { ran, names } = await taken('--if-exists', 'create');
    expect(ran.code).toBe(0);
    expect(names).toEqual(['a', 'a', 'b', 'b', 'c']);
  });
});

describe('--resume', () => {
  /** Three names, of which the server took the first alone. */
  async function begun(accountUuid?: string) {
    const { host, sandbox } = await loggedIn();
    if (accountUuid !== undefined) await seedSession(host, sandbox, { record: { accountUuid } });
    sandbox.faults.add({ match: { method: 'POST', path: '/v2/droplets' }, action: 'status', status: 403, nth: 2 });
    const words = ['a', 'b', 'c', ...like, '--batch-size', '1', '--concurrency', '1', '-o', 'json'];
    const ran = await runCloudctl(host, ['droplets', 'create', ...words]);
    expect(ran.code).toBe(5);
    return { host, sandbox, ledger: ledgerOf(ran) };
  }

  it('sends what is missing, with the recorded attributes, and gives a row for every name', async () => {
    const { host, sandbox, ledger } = await begun();
    const ran = await runCloudctl(host, ['droplets', 'create', '--resume', ledger, '-o', 'json']);
    expect(ran.code).toBe(0);
    expect(ran.json<Row[]>().map(({ name, status }) => `${name} ${status}`)).toEqual([
      'a created',
      'b created',
      'c created',
    ]);
    const list = (await runCloudctl(host, ['droplets', 'list', '?', '-o', 'json'])).json<
      (Row & { size_slug: string })[]
    >();
    expect(list.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
    expect(list.every(({ size_slug }) => size_slug === like[1])).toBe(true);
    expect((await recordedRequests(sandbox)).filter((line) => line === 'POST /v2/droplets')).toHaveLength(3);
  });

  it('of a finished batch says so, reads its droplets, creates nothing and is exit 0', async () => {
    const { host, sandbox, ledger } = await begun();
    await runCloudctl(host, ['droplets', 'create', '--resume', ledger]);
    const before = await recordedRequests(sandbox);
    const ran = await runCloudctl(host, ['droplets', 'create', '--resume', ledger, '-o', 'ndjson']);
    expect(ran.code).toBe(0);
    expectGolden('droplets', messages(ran.err));
    expect(ran.out.trim().split('\n')).toHaveLength(3);
    expect((await recordedRequests(sandbox)).slice(before.length)).toEqual(['GET /v2/account', 'GET /v2/droplets']);
  });

  it.each([
    [['--size', 's-2vcpu-2gb']],
    [['--image', 'debian-12-x64', '--region', 'ams3']],
    [['a', 'c', 'b']],
    [['--set', 'ipv6=true']],
    [['--if-exists', 'create']],
    [['--batch-id', 'x']],
    [['--base-url', 'https://api.example.com']],
    [['--profile', 'other']],
  ])('with %j is refused', async (words) => {
    const { host, ledger } = await begun();
    const { raw } = host.readConfig();
    const profiles = { default: {}, ...(typeof raw.profiles === 'object' ? raw.profiles : {}) };
    host.writeConfig({ ...raw, profiles: { ...profiles, other: profiles.default } });
    const ran = await runCloudctl(host, ['droplets', 'create', '--resume', ledger, ...words]);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expectGolden('droplets', messages(ran.err));
  });

  it('of a sandbox that was started again says so, and its hint creates the droplets in the new one', async () => {
    const { host, ledger } = await begun();
    await seedSession(host, await sandboxFor());
    const config = host.readConfig();
    const ran = await runCloudctl(host, ['droplets', 'create', '--resume', ledger]);
    expect(ran).toMatchObject({ code: 2, out: '' });
    const said = [ran.err];
    for (const command of ['show', 'delete']) {
      const other = await runCloudctl(host, ['droplets', 'batches', command, ledger, '--yes']);
      expect(other).toMatchObject({ code: 2, out: '' });
      said.push(other.err);
      const [, offline = ''] = /`cloudctl (.+)`/.exec(other.err) ?? [];
      expect((await runCloudctl(host, offline.split(' '))).code).toBe(0);
    }
    const [, again = ''] = /`cloudctl (.+)`/.exec(ran.err) ?? [];
    expect((await runCloudctl(host, again.split(' '))).code).toBe(0);
    expect(host.readConfig()).toEqual(config);
    expectGolden('droplets', messages(said.join('')));
  });

  it('quotes the profile of the ledger for a shell, because another person may have written it', async () => {
    const { host, ledger } = await begun();
    writeFileSync(ledger, readFileSync(ledger, 'utf8').replace('"profile":"default"', '"profile":"x; reboot"'));
    const ran = await runCloudctl(host, ['droplets', 'create', '--resume', ledger]);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expectGolden('droplets', messages(ran.err));
  });

  it('with the same words again is taken', async () => {
    const { host, ledger } = await begun();
    const words = ['--names', 'a,b,c', ...like, '--if-exists', 'fail'];
    expect((await runCloudctl(host, ['droplets', 'create', '--resume', ledger, ...words])).code).toBe(0);
  });

  it('of a batch that another account began is refused', async () => {
    const { host, sandbox, ledger } = await begun('a');
    expect(JSON.parse(readFileSync(ledger, 'utf8').split('\n')[0] ?? '')).toMatchObject({ account: 'a' });
    await seedSession(host, sandbox, { record: { accountUuid: 'b' } });
    const ran = await runCloudctl(host, ['droplets', 'create', '--resume', ledger]);
    expect(ran).toMatchObject({ code: 4, out: '' });
    expectGolden('droplets', messages(ran.err));
    await seedSession(host, sandbox, { record: { accountUuid: 'a' } });
    expect((await runCloudctl(host, ['droplets', 'create', '--resume', ledger])).code).toBe(0);
  });

  it('of a ledger that is not there is refused', async () => {
    const { host } = await loggedIn();
    const ran = await runCloudctl(host, ['droplets', 'create', '--resume', join(host.place.work, 'no.jsonl')]);
    expect(ran.code).toBe(2);
    expectGolden('droplets', messages(ran.err.replaceAll(host.place.work, 'FOLDER')));
  });

  it('of a batch that another process works on is busy', async () => {
    const { host, ledger } = await begun();
    const held = tryAcquire(`${ledger}.lock`);
    const ran = await runCloudctl(host, ['droplets', 'create', '--resume', ledger, '-o', 'json']);
    held?.release();
    expect(ran.code).toBe(1);
    expect(ran.error()).toMatchObject({ code: 'busy' });
  });

  it('of a damaged ledger names the line, and changes nothing', async () => {
    const { host, ledger } = await begun();
    const lines = readFileSync(ledger, 'utf8').split('\n');
    const damaged = [...lines.slice(0, 2), '{"event":"send', ...lines.slice(3)].join('\n');
    writeFileSync(ledger, damaged);
    const ran = await runCloudctl(host, ['droplets', 'create', '--resume', ledger]);
    expect(ran.code).toBe(2);
    expect(ran.err).toContain(`${ledger}:3`);
    expect(readFileSync(ledger, 'utf8')).toBe(damaged);
  });
});

describe('what is told meanwhile', () => {
  it('is the path of the ledger first', async () => {
    const { host } = await loggedIn();
    const ran = await runCloudctl(host, ['droplets', 'create', 'a', 'b', ...like, '--quiet']);
    expect(ran.err).toBe(`ledger: ${ledgerOf(ran)}\n`);
  });

  it('is a line for every tenth without a terminal', async () => {
    const { host } = await loggedIn();
    const words = ['n-{1..40}', ...like, '--batch-size', '1', '--concurrency', '1'];
    const ran = await runCloudctl(host, ['droplets', 'create', ...words]);
    expect(ran.err.match(/^\d+\/40 created/gm)).toEqual(
      [4, 8, 12, 16, 20, 24, 28, 32, 36, 40].map((n) => `${n}/40 created`),
    );
  });

  it('is a bar on a terminal', async () => {
    const { host } = await loggedIn();
    const words = ['n-{1..40}', ...like, '--batch-size', '1', '--concurrency', '1'];
    const ran = await runCloudctl(host, ['droplets', 'create', ...words], { terminal: 100 });
    expect(ran.err).toMatch(/░ \d+\/40 created/);
    expect(ran.err).not.toMatch(/^\d+\/40/m);
  });

  it('goes through --query row by row with ndjson, and as a whole when the query wants the whole', async () => {
    const { host } = await loggedIn();
    const words = ['n-{1..3}', ...like, '--batch-size', '1', '--if-exists', 'create', '-o', 'ndjson'];
    const names = await runCloudctl(host, ['droplets', 'create', ...words, '--query', "[?status=='created'].name"]);
    expect(names.out.trim().split('\n').sort()).toEqual(['"n-1"', '"n-2"', '"n-3"']);
    const count = await runCloudctl(host, ['droplets', 'create', ...words, '--query', 'length(@)']);
    expect(count.out).toBe('3\n');
  });
});

describe('a ledger that is deleted during the run', () => {
  it('stops the batch, and the rows say what was created', async () => {
    let batches = '';
    const { origin, seen } = await forgetful((_, response, count) => {
      const ledgers = readdirSync(batches).filter((name) => name.endsWith('.jsonl'));
      if (count === 1) for (const ledger of ledgers) unlinkSync(join(batches, ledger));
      reply(response, 202, { droplet: { id: count, name: count === 1 ? 'a' : 'b' } });
    });
    const words = ['a', 'b', ...like, '--batch-size', '1', '--concurrency', '1', '-o', 'ndjson'];
    const host = tokenTo(origin);
    batches = join(host.folders.state, 'batches');
    const ran = await runCloudctl(host, ['droplets', 'create', ...words]);
    expect(ran.code).toBe(5);
    expect(
      ran.out
        .trim()
        .split('\n')
        .map((row) => JSON.parse(row).status),
    ).toEqual(['created', 'failed']);
    expect(seen.filter(({ method }) => method === 'POST')).toHaveLength(1);
    expect(ran.error().code).toBe('batch_partial');
  });
});

describe('with -o json', () => {
  it('stderr has one error object, whatever was waited for', async () => {
    const { origin } = await forgetful((seen, response, count) => {
      if (count === 1) return reply(response, 429, {}, { 'retry-after': '5' });
      if (seen.body.includes('"b"')) return reply(response, 422, { message: 'no' });
      reply(response, 202, { droplet: { id: 1, name: 'a' } });
    });
    const words = ['a', 'b', ...like, '--batch-size', '1', '--concurrency', '1', '-o', 'json'];
    const ran = await runCloudctl(tokenTo(origin), ['droplets', 'create', ...words]);
    expect(ran.code).toBe(5);
    expect(JSON.parse(ran.err)).toMatchObject({ error: { code: 'batch_partial' } });
    const [first, second] = ran.json<(Row & { ledger: string })[]>();
    expect(existsSync(first?.ledger ?? '')).toBe(true);
    expect(second?.ledger).toBe(first?.ledger);
  });

  it('stderr has no warning about the session', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    await seedSession(host, sandbox, {
      context: 'team',
      scope: 'read',
      record: { expiresAt: 1, scope: 'read write' },
    });
    const ran = await runCloudctl(host, ['droplets', 'create', 'a', ...like, '-o', 'json']);
    expect(ran.code).toBe(4);
    expect(JSON.parse(ran.err)).toMatchObject({ error: { code: 'scope_too_small' } });
  });
});

describe('--batch-id with --ledger', () => {
  it('tags every droplet beside the tags that were given, and a new ledger waits for no other machine', async () => {
    const { host } = await loggedIn();
    const ledger = join(host.place.work, 'l.jsonl');
    const words = [
      'a',
      ...like,
      '--batch-id',
      'release/v1.2',
      '--ledger',
      ledger,
      '--set',
      'tags=["web"]',
      '-o',
      'json',
    ];
    const ran = await runCloudctl(host, ['droplets', 'create', ...words]);
    expect(ran).toMatchObject({ code: 0, err: '' });
    const [droplet] = (await runCloudctl(host, ['droplets', 'list', 'a', '-o', 'json'])).json<{ tags: string[] }[]>();
    const own = 'cloudctl:release_2fv1_2e2';
    expect(droplet?.tags).toEqual(['web', own, expect.stringMatching(new RegExp(`^${own}:[0-9a-f]{12}$`))]);
    expect((await runCloudctl(host, ['droplets', 'create', ...words])).code).toBe(0);
  });
});

describe('--wait', () => {
  it('lasts until every droplet is active, with one list an interval', async () => {
    const { host, sandbox } = await loggedIn();
    const words = ['n-{1..30}', ...like, '--wait', '-o', 'ndjson'];
    const started = startCloudctl({ ...host, clock: fastClock() }, ['droplets', 'create', ...words]);
    await started.waitForOutput(/0 of 30 droplets active/);
    // Their addresses are not known yet, so their rows are not printed.
    expect(started.host.out()).toBe('');
    await admin(sandbox, 'POST', '/_sandbox/clock', { advance: '10s' });
    const ran = await started.ended;
    expect(ran.code).toBe(0);
    const rows = ran.out
      .trim()
      .split('\n')
      .map((row) => JSON.parse(row));
    expect(rows).toHaveLength(30);
    for (const row of rows)
      expect(row).toMatchObject({ status: 'created', public_ipv4: expect.stringMatching(/^203\.0\.113\./) });
    const list = (await runCloudctl(host, ['droplets', 'list', 'n-*', '-o', 'json'])).json<Row[]>();
    expect(list.map(({ status }) => status)).toEqual(Array(30).fill('active'));
    expect((await recordedRequests(sandbox)).filter((line) => /GET \/v2\/droplets\/\d/.test(line))).toEqual([]);
  });
});

describe('--wait with --if-exists skip', () => {
  it('waits for the existing droplets, too, whose rows have their address', async () => {
    const { host, sandbox } = await loggedIn();
    await runCloudctl(host, ['droplets', 'create', 'a', ...like]);
    const words = [
      'a',
      'b',
      ...like,
      '--if-exists',
      'skip',
      '--wait',
      '-o',
      'csv',
      '--format',
      'Name,Status,PublicIPv4',
    ];
    const started = startCloudctl({ ...host, clock: fastClock() }, ['droplets', 'create', ...words]);
    await started.waitForOutput(/0 of 2 droplets active/);
    await admin(sandbox, 'POST', '/_sandbox/clock', { advance: '10s' });
    const { out } = await started.ended;
    expect(out).toMatch(/^a,skipped,203\.0\.113\.\d+$/m);
    expect(out).toMatch(/^b,created,203\.0\.113\.\d+$/m);
    // It is active already.
    const again = await runCloudctl({ ...host, clock: fastClock() }, [
      ...['droplets', 'create', 'a', ...like, '--if-exists', 'skip', '--wait', '-o', 'json'],
    ]);
    expect(again.json()).toMatchObject([{ name: 'a', status: 'skipped', public_ipv4: expect.any(String) }]);
  });
});

describe('--wait ends', () => {
  it('with 5 when a droplet was deleted', async () => {
    const { host, sandbox } = await loggedIn();
    const words = ['a', 'b', ...like, '--wait', '-o', 'ndjson'];
    const started = startCloudctl({ ...host, clock: fastClock() }, ['droplets', 'create', ...words]);
    await started.waitForOutput(/0 of 2 droplets active/);
    const [droplet] = (await runCloudctl(host, ['droplets', 'list', 'a', '-o', 'json'])).json<Row[]>();
    await runCloudctl(host, ['api', 'DELETE', `/v2/droplets/${droplet?.id}`]);
    await admin(sandbox, 'POST', '/_sandbox/clock', { advance: '10s' });
    const ran = await started.ended;
    expect(ran.code).toBe(5);
    const rows = ran.out
      .trim()
      .split('\n')
      .map((row): Row => JSON.parse(row));
    expect(rows.find(({ name }) => name === 'a')).toMatchObject({ status: 'failed', id: droplet?.id });
    expect(rows.find(({ name }) => name === 'b')).toMatchObject({ status: 'created' });
    expect(ran.error()).toMatchObject({ code: 'batch_partial', exit_code: 5 });
    expectGolden(
      'droplets',
      messages(ran.err)
        .replaceAll(String(droplet?.id), 'ID')
        .replace(/^\d of .*\n/gm, ''),
    );
  });

  it('with 5 after --wait-timeout', async () => {
    const { host } = await loggedIn();
    const words = ['a', ...like, '--wait', '--wait-timeout', '20s', '-o', 'json'];
    const ran = await runCloudctl({ ...host, clock: fastClock() }, ['droplets', 'create', ...words]);
    expect(ran.code).toBe(5);
    expect(ran.json<Row[]>()).toMatchObject([{ name: 'a', status: 'created' }]);
    expect(ran.error()).toMatchObject({ code: 'timeout' });
    expectGolden('droplets', `${ran.error().message}\n${ran.error().hint?.replaceAll(/\S+\.jsonl/g, 'LEDGER')}`);
  });

  it.each([
    ['--max-wait', 'long'],
    ['--wait-timeout', '5m'],
    ['--wait', '--wait-timeout', 'soon'],
  ])('but not with %j %j %j', async (...words) => {
    const sandbox = await sandboxFor();
    const given = words.filter((word) => word !== undefined);
    expect((await runCloudctl(testHost(), ['droplets', 'create', 'a', ...like, ...given])).code).toBe(2);
    expect(await recordedRequests(sandbox)).toEqual([]);
  });
});

describe('an interruption', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('by %s ends with %i after the answers of the requests in flight', async (signal, code) => {
    const { host, sandbox } = await loggedIn();
    sandbox.faults.add({ match: { method: 'POST' }, action: 'delay', delay: 300 });
    const words = ['n-{1..30}', ...like, '--concurrency', '1', '-o', 'json'];
    const started = startCloudctl(host, ['droplets', 'create', ...words]);
    await vi.waitFor(() => expect(sandbox.faults.list()[0]?.applied).toBe(1), 15_000);
    expect(started.host.signal(signal)).toBe(1);
    const ran = await started.ended;
    expect(ran.code).toBe(code);
    expect(ran.json<Row[]>().filter(({ status }) => status === 'created')).toHaveLength(10);
    expect(ran.json<Row[]>().filter(({ error }) => error === 'not sent: interrupted')).toHaveLength(20);
    const resume = `cloudctl droplets create --resume ${ledgerOf(ran)} --concurrency 1`;
    expect(ran.error()).toMatchObject({ code: 'cancelled' });
    expect(commandIn(ran.error().hint)).toBe(resume);
    const resumed = await runCloudctl(host, ['droplets', 'create', '--resume', ledgerOf(ran)]);
    expect(resumed.code).toBe(0);
    expect((await runCloudctl(host, ['droplets', 'list', 'n-*', '-o', 'json'])).json<Row[]>()).toHaveLength(30);
  });

  it('tells in rows that were streamed, too, why the rest was not sent', async () => {
    const { host, sandbox } = await loggedIn();
    sandbox.faults.add({ match: { method: 'POST' }, action: 'delay', delay: 300 });
    const started = startCloudctl(host, [
      'droplets',
      'create',
      'n-{1..30}',
      ...like,
      '--concurrency',
      '1',
      '-o',
      'ndjson',
    ]);
    await vi.waitFor(() => expect(sandbox.faults.list()[0]?.applied).toBe(1), 15_000);
    started.host.signal('SIGINT');
    const rows = (await started.ended).out
      .trim()
      .split('\n')
      .map((line): Row => JSON.parse(line));
    expect(rows.map(({ name }) => name)).toEqual(Array.from({ length: 30 }, (_, at) => `n-${at + 1}`));
    expect(rows.filter(({ status }) => status === 'created')).toHaveLength(10);
    expect(rows.filter(({ error }) => error === 'not sent: interrupted')).toHaveLength(20);
  });

  it('while it is looked which names are taken waits for no answer', async () => {
    const { host, sandbox } = await loggedIn();
    await seedSession(host, sandbox, { context: 'personal' });
    // Longer than a test may take: whoever waits for it never ends.
    sandbox.faults.add({ match: { method: 'GET' }, action: 'delay', delay: 60_000 });
    const started = startCloudctl(host, ['droplets', 'create', 'n-{1..30}', ...like, '-o', 'json', '--timeout', '2m']);
    await vi.waitFor(() => expect(sandbox.faults.list()[0]?.applied).toBe(1), 15_000);
    started.host.signal('SIGINT');
    const ran = await started.ended;
    expect(ran.code).toBe(130);
    expect(ran.json<Row[]>().every(({ error }) => error === 'not sent: interrupted')).toBe(true);
  });
});

describe('a wait that does not end', () => {
  const waiting = async () => {
    const { host, sandbox } = await loggedIn();
    await admin(sandbox, 'POST', '/_sandbox/clock', { freeze: true });
    const started = startCloudctl(host, ['droplets', 'create', 'a', 'b', ...like, '--wait', '-o', 'ndjson']);
    await started.waitForOutput(/0 of 2 droplets active/);
    return { sandbox, started };
  };

  it('because it was interrupted says how to wait on', async () => {
    const { started } = await waiting();
    started.host.signal('SIGINT');
    const ran = await started.ended;
    expect(ran.code).toBe(130);
    expect(ran.error()).toMatchObject({ hint: expect.stringMatching(/--resume \S+ --wait`$/) });
  });

  it('because the server refuses says that all was created, and how to wait on', async () => {
    const { sandbox, started } = await waiting();
    sandbox.faults.add({ match: { method: 'GET' }, action: 'status', status: 403 });
    const ran = await started.ended;
    expect(ran.code).toBe(4);
    expect(ran.error()).toMatchObject({ code: 'scope_too_small', exit_code: 4, status: 403 });
    expect(ran.error().hint).toMatch(/`cloudctl droplets create --resume \S+ --wait`$/);
    expectGolden('droplets', messages(ran.err).replace(/^\d of 2 droplets active\n/gm, ''));
  });
});

describe('wrong words', () => {
  it.each([
    [[...like]],
    [['a']],
    [['a', '--size', 's']],
    [['a', 'b', 'a', ...like]],
    [['-a-', 'a b', ...like]],
    [['a_b', 'c_d', ...like]],
    [['a', '--names', 'b,,c', ...like]],
    [['a', '--batch-size', '11', ...like]],
    [['a', '--concurrency', '0', ...like]],
    [['a', '--set', 'x', ...like]],
    [['a', '--set', 'x=y', ...like]],
    [['a', '--set', 'name="b"', ...like]],
    [['a', '--set', 'size="b"', ...like]],
    [['--names-from', '/no/such/file', ...like]],
    [['--names-from', '/dev/null', ...like]],
    [['--names-from', '', ...like]],
    [['a', '--region', '', ...like]],
    [['--resume', '']],
  ])('%j are refused before any request', async (words) => {
    const { host, sandbox } = await loggedIn();
    const ran = await runCloudctl(host, ['droplets', 'create', ...words]);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expectGolden('droplets', messages(ran.err));
    expect(await recordedRequests(sandbox)).toEqual([]);
  });

  it('standard input without names is named, for what was to give them may have failed', async () => {
    const { host } = await loggedIn();
    const ran = await runCloudctl(host, ['droplets', 'create', ...like, '--names-from', '-'], { stdin: '' });
    expect(ran).toMatchObject({ code: 2, out: '' });
    expectGolden('droplets', messages(ran.err));
  });

  it('a blank line of a file is named', async () => {
    const { host } = await loggedIn();
    const ran = await runCloudctl(host, ['droplets', 'create', ...like, '--names-from', '-'], { stdin: 'a\n\nb\n' });
    expect(ran.code).toBe(2);
    expectGolden('droplets', messages(ran.err));
  });
});

describe('a server that stores other attributes than it received', () => {
  it.each(['a', 'a,b'])(
    'is never sent the names %s twice: their status is unknown, with id and difference',
    async (names) => {
      const { host, sandbox } = await loggedIn();
      const fast = { ...host, clock: fastClock() };
      sandbox.faults.add({ match: { method: 'POST', path: '/v2/droplets' }, action: 'commit_then_drop', nth: 1 });
      const words = ['droplets', 'create', '--names', names, ...like, '--region', 'nyc', '-o', 'json'];
      const ran = await runCloudctl(fast, words);
      const rows = ran.json<Row[]>();
      expect(rows.map(({ status }) => status)).toEqual(names.split(',').map(() => 'unknown'));
      for (const { error } of rows) expect(error).toMatch(/\d+, region nyc3 instead of nyc/);
      const resumed = await runCloudctl(fast, ['droplets', 'create', '--resume', ledgerOf(ran), '-o', 'json']);
      expect(resumed.json<Row[]>().every(({ status }) => status === 'unknown')).toBe(true);
      const list = await runCloudctl(host, ['droplets', 'list', '?', '-o', 'json']);
      expect(
        list
          .json<Row[]>()
          .map(({ name }) => name)
          .toSorted(),
      ).toEqual(names.split(','));
    },
  );
});
