import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { closedPort } from '../../../scripts/free-port.mjs';
import { createBaseline } from '../../../src/db/watch/postgresql/baseline.ts';
import { loadBaseline, pathOfBaseline, pathOfRecord, readRecord, storeBaseline } from '../../../src/db/watch/record.ts';
import { makeDatabaseFacts, makeServerFacts } from '../../db/watch/postgresql/make-facts.ts';
import { maskVariable } from '../../fixtures/error-text.ts';
import { reply, serverFor } from '../../fixtures/fake-server.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { testHost } from '../../fixtures/host.ts';
import { lacks } from '../../fixtures/needs.ts';
import { startRedis } from '../../fixtures/redis.ts';
import { seedSession } from '../../fixtures/session.ts';
import { callApi, MAYA, sandboxFor, send, signIn, submit, tokenFor } from '../../sandbox/requests.ts';
import { recordedRequests, runCloudctl, sandboxEnvironment } from '../run-cloudctl.ts';
import { countingSource, dbTestHost } from './test-source.ts';

const cluster = '3b643ad7-65aa-4066-b45b-1c64b6db600a';

const second = Math.floor(Date.now() / 1000) * 1000;
const dateOf = (time: number): string => new Date(time).toISOString().replace('.000Z', 'Z');
const running = { id: 'm1', status: 'running', created_at: dateOf(second) };

/** A service that takes every migration, and a person with a token for it. */
async function service() {
  const server = await serverFor((_seen, response) => reply(response, 200, running));
  return { ...server, host: dbTestHost({ CLOUDCTL_BASE_URL: server.origin, CLOUDCTL_ACCESS_TOKEN: 'token' }) };
}

async function sandboxed(scope = 'read write') {
  const sandbox = await sandboxFor();
  const { access_token: token } = await tokenFor(sandbox, { scope });
  const host = dbTestHost({ ...sandboxEnvironment(sandbox), CLOUDCTL_ACCESS_TOKEN: token });
  const [pg, redis] = sandbox.ready.clusters.map(({ uuid }) => uuid);
  return { sandbox, token, host, pg: pg!, redis: redis! };
}

const unseen = ['--skip-preflight', '-o', 'json'];

