import { describe, expect, it } from 'vitest';
import { type RequestHandler, reply, serverFor } from '../../fixtures/fake-server.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { callApi, sandboxFor, TOMAS, tokenFor } from '../../sandbox/requests.ts';
import { runCloudctl, sandboxEnvironment, startCloudctl } from '../run-cloudctl.ts';
import { dbTestHost } from './test-source.ts';

const cluster = '3b643ad7-65aa-4066-b45b-1c64b6db600a';

/** A service that shows these migrations, one after the other and then the last one again and again. */
async function serviceOf(...states: readonly object[]) {
  let at = 0;
  const answer: RequestHandler = ({ url }, response) =>
    url.startsWith('/v2/actions')
      ? reply(response, 200, { actions: [] })
      : reply(response, 200, states[Math.min(at++, states.length - 1)]);
  const server = await serverFor(answer);
  return { ...server, host: dbTestHost({ CLOUDCTL_BASE_URL: server.origin, CLOUDCTL_ACCESS_TOKEN: 'token' }) };
}

const migration = (status: string, more: object = {}) => ({
  id: 'm-1',
  status,
  created_at: '2026-11-20T12:00:00Z',
  ...more,
});
const databases = [
  { name: 'shop', phase: 'copying', tables_total: 3, tables_ready: 1, lag_bytes: 0 },
  { name: 'c\u001b[31mrm', phase: 'error', error: 'refused\u0007' },
  'no object',
];

describe('in the sandbox', () => {
  it('the migration is shown to its account alone', async () => {
    const sandbox = await sandboxFor();
    const { access_token: token } = await tokenFor(sandbox);
    const uuid = sandbox.ready.clusters[0]?.uuid ?? '';
    const path = `/v2/databases/${uuid}/online-migration`;
    await callApi(sandbox, token, 'PUT', path, { source: { host: 'db.example.com', dbname: 'shop' } });
    const host = dbTestHost({ ...sandboxEnvironment(sandbox), CLOUDCTL_ACCESS_TOKEN: token });
    const ran = await runCloudctl(host, ['db', 'status', uuid.toUpperCase(), '-o', 'json']);
    expect([ran.code, ran.json()]).toMatchObject([0, { status: 'running', deadline: expect.any(String) }]);
    const { access_token: other } = await tokenFor(sandbox, { user: TOMAS });
    const refused = await runCloudctl(host, ['db', 'status', uuid, '-o', 'json'], {
      env: { ...sandboxEnvironment(sandbox), CLOUDCTL_ACCESS_TOKEN: other },
    });
    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(refused.error().code).toBe('not_found');
  });
});

it('each database has a line, without control characters', async () => {
  const { host } = await serviceOf(migration('running', { databases }));
  const ran = await runCloudctl(host, ['db', 'status', cluster]);
  expect(ran.code).toBe(0);
  expectGolden('db-follow', `${ran.out}${ran.err}`);
});

it('one that is stopping is not called ready for the next step', async () => {
  const finishing = [{ name: 'shop', phase: 'finishing', method: 'continuous' }];
  const { host } = await serviceOf(migration('syncing', { reason: 'stopped_by_user', databases: finishing }));
  const ran = await runCloudctl(host, ['db', 'status', cluster]);
  expectGolden('db-follow', ran.err);
});

it.each([[], ['--watch', '--interval', '1s']])('%j prints each warning of the service once', async (...words) => {
  const warned = {
    warnings: ['left out'],
    databases: [{ name: 'shop', phase: 'done', warnings: ['left out', 'x\u0007y'] }],
  };
  const { host } = await serviceOf(migration('running', warned), migration('done', warned));
  const ran = await runCloudctl(host, ['db', 'status', cluster, ...words]);
  expect(ran.code).toBe(0);
  expect(ran.err.match(/^warning: .*$/gm)).toEqual([
    'warning: left out',
    'warning: shop: left out',
    expect.stringMatching(/^warning: shop: x[^\u0007]*y$/),
  ]);
});

it('a database that receives nothing stands beside the next step, and what every copy leaves out in one line', async () => {
  const owners = 'owners are not copied: objects of app belong to the migration role';
  const all = ['crm', 'hr', 'shop'].map((name) => ({
    ...{ name, phase: 'streaming', tables_total: 3, tables_ready: 3, lag_bytes: 0, warnings: [owners] },
    ...(name === 'crm' ? { phase: 'apply_stopped', reason: 'the target fails to apply changes: ERROR:  no' } : {}),
  }));
  const { host } = await serviceOf(migration('syncing', { databases: all }));
  const ran = await runCloudctl(host, ['db', 'status', cluster]);
  expect(ran.code).toBe(0);
  expectGolden('db-follow', ran.err);
  expect(ran.err.match(/not copied/g)).toHaveLength(1);
  expect(ran.err.indexOf('  crm:')).toBeGreaterThan(ran.err.indexOf('  shop:'));
  expect(ran.err).not.toContain('caught up');
});

