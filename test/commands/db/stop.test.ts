import { describe, expect, it } from 'vitest';
import { type RequestHandler, reply, serverFor } from '../../fixtures/fake-server.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { callApi, sandboxFor, TOMAS, tokenFor } from '../../sandbox/requests.ts';
import { runCloudctl, sandboxEnvironment } from '../run-cloudctl.ts';
import { dbTestHost } from './test-source.ts';

const cluster = '3b643ad7-65aa-4066-b45b-1c64b6db600a';
const path = `/v2/databases/${cluster}/online-migration`;

/** A service with a running migration, whose DELETE answers as given; `stop` ends the migration. */
async function serviceOf(
  onDelete: (stop: () => void, ...request: Parameters<RequestHandler>) => unknown,
  isAway = () => false,
) {
  let status = 'running';
  const stop = (): void => {
    status = 'canceled';
  };
  const server = await serverFor((request, response, count) => {
    if (request.url.startsWith('/v2/actions')) return reply(response, 200, { actions: [] });
    if (request.method === 'DELETE') return void onDelete(stop, request, response, count);
    if (isAway()) return reply(response, 500, {});
    return reply(response, 200, { id: 'm/1', status, created_at: '2026-11-20T12:00:00Z' });
  });
  const deleted = () => server.seen.filter(({ method }) => method === 'DELETE').map(({ url }) => url);
  const host = dbTestHost({ CLOUDCTL_BASE_URL: server.origin, CLOUDCTL_ACCESS_TOKEN: 'token' });
  return { ...server, deleted, run: (...words: string[]) => runCloudctl(host, ['db', 'stop', cluster, ...words]) };
}

describe('without a terminal', () => {
  it('it is refused with the command that confirms, and nothing is sent', async () => {
    const { run, seen } = await serviceOf(() => undefined);
    const ran = await run();
    expect([ran.code, ran.out, seen]).toEqual([2, '', []]);
    expectGolden('db-follow', ran.err);
  });

  it('--yes stops the migration by its id', async () => {
    const { run, deleted } = await serviceOf((stop, _request, response) => {
      stop();
      reply(response, 204);
    });
    const ran = await run('--yes');
    expect([ran.code, deleted()]).toEqual([0, [`${path}/m%2F1`]]);
    expectGolden('db-follow', `${ran.out}${ran.err}`);
  });
});

it('CLOUDCTL_SOURCE names the source, which is checked before anything is sent', async () => {
  const server = await serverFor((_request, response) => reply(response, 500, {}));
  const host = dbTestHost({
    CLOUDCTL_BASE_URL: server.origin,
    CLOUDCTL_ACCESS_TOKEN: 'token',
    CLOUDCTL_SOURCE: 'mysql://127.0.0.1/shop',
  });
  const ran = await runCloudctl(host, ['db', 'stop', cluster, '--yes']);
  expect([ran.code, server.seen]).toEqual([2, []]);
  expect(ran.err).toContain('mysql');
});