describe('the request', () => {
  it.each<[string, readonly string[], object]>([
    [
      'of a PostgreSQL source',
      ['--source', 'postgres://mover@db.example.com/shop'],
      {
        source: { host: 'db.example.com', port: 5432, dbname: 'shop', username: 'mover', password: 'hunter2' },
        disable_ssl: false,
      },
    ],
    [
      'of one without TLS and with databases left out',
      [
        '--engine',
        'postgresql',
        '--host',
        '[2001:db8::1]',
        '--port',
        '25061',
        '--dbname',
        'My-DB',
        '--username',
        'u',
      ].concat(['--disable-ssl', '--ignore-dbs', 'a,b']),
      {
        source: { host: '2001:db8::1', port: 25_061, dbname: 'My-DB', username: 'u', password: 'hunter2' },
        disable_ssl: true,
        ignore_dbs: ['a', 'b'],
      },
    ],
    [
      'of a Redis source, which has no database and here no user',
      ['--source', 'redis://cache.example.com'],
      { source: { host: 'cache.example.com', port: 6379 }, disable_ssl: true },
    ],
  ])('%s holds what is set and nothing else', async (_what, words, body) => {
    const { seen, host } = await service();
    const ran = await runCloudctl(host, ['db', 'migrate', cluster, ...words, ...unseen]);
    expect(ran.code).toBe(0);
    expect(seen.map(({ method, url }) => [method, url])).toEqual([
      ['PUT', `/v2/databases/${cluster}/online-migration`],
    ]);
    expect(JSON.parse(seen[0]?.body ?? '')).toEqual(body);
    expect(ran.json()).toEqual({ ...running, deadline: dateOf(second + 14 * 86_400_000) });
    expect(ran.out + ran.err).not.toContain('hunter2');
  });

  it('is sent once, and an answer that got lost is not taken for a refusal', async () => {
    const server = await serverFor((_seen, response) => void response.destroy());
    const host = dbTestHost({ CLOUDCTL_BASE_URL: server.origin, CLOUDCTL_ACCESS_TOKEN: 'token' });
    const ran = await runCloudctl(host, ['db', 'migrate', cluster, '--source', 'postgres://u@h/d', ...unseen]);
    expect(ran.code).toBe(6);
    expect(server.seen.filter(({ method }) => method === 'PUT')).toHaveLength(1);
    expect(ran.error()).toMatchObject({ code: 'unreachable', exit_code: 6 });
    expectGolden('db-migrate', maskVariable(ran.err));
  });

  it.each(['9', '+275760-09-13T00:00:00Z', '2001-01-01T00:00:00Z'])(
    'that was accepted at %s according to the service has a deadline from now on',
    async (created) => {
      const server = await serverFor((_seen, response) => reply(response, 200, { ...running, created_at: created }));
      const host = dbTestHost({ CLOUDCTL_BASE_URL: server.origin, CLOUDCTL_ACCESS_TOKEN: 'token' });
      const ran = await runCloudctl(host, ['db', 'migrate', cluster, '--source', 'postgres://u@h/d', ...unseen]);
      expect(ran.code).toBe(0);
      expect(ran.json()).toMatchObject({ deadline: expect.stringMatching(/^20/) });
      expect(Date.parse(String((ran.json() as { deadline: string }).deadline))).toBeGreaterThanOrEqual(second);
    },
  );

  it('with a session that cannot be renewed was not sent', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const server = await serverFor(({ method }, response) =>
      method === 'PUT' ? reply(response, 401, { id: 'unauthorized' }) : void response.destroy(),
    );
    const { origin } = server;
    const binding = { authOrigin: origin, baseOrigin: origin, clientId: sandbox.ready.client_id };
    await seedSession(host, sandbox, { record: { ...binding }, values: { auth_url: origin, base_url: origin } });
    const ran = await runCloudctl(host, ['db', 'migrate', cluster, '--source', 'postgres://u@h/d', ...unseen]);
    expect(server.seen.filter(({ method }) => method === 'PUT')).toHaveLength(1);
    expect(ran).toMatchObject({ code: 6, out: '' });
    expect(ran.error().message).not.toContain('not known');
  });
});

describe('in the sandbox', () => {
  const source = ['--source', 'postgres://u@db.example.com/shop'];

  it('it runs, a second one is refused, and the panel stops it', async () => {
    const { sandbox, token, host, pg } = await sandboxed();
    const first = await runCloudctl(host, ['db', 'migrate', pg, ...source, ...unseen]);
    expect(first.code).toBe(0);
    const second = await runCloudctl(host, ['db', 'migrate', pg, ...source, ...unseen]);
    expect(second).toMatchObject({ code: 1, out: '' });
    expect(second.error()).toMatchObject({ code: 'api_error', status: 409 });
    expect(second.error().hint).toContain('cloudctl db watch --source postgres://u@db.example.com:5432/shop');
    expect(second.err).not.toContain('db stop');
    expectGolden(
      'db-migrate',
      `${first.err}${second.err}`
        .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
        .replace(/\(E[A-Z_]+\)/, '(CODE)')
        .replace(/[\da-f-]{36}/, 'ID'),
    );
    // From another machine, or of another source, it may be one of somebody else.
    const elsewhere = dbTestHost({ ...sandboxEnvironment(sandbox), CLOUDCTL_ACCESS_TOKEN: token });
    const other = await runCloudctl(elsewhere, ['db', 'migrate', pg, ...source, ...unseen]);
    expect(other.error()).toMatchObject({ code: 'api_error', status: 409, hint: expect.stringContaining('db stop') });

    const cookie = await signIn(sandbox, MAYA);
    const page = await send(sandbox.ready.auth_url, '/panel/migrations', { headers: { cookie } });
    expect((await submit(sandbox, page, cookie, {})).status).toBe(303);
    const path = `/v2/databases/${pg}/online-migration`;
    expect(JSON.parse((await callApi(sandbox, token, 'GET', path)).body)).toMatchObject({
      status: 'canceled',
      reason: 'stopped_by_user',
    });
    expect((await runCloudctl(host, ['db', 'migrate', pg, ...source, ...unseen])).code).toBe(0);
  });

  it('a cluster that is not there and a token that may only read are told apart', async () => {
    const { host } = await sandboxed();
    const unknown = await runCloudctl(host, ['db', 'migrate', cluster, ...source, ...unseen]);
    expect(unknown).toMatchObject({ code: 1, out: '' });
    expect(unknown.error().code).toBe('not_found');
    const reader = await sandboxed('read');
    const refused = await runCloudctl(reader.host, ['db', 'migrate', reader.pg, ...source, ...unseen]);
    expect(refused).toMatchObject({ code: 4, out: '' });
    expect(refused.error().code).toBe('scope_too_small');
  });
});

