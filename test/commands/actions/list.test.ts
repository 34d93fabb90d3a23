import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { reply, serverFor } from '../../fixtures/fake-server.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { testHost } from '../../fixtures/host.ts';
import { seedSession } from '../../fixtures/session.ts';
import { sandboxFor } from '../../sandbox/requests.ts';
import { recordedRequests, runCloudctl, stableText } from '../run-cloudctl.ts';

interface Action {
  readonly id: number;
  readonly status: string;
  readonly type: string;
  readonly resource_type: string;
  readonly region_slug: string;
  readonly started_at: string;
}

async function loggedIn() {
  const [host, sandbox] = [testHost(), await sandboxFor()];
  await seedSession(host, sandbox);
  return { host, sandbox };
}

describe('actions list', () => {
  it('gives the objects of the API, all of them, with and without the word list', async () => {
    const { host } = await loggedIn();
    const ran = await runCloudctl(host, ['actions', 'list', '-o', 'json']);
    expect(ran).toMatchObject({ code: 0, err: '' });
    expect(ran.json<Action[]>().length).toBeGreaterThan(1);
    expect(ran.json<Action[]>()[0]).toMatchObject({ id: expect.any(Number), region: expect.any(Object) });
    expect((await runCloudctl(host, ['actions', '-o', 'json'])).out).toBe(ran.out);
  });

  it('has the documented columns', async () => {
    const { host } = await loggedIn();
    const { out } = await runCloudctl(host, ['actions', 'list', '-o', 'csv']);
    expect(out.split('\n')[0]).toBe('ID,Status,Type,StartedAt,CompletedAt,ResourceID,ResourceType,Region');
  });

  it('shows what is in progress', async () => {
    const { host } = await loggedIn();
    await runCloudctl(host, ['droplets', 'create', 'new-1', '--size', 's-1vcpu-1gb', '--image', 'ubuntu-24-04-x64']);
    const ran = await runCloudctl(host, ['actions', 'list', '--status', 'in-progress', '-o', 'json']);
    expect(ran.json<Action[]>()).toHaveLength(1);
  });

  it('reads page after page', async () => {
    const { host, sandbox } = await loggedIn();
    const whole = await runCloudctl(host, ['actions', 'list', '-o', 'json']);
    const paged = await runCloudctl(host, ['actions', 'list', '--page-size', '1', '-o', 'json']);
    expect(paged.out).toBe(whole.out);
    expect((await recordedRequests(sandbox)).length).toBe(1 + whole.json<Action[]>().length);
  });

  it('with a filter gives what matches, and asks for whole pages although few are wanted', async () => {
    const { host, sandbox } = await loggedIn();
    const all = (await runCloudctl(host, ['actions', 'list', '-o', 'json'])).json<Action[]>();
    const last = all.at(-1);
    const before = (await recordedRequests(sandbox)).length;
    const words = ['--region', last?.region_slug ?? '', '--before', all[0]?.started_at ?? '', '--limit', '1'];
    const ran = await runCloudctl(host, ['actions', 'list', ...words, '-o', 'json']);
    const matching = all.filter(
      ({ region_slug, started_at }) => region_slug === last?.region_slug && started_at < (all[0]?.started_at ?? ''),
    );
    expect(ran.json<Action[]>()).toEqual(matching.slice(0, 1));
    expect((await recordedRequests(sandbox)).length - before).toBe(1);
  });

  it.each([
    [['--type', 'create'], ({ type }: Action) => type === 'create'],
    [['--type', 'no such type'], () => false],
    [['--resource-type', 'droplet'], (action: Action) => action.resource_type === 'droplet'],
    [['--status', 'completed'], ({ status }: Action) => status === 'completed'],
    [['--after', '2999-01-01'], () => false],
    [['--before', '1999-01-01T00:00:00Z'], () => false],
    [['--after', '1999-01-01 00:00'], () => true],
  ])('filters by %j', async (words, matches) => {
    const { host } = await loggedIn();
    const all = (await runCloudctl(host, ['actions', 'list', '-o', 'json'])).json<Action[]>();
    const ran = await runCloudctl(host, ['actions', 'list', ...words, '-o', 'json']);
    expect(ran.json<Action[]>()).toEqual(all.filter(matches));
  });

  it.each(['2026-01-01', '2026-01-01 00:00', '2026-01-01T00:00:00Z'])(
    '%j is one instant in every time zone: UTC, as in what is listed',
    async (time) => {
      vi.stubEnv('TZ', 'Pacific/Kiritimati');
      onTestFinished(() => void vi.unstubAllEnvs());
      expect(new Date(2026, 0, 1).getTimezoneOffset()).toBe(-14 * 60);
      const { host } = await loggedIn();
      const words = ['actions', 'list', '--before', time, '--after', '2025-12-31T23:59:59Z', '-o', 'json'];
      // The times do not contradict each other only if this one is the later.
      expect(await runCloudctl(host, words)).toMatchObject({ code: 0, out: '[]\n' });
    },
  );

  it('with a limit gives the newest', async () => {
    const { host } = await loggedIn();
    const all = (await runCloudctl(host, ['actions', 'list', '-o', 'json'])).json<Action[]>();
    expect((await runCloudctl(host, ['actions', 'list', '--limit', '2', '-o', 'json'])).json()).toEqual(
      all.slice(0, 2),
    );
  });

  it.each([
    ['--limit', '0'],
    ['--limit', 'x'],
    ['--page-size', '0'],
    ['--page-size', '201'],
    ['--status', 'done'],
    ['--after', 'yesterday'],
    ['--before', '2026-13-01'],
    ['--before', '2026-02-30'],
    ['--format', 'Nope'],
    ['--type', ''],
    ['--resource-type', ''],
    ['--region', ''],
  ])('%s %s is a usage error before any request', async (option, value) => {
    const { host, sandbox } = await loggedIn();
    expect(await runCloudctl(host, ['actions', 'list', option, value])).toMatchObject({ code: 2, out: '' });
    expect(await recordedRequests(sandbox)).toEqual([]);
  });

  it('a time after that is not earlier than the time before is a usage error, not an empty list', async () => {
    const { host } = await loggedIn();
    const ran = await runCloudctl(host, ['actions', 'list', '--after', '2026-02-01', '--before', '2026-01-01']);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expectGolden('actions', stableText(ran));
  });
});

