import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { FaultSpec } from '../../../src/sandbox/faults/fault.ts';
import { fastClock } from '../../droplets/batch-fixtures.ts';
import { reply, serverFor } from '../../fixtures/fake-server.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { testHost } from '../../fixtures/host.ts';
import { seedSession } from '../../fixtures/session.ts';
import { MAYA, sandboxFor, userOf } from '../../sandbox/requests.ts';
import { recordedRequests, runCloudctl, startCloudctl } from '../run-cloudctl.ts';

interface Row {
  readonly id: number;
  readonly name: string;
  readonly status: string;
  readonly error?: string;
  readonly already_gone?: true;
}

const spec = { region: 'nyc3', size: 's-1vcpu-1gb', image: 155_133_621, tags: [], features: [] };

/** A machine that is logged in to a sandbox with droplets of these names, and only these. */
async function accountWith(
  names: readonly string[],
  { scope = 'read write', tags = {} as Record<string, string[]> } = {},
) {
  const [host, sandbox] = [testHost(), await sandboxFor()];
  await seedSession(host, sandbox, { scope });
  const account = userOf(sandbox, MAYA).uuid;
  for (const droplet of [...sandbox.world.droplets.of(account)]) sandbox.world.droplets.delete(droplet);
  for (const name of names) sandbox.world.droplets.create(account, [name], { ...spec, tags: tags[name] ?? [] });
  const ids = new Map(sandbox.world.droplets.of(account).map(({ id, name }) => [name, id]));
  return {
    host,
    sandbox,
    account,
    id: (name: string): string => String(ids.get(name)),
    left: () => sandbox.world.droplets.of(account).map(({ name }) => name),
    run: (...words: string[]) => runCloudctl(host, ['droplets', 'delete', ...words]),
    fault: (action: FaultSpec['action'], more: Partial<FaultSpec> = {}) =>
      sandbox.faults.add({ match: { method: 'DELETE', path: '/v2/droplets/*' }, action, ...more }),
    deletions: async () => (await recordedRequests(sandbox)).filter((line) => line.startsWith('DELETE')),
  };
}

/** Ids and times differ from run to run. */
function stable(text: string): string {
  return text.replaceAll(/\b\d{7,}\b/g, 'ID-NUMBER').replaceAll(/\d{4}-\d\d-\d\dT[\d:]+Z/g, 'TIME');
}