describe('the rules for the time of a migration', () => {
  const source = ['--source', 'postgres://u@db.example.com/shop', '--skip-preflight'];

  it.each([409, 422, 500])('are printed after a response with %i, because the request was sent', async (status) => {
    const { origin } = await serverFor(({ method, url }, response) => {
      if (url.startsWith('/v2/actions')) return reply(response, 200, { actions: [] });
      return method === 'PUT'
        ? reply(response, status, { id: 'x', message: 'no' })
        : reply(response, 404, { id: 'not_found' });
    });
    const host = dbTestHost({ CLOUDCTL_BASE_URL: origin, CLOUDCTL_ACCESS_TOKEN: 'token' });
    const ran = await runCloudctl(host, ['db', 'migrate', cluster, ...source]);
    expect(ran).toMatchObject({ code: 1, out: '' });
    expectGolden('db-migrate', ran.err);
  });
});

describe('a response of 2xx', () => {
  it.each<[string, number, unknown, string]>([
    ['204 without a body', 204, undefined, 'm-9'],
    ['200 with an empty object', 200, {}, 'm-9'],
    ['201 with online_migration', 201, { online_migration: { id: 'm-1', status: 'running' } }, 'm-1'],
    ['202 with a numeric id', 202, { id: 7, status: 'running' }, '7'],
  ])('%s is an acceptance, and the record has its id', async (_what, status, body, id) => {
    const { origin } = await serverFor(({ method }, response) =>
      method === 'PUT'
        ? reply(response, status, body)
        : reply(response, 200, { ...running, id: 'm-9', created_at: dateOf(Date.now()) }),
    );
    const host = dbTestHost({ CLOUDCTL_BASE_URL: origin, CLOUDCTL_ACCESS_TOKEN: 'token' });
    const ran = await runCloudctl(host, ['db', 'migrate', cluster, '--source', 'postgres://u@h/d', ...unseen]);
    expect([ran.code, ran.json<{ id: string }>().id]).toEqual([0, id]);
    const path = pathOfRecord(host.folders.state, {
      engine: 'postgresql',
      host: 'h',
      port: 5432,
      dbname: 'd',
    });
    expect(readRecord(path)?.started).toMatchObject({ id, cluster });
  });
});

describe('the baseline of a running migration', () => {
  const source = { engine: 'postgresql', host: 'h', port: 5432, dbname: 'd' } as const;
  const baseline = createBaseline(makeServerFacts(), [makeDatabaseFacts({})]);

  it.each([
    ['stays when the service refuses a second one', 409, true],
    ['is removed by one that the service starts although the source cannot be read', 200, false],
  ])('%s', async (_what, status, isKept) => {
    const { origin } = await serverFor(({ method }, response) =>
      reply(response, method === 'PUT' ? status : 200, { ...running, id: 'm1', message: 'no' }),
    );
    const host = dbTestHost({ CLOUDCTL_BASE_URL: origin, CLOUDCTL_ACCESS_TOKEN: 'token' });
    const path = pathOfBaseline(host.folders.state, source, cluster);
    storeBaseline(path, baseline);
    await runCloudctl(host, ['db', 'migrate', cluster, '--source', 'postgres://u@h/d', ...unseen]);
    expect(loadBaseline(path) !== undefined).toBe(isKept);
  });
});