describe('a list that breaks off', () => {
  const env = (origin: string) => ({ CLOUDCTL_ACCESS_TOKEN: 'x', CLOUDCTL_BASE_URL: origin });
  const action = (id: number) => ({ id, status: 'completed', type: 'create' });

  it('leaves standard output empty with json, and what was streamed with ndjson', async () => {
    const { origin } = await serverFor(({ url }, response) =>
      url.includes('page=1&')
        ? reply(response, 200, {
            actions: [action(1)],
            links: { pages: { next: '/v2/actions?page=2&per_page=200' } },
            meta: { total: 2 },
          })
        : reply(response, 500, { id: 'server_error', message: 'oops' }),
    );
    const json = await runCloudctl(testHost({ env: env(origin) }), ['actions', 'list', '-o', 'json']);
    expect(json).toMatchObject({ code: 1, out: '' });
    const ndjson = await runCloudctl(testHost({ env: env(origin) }), ['actions', 'list', '-o', 'ndjson']);
    expect(ndjson).toMatchObject({ code: 1, out: `${JSON.stringify(action(1))}\n` });
    expect(ndjson.error()).toMatchObject({ code: 'api_error' });
  });

  it('short of what it promised is an error', async () => {
    const { origin } = await serverFor((_, response) =>
      reply(response, 200, { actions: [action(1)], meta: { total: 2 } }),
    );
    const ran = await runCloudctl(testHost({ env: env(origin) }), ['actions', 'list', '-o', 'json']);
    expect(ran).toMatchObject({ code: 1, out: '' });
    expect(ran.error()).toMatchObject({ code: 'incomplete_list' });
  });
});