describe('droplets delete', () => {
  it('deletes by id, name and pattern, each droplet once, and no other', async () => {
    const { run, id, left, deletions } = await accountWith(['a', 'b', 'ci-1', 'ci-2', 'ci', 'keep']);
    const ran = await run('a', id('b'), 'ci-*', 'ci-1', 'a', '--yes', '-o', 'json');
    expect(ran).toMatchObject({ code: 0, err: '' });
    expect(ran.json<Row[]>().map(({ name, status }) => `${name} ${status}`)).toEqual([
      ...['a deleted', 'b deleted', 'ci-1 deleted', 'ci-2 deleted'],
    ]);
    expect(left()).toEqual(['ci', 'keep']);
    expect((await deletions()).sort()).toEqual(
      ['a', 'b', 'ci-1', 'ci-2'].map((name) => `DELETE /v2/droplets/${id(name)}`),
    );
  });

  it('deletes by tag, whatever its case, and never by a filter of the server', async () => {
    const { run, left, id, deletions } = await accountWith(['a', 'b', 'c'], { tags: { a: ['ci'], b: ['ci', 'x'] } });
    expect((await run('--tag', 'ci', '--yes')).code).toBe(0);
    expect(left()).toEqual(['c']);
    expect((await deletions()).sort()).toEqual([id('a'), id('b')].map((one) => `DELETE /v2/droplets/${one}`));
  });

  it('shows what it deletes', async () => {
    const { run } = await accountWith(['a', 'b']);
    const ran = await run('a', 'b', '--yes', '--concurrency', '1');
    expect(ran.code).toBe(0);
    expectGolden('droplets', stable(`${ran.out}---\n${ran.err}`));
  });

  it.each([
    ['json', (out: string) => JSON.parse(out)],
    ['ndjson', (out: string) => JSON.parse(`[${out.trim().replaceAll('\n', ',')}]`)],
    ['yaml', parse],
  ])('prints a row for each deleted droplet as %s', async (format, decode) => {
    const { run, id } = await accountWith(['a', 'b']);
    const ran = await run('a', 'b', '--yes', '--concurrency', '1', '-o', format);
    expect(ran.code).toBe(0);
    const row = { region: 'nyc3', created_at: expect.any(String), status: 'deleted' };
    expect(decode(ran.out)).toEqual(['a', 'b'].map((name) => ({ ...row, id: Number(id(name)), name })));
  });

  it('prints a row for each deleted droplet as csv', async () => {
    const { run, id } = await accountWith(['a', 'b']);
    const ran = await run('a', 'b', '--yes', '--concurrency', '1', '-o', 'csv');
    expect(ran).toMatchObject({
      code: 0,
      out: `ID,Name,Status,Error\n${id('a')},a,deleted,\n${id('b')},b,deleted,\n`,
    });
    expect(ran.err).toContain(id('b'));
  });

  it('shows with --dry-run what would be deleted', async () => {
    const { run, left, deletions } = await accountWith(['a', 'b']);
    const ran = await run('*', '--dry-run', '--format', 'Name,Region', '-o', 'csv');
    expect(ran).toMatchObject({ code: 0, out: 'Name,Region\na,nyc3\nb,nyc3\n', err: '' });
    expect(left()).toEqual(['a', 'b']);
    expect(await deletions()).toEqual([]);
  });

  it.each([
    ['n', ['a', 'b'], 130],
    ['y', ['b'], 0],
  ])('asks on a terminal, also with JSON: %s', async (answer, left, code) => {
    const setup = await accountWith(['a', 'b']);
    const started = startCloudctl(setup.host, ['droplets', 'delete', 'a', '-o', 'json'], { terminal: 80 });
    await new Promise((resolve) => started.host.screen.once('data', resolve));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(started.host.err()).toContain(setup.id('a'));
    started.host.stdin.emit('data', `${answer}\r`);
    expect((await started.ended).code).toBe(code);
    expect(setup.left()).toEqual(left);
  });

  it('without a terminal needs --yes, before any request', async () => {
    const { run, sandbox } = await accountWith(['a']);
    const ran = await run('a');
    expect(ran).toMatchObject({ code: 2, out: '' });
    expectGolden('droplets', ran.err);
    expect(await recordedRequests(sandbox)).toEqual([]);
  });

  it.each([
    ['nothing', []],
    ['an empty word', ['a', '']],
    ['an empty tag', ['--tag', '']],
    ['two tags', ['--tag', 'a', '--tag', 'b']],
    ['a tag and a name', ['a', '--tag', 'a']],
    ['a pattern that is none', ['[z-a]']],
    ['an unknown column', ['a', '--format', 'Nonsense']],
  ])('refuses %s before any request', async (_what, words) => {
    const { run, sandbox } = await accountWith(['a']);
    const ran = await run(...words, '--yes');
    expect(ran).toMatchObject({ code: 2, out: '' });
    expectGolden('droplets', ran.err);
    expect(await recordedRequests(sandbox)).toEqual([]);
  });

  it.each([
    ['one name', ['a', 'nope']],
    ['one id', ['a', '7']],
    ['several names, next to a pattern', ['a', 'nope', 'none', 'b*']],
  ])('deletes nothing when no droplet has %s', async (_what, words) => {
    const { host, run, left } = await accountWith(['a', 'b']);
    const ran = await run(...words, '--yes');
    expect(ran).toMatchObject({ code: 1, out: '' });
    expectGolden('droplets', ran.err);
    expect(left()).toEqual(['a', 'b']);
    expect((await run(...words, '--yes', '-o', 'json')).error()).toMatchObject({ code: 'not_found', exit_code: 1 });
    for (const word of words.filter((one) => /^(nope|none|7)$/.test(one)))
      expect((await runCloudctl(host, ['droplets', 'get', word, '-o', 'json'])).error()).toMatchObject({
        code: 'not_found',
        exit_code: 1,
      });
    expect((await run(...words, '--yes', '--if-missing', 'skip')).code).toBe(0);
    expect(left()).not.toContain('a');
  });

  it('deletes nothing when a name or a number is ambiguous', async () => {
    const setup = await accountWith(['a', 'same', 'same']);
    setup.sandbox.world.droplets.create(setup.account, [setup.id('a')], spec);
    for (const word of ['same', setup.id('a')]) {
      const ran = await setup.run('a', word, '--yes');
      expect(ran).toMatchObject({ code: 2, out: '' });
      expectGolden('droplets', stable(ran.err), word === 'same' ? word : 'number');
    }
    expect(setup.left()).toHaveLength(4);
  });

  it('takes a number for a name when no droplet has this id', async () => {
    const { run, left } = await accountWith(['7', '007', 'a']);
    expect((await run('7', '007', '--yes')).code).toBe(0);
    expect(left()).toEqual(['a']);
  });

  it.each([
    ['patterns', ['ci-*', 'x?']],
    ['a tag', ['--tag', 'ci']],
  ])('with %s that no droplet has is exit 0', async (_what, words) => {
    const { run, left } = await accountWith(['a']);
    const ran = await run(...words, '--yes');
    expect(ran).toMatchObject({ code: 0 });
    expectGolden('droplets', ran.err);
    expect((await run(...words, '--yes', '-o', 'json')).out).toBe('[]\n');
    expect(left()).toEqual(['a']);
  });

  it('says when a droplet was already gone', async () => {
    const { run, sandbox, account, id } = await accountWith(['a', 'b']);
    sandbox.faults.add({ match: { method: 'DELETE', path: '/v2/droplets/*' }, action: 'delay', delay: 300 });
    const running = run(id('a'), 'b', '--yes', '--concurrency', '1', '-o', 'json');
    await expect
      .poll(async () => (await recordedRequests(sandbox)).length + sandbox.faults.list().length)
      .toBeGreaterThan(0);
    for (;;) {
      if (sandbox.faults.list().some(({ applied }) => applied > 0)) break;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const other = sandbox.world.droplets.of(account).find(({ name }) => name === 'b');
    if (other !== undefined) sandbox.world.droplets.delete(other);
    const ran = await running;
    expect(ran.code).toBe(0);
    expect(ran.json<Row[]>().find(({ name }) => name === 'b')).toMatchObject({ status: 'deleted', already_gone: true });
  });

  it('stops at a 403, with exit 4', async () => {
    const { run, left, deletions } = await accountWith(['a', 'b', 'c'], { scope: 'read' });
    const ran = await run('*', '--yes', '--concurrency', '1', '-o', 'json');
    expect(ran.code).toBe(4);
    expect(ran.error()).toMatchObject({ code: 'scope_too_small' });
    expect(ran.json<Row[]>().map(({ status }) => status)).toEqual(['failed', 'failed', 'failed']);
    expect(left()).toEqual(['a', 'b', 'c']);
    expect(await deletions()).toHaveLength(1);
  });

  it('is exit 5 when some could not be deleted, with the command for the rest', async () => {
    const { run, left, fault, id } = await accountWith(['a', 'b', 'c']);
    fault('status', { status: 422, nth: 2 });
    const ran = await run('*', '--yes', '--concurrency', '1');
    expect(ran.code).toBe(5);
    expect(left()).toEqual(['b']);
    expectGolden('droplets', stable(`${ran.out}---\n${ran.err}`));
    const [, again = ''] = /`cloudctl droplets delete ([^`]+)`/.exec(ran.err) ?? [];
    expect(again.split(' ')[0]).toBe(id('b'));
    expect((await run(...again.split(' '), '--yes')).code).toBe(0);
    expect(left()).toEqual([]);
  });

  it('is exit 1 when none could be deleted', async () => {
    const { run, fault, left } = await accountWith(['a', 'b']);
    fault('status', { status: 422, times: 2 });
    const ran = await run('*', '--yes', '-o', 'json');
    expect(ran.code).toBe(1);
    expect(ran.error()).toMatchObject({ code: 'api_error' });
    expect(left()).toEqual(['a', 'b']);
  });

  it('ends an interrupted run with what is left', async () => {
    const setup = await accountWith(['a', 'b', 'c']);
    setup.fault('delay', { delay: 400 });
    const started = startCloudctl(setup.host, ['droplets', 'delete', '*', '--yes', '--concurrency', '1']);
    for (;;) {
      if (setup.sandbox.faults.list().some(({ applied }) => applied > 0)) break;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    started.host.signal('SIGINT');
    const ran = await started.ended;
    expect(ran.code).toBe(130);
    expect(setup.left()).toEqual(['b', 'c']);
    expectGolden('droplets', stable(`${ran.out}---\n${ran.err}`));
  });

  it('does not delete what a server returns for another tag or another name', async () => {
    const droplets = [
      { id: 1, name: 'a', tags: ['ci'] },
      { id: 2, name: 'b', tags: [] },
      { id: 3, name: 'c' },
    ];
    const server = await serverFor((seen, response) =>
      seen.method === 'DELETE'
        ? response.writeHead(204).end()
        : reply(response, 200, { droplets, links: {}, meta: { total: 3 } }),
    );
    const host = testHost({ env: { CLOUDCTL_ACCESS_TOKEN: 'x', CLOUDCTL_BASE_URL: server.origin } });
    const byTag = await runCloudctl(host, ['droplets', 'delete', '--tag', 'CI', '--yes', '-o', 'json']);
    const byName = await runCloudctl(host, ['droplets', 'delete', 'b', '--yes', '-o', 'json']);
    expect([byTag, byName].flatMap((ran) => ran.json<Row[]>()).map(({ id }) => id)).toEqual([1, 2]);
  });

  /** A server with the droplets 1 and 2, and its response to deletions and to the list that proves a token. */
  const serverWith = (respond: (method: string, response: ServerResponse, count: number) => void) => {
    const droplets = [1, 2].map((id) => ({ id, name: `n-${id}` }));
    let count = 0;
    return serverFor((seen, response) => {
      if (seen.url.startsWith('/v2/droplets?')) reply(response, 200, { droplets, links: {}, meta: { total: 2 } });
      else respond(seen.method, response, ++count);
    });
  };
  const notFound = { id: 'not_found', message: 'not found' };

  it('does not take the 404 of a refused token for a deletion', async () => {
    const server = await serverWith((_method, response) => reply(response, 404, notFound));
    const host = testHost({ env: { CLOUDCTL_ACCESS_TOKEN: 'x', CLOUDCTL_BASE_URL: server.origin } });
    const ran = await runCloudctl(host, ['droplets', 'delete', 'n-*', '--yes', '-o', 'json', '--concurrency', '1']);
    expect(ran.code).toBe(4);
    expect(ran.error()).toMatchObject({ code: 'token_refused' });
    expect(ran.json<Row[]>().map(({ status }) => status)).toEqual(['failed', 'failed']);
  });

  it.each([429, 503])('repeats a deletion whose 404 could be that of a refused token, after a %d', async (status) => {
    let probes = 0;
    const server = await serverWith((method, response) => {
      if (method === 'DELETE') return reply(response, 404, notFound);
      probes += 1;
      if (probes <= 3) reply(response, status, {}, { 'retry-after': '1' });
      else reply(response, 404, notFound);
    });
    const clock = fastClock();
    const env = { CLOUDCTL_ACCESS_TOKEN: 'x', CLOUDCTL_BASE_URL: server.origin };
    const host = { ...testHost({ env }), clock };
    const ran = await runCloudctl(host, ['droplets', 'delete', 'n-1', '--yes', '-o', 'json']);
    expect(ran.code).toBe(status === 429 ? 4 : 5);
    expect(ran.json<Row[]>()[0]?.status).not.toBe('deleted');
  });

  it.each([
    ['the page of a proxy', '<html>not here</html>', 'text/html'],
    ['a path that the server does not have', { id: 'no_such_path', message: 'no' }, 'application/json'],
  ])('does not take the 404 of %s for a deletion', async (_what, body, type) => {
    const server = await serverWith((_method, response) => reply(response, 404, body, { 'content-type': type }));
    const host = testHost({ env: { CLOUDCTL_ACCESS_TOKEN: 'x', CLOUDCTL_BASE_URL: server.origin } });
    const ran = await runCloudctl(host, ['droplets', 'delete', 'n-*', '--yes', '-o', 'json']);
    expect(ran.code).toBe(1);
    expect(ran.json<Row[]>().map(({ status }) => status)).toEqual(['failed', 'failed']);
  });
});
