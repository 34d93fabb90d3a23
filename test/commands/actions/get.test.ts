import { describe, expect, it } from 'vitest';
import { fastClock } from '../../droplets/batch-fixtures.ts';
import { reply, serverFor } from '../../fixtures/fake-server.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { testHost } from '../../fixtures/host.ts';
import { seedSession } from '../../fixtures/session.ts';
import { admin, MAYA, sandboxFor, userOf } from '../../sandbox/requests.ts';
import { recordedRequests, runCloudctl, startCloudctl } from '../run-cloudctl.ts';

const spec = { region: 'nyc3', size: 's-1vcpu-1gb', image: 155_133_621, tags: [], features: [] };

async function withNewDroplet() {
  const [host, sandbox] = [{ ...testHost(), clock: fastClock() }, await sandboxFor()];
  await seedSession(host, sandbox);
  const [created] = sandbox.world.droplets.create(userOf(sandbox, MAYA).uuid, ['a'], spec);
  const id = String(created?.action.id);
  return { host, sandbox, id, run: (...words: string[]) => runCloudctl(host, ['actions', 'get', ...words]) };
}

/** A server whose action has these statuses, one after another; a number is the status of the response. */
async function serverWith(...statuses: readonly (string | number)[]) {
  let count = 0;
  const server = await serverFor(({ url }, response) => {
    if (!url.endsWith('/v2/actions/7')) return reply(response, 200, { actions: [] });
    const status = statuses[Math.min(count, statuses.length - 1)];
    count += 1;
    if (typeof status === 'string')
      return reply(response, 200, {
        action: { id: 7, type: 'create', status, resource_type: 'droplet', resource_id: 5 },
      });
    return reply(response, status ?? 500, { id: 'not_found', message: 'no' }, { 'retry-after': '60' });
  });
  const env = { CLOUDCTL_ACCESS_TOKEN: 'x', CLOUDCTL_BASE_URL: server.origin };
  const host = { ...testHost({ env }), clock: fastClock() };
  return { host, server, run: (...words: string[]) => runCloudctl(host, ['actions', 'get', '7', ...words]) };
}

describe('actions get', () => {
  it('shows the object of the API', async () => {
    const { run, id, sandbox } = await withNewDroplet();
    const ran = await run(id, '-o', 'json');
    expect(ran).toMatchObject({ code: 0, err: '' });
    expect(ran.json()).toMatchObject({ id: Number(id), status: 'in-progress', type: 'create' });
    expect((await run(id, '--format', 'ID,Status', '-o', 'csv')).out).toBe(`ID,Status\n${id},in-progress\n`);
    expect(await recordedRequests(sandbox)).toHaveLength(2);
  });

  it('waits with --wait until the action is completed', async () => {
    const { host, id, sandbox } = await withNewDroplet();
    const started = startCloudctl(host, ['actions', 'get', id, '--wait']);
    await started.waitForOutput(/in-progress/);
    await admin(sandbox, 'POST', '/_sandbox/clock', { advance: '10s' });
    const ran = await started.ended;
    expect(ran.code).toBe(0);
    expect(ran.out).toMatch(/^Status +completed$/m);
    expectGolden('actions', ran.err.replaceAll(id, 'ID'));
  });

  it('keeps stderr empty with JSON', async () => {
    const { run } = await serverWith('in-progress', 'in-progress', 'completed');
    const ran = await run('--wait', '-o', 'json');
    expect(ran).toMatchObject({ code: 0, err: '' });
    expect(ran.json()).toMatchObject({ id: 7, status: 'completed' });
  });

  it('is exit 1 for an action that ends with an error, and prints it', async () => {
    const { run } = await serverWith('in-progress', 'errored');
    const ran = await run('--wait', '-o', 'json');
    expect(ran.code).toBe(1);
    expect(ran.json()).toMatchObject({ status: 'errored' });
    expect(ran.error()).toMatchObject({ code: 'api_error' });
    const shown = await (await serverWith('errored')).run();
    expect(shown.code).toBe(0);
    expectGolden('actions', (await (await serverWith('errored')).run('--wait')).err);
  });

  it('is exit 5 after --wait-timeout, and prints the action', async () => {
    const { run } = await serverWith('in-progress');
    const ran = await run('--wait', '--wait-timeout', '20s');
    expect(ran.code).toBe(5);
    expect(ran.out).toMatch(/^Status +in-progress$/m);
    expectGolden('actions', ran.err);
  });

  it('is exit 5 after --wait-timeout, also in a wait for the rate limit', async () => {
    const { run, server } = await serverWith('in-progress', 429);
    expect((await run('--wait', '--wait-timeout', '10m')).code).toBe(5);
    expect(server.seen.length).toBeGreaterThan(1);
    const first = await (await serverWith(429)).run('--wait', '--wait-timeout', '20s', '-o', 'json');
    expect(first).toMatchObject({ code: 5, out: '' });
    expect(first.error()).toMatchObject({ code: 'timeout' });
  });

  it('goes on after a rate limit and after failures while it waits', async () => {
    const { run, server } = await serverWith('in-progress', 429, 503, 503, 503, 'in-progress', 'completed');
    expect((await run('--wait')).code).toBe(0);
    expect(server.seen).toHaveLength(7);
  });

  it.each([
    [[], [404], 'not_found', 1],
    [['--wait'], ['in-progress', 404], 'not_found', 1],
    [['--wait'], [503], 'api_error', 1],
    [[], [403], 'scope_too_small', 4],
  ] as const)('reports what the server refuses (%j, %j)', async (words, statuses, code, exit) => {
    const { run } = await serverWith(...statuses);
    const ran = await run(...words, '-o', 'json');
    expect(ran).toMatchObject({ code: exit, out: '' });
    expect(ran.error()).toMatchObject({ code });
  });

  it('ends with a signal', async () => {
    const { host } = await serverWith('in-progress');
    const started = startCloudctl(host, ['actions', 'get', '7', '--wait', '--wait-timeout', '9999h']);
    await started.waitForOutput(/in-progress/);
    started.host.signal('SIGTERM');
    expect((await started.ended).code).toBe(143);
  });

  it('refuses another action than the requested one', async () => {
    const server = await serverFor((_seen, response) =>
      reply(response, 200, { action: { id: 8, type: 'create', status: 'completed' } }),
    );
    const host = testHost({ env: { CLOUDCTL_ACCESS_TOKEN: 'x', CLOUDCTL_BASE_URL: server.origin } });
    const ran = await runCloudctl(host, ['actions', 'get', '7', '--wait', '-o', 'json']);
    expect(ran).toMatchObject({ code: 1, out: '' });
    expect(ran.error()).toMatchObject({ code: 'api_error' });
  });

  it.each([
    ['no id', []],
    ['a word', ['a']],
    ['zero', ['0']],
    ['an empty id', ['']],
    ['--wait-timeout without --wait', ['7', '--wait-timeout', '1m']],
    ['no duration', ['7', '--wait', '--wait-timeout', 'soon']],
    ['an unknown column', ['7', '--format', 'Nonsense']],
  ])('refuses %s before any request', async (_what, words) => {
    const { run, sandbox } = await withNewDroplet();
    const ran = await run(...words);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expectGolden('actions', ran.err);
    expect(await recordedRequests(sandbox)).toEqual([]);
  });
});