describe('an earlier run whose response was lost', () => {
  it('is found by db watch, which names db status when the service does not answer', async () => {
    const lost = await serverFor((_request, response) => void response.destroy());
    const host = dbTestHost({ CLOUDCTL_BASE_URL: lost.origin, CLOUDCTL_ACCESS_TOKEN: 'token' });
    const source = ['--source', `postgres://u@127.0.0.1:${await closedPort()}/d`];
    expect((await runCloudctl(host, ['db', 'migrate', cluster, ...source, ...unseen])).code).toBe(6);
    const watched = await runCloudctl(host, ['db', 'watch', ...source]);
    expect(watched.code).toBe(3);
    expect(watched.err).toContain(`cloudctl db status ${cluster}`);
    const other = await runCloudctl(host, ['db', 'watch', ...source], {
      env: { CLOUDCTL_BASE_URL: 'https://b.example.com' },
    });
    expect(other.err).toContain(`cloudctl db status ${cluster}`);
  });
});

describe('before anything is asked', () => {
  it('a session that may only read is refused, with the login that would do', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    await seedSession(host, sandbox, { scope: 'read', record: { scope: 'read' } });
    const source = await countingSource();
    const words = ['db', 'migrate', cluster, '--source', `postgres://u@127.0.0.1:${source.port}/d`, '-o', 'json'];
    const ran = await runCloudctl(host, words);
    expect(ran).toMatchObject({ code: 4, out: '' });
    expect(ran.error()).toMatchObject({ code: 'scope_too_small', hint: expect.stringContaining('read write') });
    expect(source.asked()).toBe(0);
    expect(await recordedRequests(sandbox)).toEqual([]);
  });

  it.each(['orders', '3b643ad7', `${cluster}0`, '../../v2/droplets', ''])(
    'a CLUSTER_UUID of %j is a usage error',
    async (typed) => {
      const { seen, host } = await service();
      const source = await countingSource();
      const words = ['db', 'migrate', typed, '--source', `postgres://u@127.0.0.1:${source.port}/d`, '-o', 'json'];
      const ran = await runCloudctl(host, words);
      expect(ran).toMatchObject({ code: 2, out: '' });
      expect([source.asked(), seen.length]).toEqual([0, 0]);
    },
  );
});

describe('words of the watch', () => {
  it.each([['--until-idle'], ['--interval', '1s']])('%s without --watch are a usage error', async (...idle) => {
    const { seen, host } = await service();
    const source = await countingSource();
    const words = ['db', 'migrate', cluster, '--source', `postgres://u@127.0.0.1:${source.port}/d`, ...idle];
    const ran = await runCloudctl(host, words);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expectGolden('db-migrate', ran.err);
    expect([source.asked(), seen.length]).toEqual([0, 0]);
  });
});

describe('what the service does not start', () => {
  it.each([
    ['dump', 'postgres://u@127.0.0.1'],
    ['scan', 'redis://127.0.0.1'],
  ])('a %s: the report, exit 2, the commands by hand, and nothing sent', async (method, address) => {
    const { seen, host } = await service();
    const port = await closedPort();
    const source = `${address}:${port}${method === 'dump' ? '/d' : ''}`;
    const ran = await runCloudctl(host, ['db', 'migrate', cluster, '--source', source, '--method', method]);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toContain(method === 'dump' ? 'tcp-connect' : 'redis-connect');
    expectGolden('db-migrate', ran.err.slice(ran.err.indexOf('error: ')).replaceAll(String(port), 'PORT'));
    expect(ran.err).not.toContain('hunter2');
    expect(seen).toEqual([]);
  });

  it('a source that is not ready: exit 3, and nothing sent', async () => {
    const { seen, origin } = await serverFor((_seen, response) => reply(response, 404, { id: 'not_found' }));
    const host = dbTestHost({ CLOUDCTL_BASE_URL: origin, CLOUDCTL_ACCESS_TOKEN: 'token' });
    const words = ['db', 'migrate', cluster, '--source', `postgres://u@127.0.0.1:${await closedPort()}/d`];
    const ran = await runCloudctl(host, [...words, '-o', 'json']);
    expect(ran).toMatchObject({ code: 3, out: '' });
    expect(ran.error()).toMatchObject({ code: 'preflight_blocked' });
    expectGolden('db-migrate', ran.error().message);
    expect(seen.filter(({ method }) => method !== 'GET')).toEqual([]);
  });
});