it('a cluster without a migration is an error with both next commands', async () => {
  const { origin } = await serverFor(({ url }, response) =>
    url.startsWith('/v2/actions') ? reply(response, 200, { actions: [] }) : reply(response, 404, { id: 'not_found' }),
  );
  const host = dbTestHost({ CLOUDCTL_BASE_URL: origin, CLOUDCTL_ACCESS_TOKEN: 'token' });
  const ran = await runCloudctl(host, ['db', 'status', cluster]);
  expect(ran).toMatchObject({ code: 1, out: '' });
  expectGolden('db-follow', ran.err);
});

it('a response that is no migration is an error', async () => {
  const { host } = await serviceOf([]);
  const ran = await runCloudctl(host, ['db', 'status', cluster, '-o', 'json']);
  expect(ran).toMatchObject({ code: 1, out: '' });
  expect(ran.error().code).toBe('api_error');
});

describe('--watch', () => {
  it('prints a line for each change, and ends with the migration', async () => {
    const running = migration('running');
    const { host } = await serviceOf(running, running, migration('syncing', { databases: [databases[0]] }), {
      ...migration('done'),
    });
    const ran = await runCloudctl(host, ['db', 'status', cluster, '--watch', '--interval', '1s']);
    expect(ran.code).toBe(0);
    expectGolden('db-follow', `${ran.out}${ran.err}`);
  });

  it('prints one object for each poll as ndjson', async () => {
    const { host } = await serviceOf(migration('running'), migration('running'), migration('canceled'));
    const ran = await runCloudctl(host, ['db', 'status', cluster, '--watch', '--interval', '1s', '-o', 'ndjson']);
    const states = ran.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).status);
    expect([ran.code, states, ran.err]).toEqual([0, ['running', 'running', 'canceled'], '']);
  });

  it('of a migration that fails exits with 1 and the reason', async () => {
    const { host } = await serviceOf(migration('running'), migration('error', { reason: 'E_REASON' }));
    const ran = await runCloudctl(host, ['db', 'status', cluster, '--watch', '--interval', '1s', '-o', 'json']);
    expect([ran.code, ran.json<{ status: string }>().status]).toEqual([1, 'error']);
    expect(ran.error()).toMatchObject({ code: 'api_error', detail: 'E_REASON' });
  });

  it('ends when another migration takes its place', async () => {
    const { host } = await serviceOf(migration('running'), { ...migration('running'), id: 'm-2' });
    const ran = await runCloudctl(host, ['db', 'status', cluster, '--watch', '--interval', '1s', '-o', 'json']);
    expect([ran.code, ran.error().code]).toEqual([1, 'not_found']);
  });

  it('survives responses that fail, and not five in a row', async () => {
    let count = 0;
    const server = await serverFor((_request, response) => {
      count += 1;
      if (count === 1 || count === 4) return reply(response, 200, migration('running'));
      return reply(response, 500, { id: 'server_error' });
    });
    const host = dbTestHost({ CLOUDCTL_BASE_URL: server.origin, CLOUDCTL_ACCESS_TOKEN: 'token' });
    const ran = await runCloudctl(host, ['db', 'status', cluster, '--watch', '--interval', '1s', '-o', 'json']);
    expect([ran.code, ran.error().code, count]).toEqual([1, 'api_error', 1 + 3 + 5 * 3]);
  });

  it('ends with 130 after Ctrl-C', async () => {
    const { host } = await serviceOf(migration('running'));
    const running = startCloudctl(host, ['db', 'status', cluster, '--watch', '--interval', '1h']);
    await running.waitForOutput(/running/);
    running.host.signal('SIGINT');
    expect((await running.ended).code).toBe(130);
  });
});

it.each([[['not-a-uuid']], [[cluster, '--interval', '5s']], [[cluster, '--watch', '--interval', '0s']]])(
  '%j is a usage error',
  async (words) => {
    const { host, seen } = await serviceOf(migration('running'));
    const ran = await runCloudctl(host, ['db', 'status', ...words, '-o', 'json']);
    expect([ran.code, ran.out, seen]).toEqual([2, '', []]);
  },
);