describe('the response', () => {
  it.each<[string, RequestHandler]>([
    ['was lost', (_request, response) => void response.destroy()],
    ['was an error', (_request, response) => reply(response, 502, { message: 'bad gateway' })],
    ['was a page', (_request, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>')],
  ])('%s, and the migration has ended: it is stopped', async (_what, answer) => {
    const { run, deleted } = await serviceOf((stop, ...request) => {
      stop();
      answer(...request);
    });
    const ran = await run('--yes', '-o', 'json');
    expect([ran.code, ran.json<{ status: string }>().status, deleted().length]).toEqual([0, 'canceled', 1]);
  });

  it.each<[string, RequestHandler, number]>([
    ['was lost', (_request, response) => void response.destroy(), 6],
    ['was an error', (_request, response) => reply(response, 500, { message: 'no' }), 1],
    ['was forbidden', (_request, response) => reply(response, 403, { id: 'forbidden' }), 4],
  ])('%s, and the migration still runs: an error', async (_what, answer, code) => {
    const { run, deleted } = await serviceOf((_stop, ...request) => void answer(...request));
    const ran = await run('--yes', '-o', 'json');
    expect([ran.code, ran.out, deleted().length]).toEqual([code, '', 1]);
  });

  it('was a success, and the service still shows it running: that is said', async () => {
    const { run } = await serviceOf((_stop, _request, response) => reply(response, 202));
    const ran = await run('--yes');
    expect(ran.code).toBe(0);
    expectGolden('db-follow', ran.err);
  });

  it('was 404 for the id: the path without it is used for the same migration', async () => {
    const { run, deleted } = await serviceOf((stop, { url }, response) => {
      if (url !== path) return reply(response, 404, { id: 'no_such_path' });
      stop();
      return reply(response, 204);
    });
    const ran = await run('--yes', '-o', 'json');
    expect([ran.code, deleted()]).toEqual([0, [`${path}/m%2F1`, path]]);
  });

  it('was 405 for both: the control panel is named', async () => {
    const { run } = await serviceOf((_stop, _request, response) => reply(response, 405, { id: 'method_not_allowed' }));
    const ran = await run('--yes');
    expect(ran).toMatchObject({ code: 1, out: '' });
    expectGolden('db-follow', ran.err);
  });
});

describe('what has ended', () => {
  const of = (...phases: readonly string[]) => phases.map((phase, at) => ({ name: `d${at}`, phase }));
  const failed = { status: 'error', reason: 'd0: refused' };

  /** A service that shows these states, one after the other, the last one again and again. */
  async function serviceShowing(...states: readonly object[]) {
    let at = 0;
    const server = await serverFor((request, response) => {
      if (request.url.startsWith('/v2/actions')) return reply(response, 200, { actions: [] });
      if (request.method === 'DELETE') return reply(response, 204);
      return reply(response, 200, { id: 'm', ...states[Math.min(at++, states.length - 1)] });
    });
    const host = dbTestHost({ CLOUDCTL_BASE_URL: server.origin, CLOUDCTL_ACCESS_TOKEN: 'token' });
    const ran = await runCloudctl(host, ['db', 'stop', cluster, '--yes', '--wait-timeout', '2s', '-o', 'json']);
    return { ...ran, deletions: server.seen.filter(({ method }) => method === 'DELETE').length };
  }

  it.each([
    ['a failed database beside one that replicates', [{ ...failed, databases: of('error', 'streaming') }], 1, 6],
    ['a status that says error alone', [failed], 1, 0],
    ['canceled, but a database is finishing', [{ status: 'canceled', databases: of('finishing') }], 1, 6],
    ['a stop that was recorded', [{ status: 'canceled', stopped_at: 'T', databases: of('finishing') }], 0, 6],
    ['a stop that the service shows without databases', [{ status: 'running', reason: 'stopped_by_user' }], 1, 6],
    ['every database', [{ ...failed, databases: of('error', 'stopped', 'done') }], 0, 0],
    ['a migration with the time of its stop', [{ ...failed, stopped_at: 'T' }], 0, 0],
    ['a migration that was canceled', [{ status: 'canceled' }], 0, 0],
    [
      'the databases, after a while',
      [
        ...[
          { status: 'running', databases: of('streaming') },
          { status: 'syncing', databases: of('finishing') },
        ],
        ...[
          { status: 'syncing', databases: of('finishing') },
          { status: 'canceled', databases: of('stopped') },
        ],
      ],
      1,
      0,
    ],
  ] as const)('%s', async (_what, states, deletions, code) => {
    const ran = await serviceShowing(...states);
    expect([ran.deletions, ran.code]).toEqual([deletions, code]);
    if (code === 0) expect(ran.json()).toMatchObject(states.at(-1) ?? {});
    else expect(ran.error()).toMatchObject({ code: 'timeout', detail: expect.stringMatching(/\b(d\d|running)\b/) });
  });

  it('is no success when the service says that it left a slot', async () => {
    const leftovers = [
      { side: 'source', database: 'shop', object: 'replication slot s', statement: 'DROP', reason: 'no' },
    ];
    const ran = await serviceShowing({ status: 'running' }, { status: 'canceled', leftovers });
    expect(ran.code).toBe(1);
    expectGolden('db-follow', ran.err);
  });

  it('is not known when the service cannot be asked after the stop', async () => {
    let isSent = false;
    const { run, deleted } = await serviceOf(
      (_stop, _request, response) => {
        isSent = true;
        reply(response, 204);
      },
      () => isSent,
    );
    const ran = await run('--yes', '-o', 'json');
    expect([ran.code, ran.out, deleted().length]).toEqual([1, '', 1]);
    expect(ran.error().hint).toContain(`db stop ${cluster} --yes`);
  });
});

it('in the sandbox: the owner stops it, another account does not, and a second stop sends nothing', async () => {
  const sandbox = await sandboxFor();
  const { access_token: token } = await tokenFor(sandbox);
  const { access_token: other } = await tokenFor(sandbox, { user: TOMAS });
  const uuid = sandbox.ready.clusters[0]?.uuid ?? '';
  const migration = `/v2/databases/${uuid}/online-migration`;
  await callApi(sandbox, token, 'PUT', migration, { source: { host: 'db.example.com', dbname: 'shop' } });
  const host = dbTestHost(sandboxEnvironment(sandbox));
  const stop = (accessToken: string) =>
    runCloudctl(host, ['db', 'stop', uuid, '--yes', '-o', 'json'], { env: { CLOUDCTL_ACCESS_TOKEN: accessToken } });
  const foreign = await stop(other);
  expect([foreign.code, foreign.error().code]).toEqual([1, 'not_found']);
  const stopped = await stop(token);
  expect([stopped.code, stopped.json()]).toMatchObject([0, { status: 'canceled', reason: 'stopped_by_user' }]);
  expect((await stop(token)).code).toBe(0);
  const deletions = sandbox.requests().filter(({ method }) => method === 'DELETE');
  expect(deletions.map(({ status }) => status)).toEqual([204]);
});