it('a source that cannot be reached is refused before the service is asked for a migration', async () => {
  const server = await serverFor((_seen, response) => reply(response, 200, { ...running, status: 'running' }));
  const host = dbTestHost({ CLOUDCTL_BASE_URL: server.origin, CLOUDCTL_ACCESS_TOKEN: 'token' });
  const ran = await runCloudctl(host, [
    'db',
    'migrate',
    cluster,
    '--source',
    `postgres://u@127.0.0.1:${await closedPort()}/d`,
  ]);
  expect([ran.code, ran.out]).toEqual([3, '']);
  expect(server.seen.filter(({ url }) => url.includes('online-migration'))).toEqual([]);
});

describe('the version of the target', () => {
  const words = async (cluster: string, engine: 'pg' | 'redis', ...more: readonly string[]) => {
    const port = await closedPort();
    const source = engine === 'pg' ? `postgres://u@127.0.0.1:${port}/d` : `redis://127.0.0.1:${port}`;
    return ['db', 'migrate', cluster, '--source', source, '--allow-private', ...more];
  };

  it('is that of the cluster', async () => {
    const { host, pg, redis } = await sandboxed();
    for (const [engine, cluster, version] of [
      ['pg', pg, '17'],
      ['redis', redis, 'redis-7'],
    ] as const) {
      const file = join(host.place.work, `${engine}.json`);
      const ran = await runCloudctl(host, await words(cluster, engine, '--report', file));
      expect(ran).toMatchObject({ code: 3, out: '' });
      expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ target: { version } });
    }
  });

  it.each([
    { what: 'PostgreSQL', engine: 'pg', version: '16', code: 2 },
    { what: 'the same PostgreSQL', engine: 'pg', version: '17.4', code: 3 },
    { what: 'Valkey', engine: 'redis', version: 'valkey-7', code: 2 },
    { what: 'another release of Redis', engine: 'redis', version: '8.0', code: 2 },
    { what: 'the same Redis', engine: 'redis', version: 'redis-7.2', code: 3 },
  ] as const)(
    '$what: a --target-version that contradicts the cluster is refused',
    async ({ engine, version, code }) => {
      const { host, ...clusters } = await sandboxed();
      const ran = await runCloudctl(host, await words(clusters[engine], engine, '--target-version', version));
      expect(ran).toMatchObject({ code, out: '' });
      if (code === 2) expectGolden('db-migrate', ran.err.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'UUID'));
    },
  );

  describe.skipIf(lacks('valkey-server'))('of a Valkey that was read', () => {
    const listing = (engine: string, version: string) =>
      serverFor((seen, response) =>
        seen.url === '/v2/databases' || seen.url.startsWith('/v2/databases?')
          ? reply(response, 200, { databases: [{ id: cluster, name: 'cache', engine, version }], meta: { total: 1 } })
          : reply(response, 404, { id: 'not_found', message: 'none' }),
      );

    it.each([
      { what: 'is that of a cluster that the service calls redis', engine: 'redis', more: [], code: 3 },
      { what: 'is that of a cluster that it calls valkey', engine: 'valkey', more: [], code: 3 },
      { what: 'may be typed too', engine: 'redis', more: ['--target-version', 'valkey-8'], code: 3 },
      { what: 'is not that of another cluster', engine: 'valkey', listed: '7.2.0', more: [], code: 2 },
      {
        what: 'is not that of another cluster, by variable',
        engine: 'redis',
        listed: '7.2.0',
        by: 'variable',
        code: 2,
      },
    ])('$what', async ({ engine, listed, more = [], by, code }) => {
      const valkey = await startRedis({ program: 'valkey' });
      onTestFinished(() => valkey.stop());
      const version = /valkey_version:(\S+)/.exec(valkey.cli('INFO', 'server'))?.[1] ?? '';
      const { origin } = await listing(engine, listed ?? version);
      const url = `redis://127.0.0.1:${valkey.port}`;
      const host = dbTestHost({
        CLOUDCTL_BASE_URL: origin,
        CLOUDCTL_ACCESS_TOKEN: 'token',
        ...(by === 'variable' ? { CLOUDCTL_TARGET: url } : {}),
      });
      const file = join(host.place.work, 'report.json');
      const to = by === 'variable' ? [] : ['--target', url];
      const ran = await runCloudctl(host, await words(cluster, 'redis', '--report', file, ...to, ...more));
      expect(ran).toMatchObject({ code, out: '' });
      if (code === 2) expectGolden('db-migrate', ran.err.replaceAll(version, '8.N.N'));
      else expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ target: { version: `valkey-${version}` } });
    });
  });

  it('is asked for where the service has no list of clusters', async () => {
    const server = await serverFor((_seen, response) => reply(response, 404, { id: 'not_found', message: 'none' }));
    const host = dbTestHost({ CLOUDCTL_BASE_URL: server.origin, CLOUDCTL_ACCESS_TOKEN: 'token' });
    const file = join(host.place.work, 'report.json');
    await runCloudctl(host, await words(cluster, 'pg', '--report', file));
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ verdict: 'blocked', target: {} });
  });
});

describe('--deep', () => {
  it.each([
    ['with a preflight that is skipped', 'postgres', ['--deep', '--skip-preflight']],
    ['as a rate alone', 'postgres', ['--deep-rate', '10']],
    ['with a rate of zero', 'postgres', ['--deep', '--deep-rate', '0']],
    ['with Redis', 'redis', ['--deep']],
  ])('%s is refused before source and service are asked', async (_what, engine, options) => {
    const { seen, host } = await service();
    const source = await countingSource();
    const words = ['db', 'migrate', cluster, '--source', `${engine}://u@127.0.0.1:${source.port}`, ...options];
    expect(await runCloudctl(host, words)).toMatchObject({ code: 2, out: '' });
    expect([seen.length, source.asked()]).toEqual([0, 0]);
  });
});

describe('the rules of a migration', () => {
  /** The rules of the specification for the time of a migration (4.6), and that of DDL, as the lines of a list. */
  async function rulesAfter(answer: Parameters<typeof serverFor>[0]): Promise<readonly string[]> {
    const server = await serverFor(answer);
    const host = dbTestHost({ CLOUDCTL_BASE_URL: server.origin, CLOUDCTL_ACCESS_TOKEN: 'token' });
    const source = ['--source', 'postgres://u@db.example.com/shop', '--skip-preflight'];
    const { err } = await runCloudctl(host, ['db', 'migrate', cluster, ...source]);
    return err.split('\n').filter((line) => line.startsWith('  do not '));
  }

  it.each<[string, Parameters<typeof serverFor>[0]]>([
    ['a whole answer', (_seen, response) => reply(response, 200, { id: 'm1', status: 'running' })],
    ['an answer without a body', (seen, response) => void response.writeHead(seen.method === 'PUT' ? 204 : 404).end()],
    ['a body of another form', (_seen, response) => reply(response, 202, { accepted: true })],
    ['a lost answer', (_seen, response) => void response.destroy()],
    ['a refusal, because the request was sent', (_seen, response) => reply(response, 422, { id: 'x', message: 'no' })],
  ])('the rules are printed after %s', async (_what, answer) => {
    expect(await rulesAfter(answer)).toHaveLength(4);
  });

  it('they are not printed when nothing was sent', async () => {
    const host = dbTestHost({
      CLOUDCTL_BASE_URL: `http://127.0.0.1:${await closedPort()}`,
      CLOUDCTL_ACCESS_TOKEN: 'token',
    });
    const source = ['--source', 'postgres://u@db.example.com/shop', '--skip-preflight'];
    const ran = await runCloudctl(host, ['db', 'migrate', cluster, ...source]);
    expect([ran.code, ran.err.split('\n').filter((line) => line.startsWith('  do not '))]).toEqual([6, []]);
  });
});
