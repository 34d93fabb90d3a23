import { afterAll, beforeAll, expect, test } from 'vitest';
import { managedSourceMessage } from '../../../src/db/engine/error.ts';
import { objectsOn, startSource, startTarget, subscriptionsOn, waitUntil } from '../../db/engine/servers.ts';
import { lacks } from '../../fixtures/needs.ts';
import type { Postgres } from '../../fixtures/postgres.ts';
import { startRedis } from '../../fixtures/redis.ts';
import { admin, callApi, MAYA, sandboxFor, send, signIn, submit, tokenFor } from '../requests.ts';

let source: Postgres;
let target: Postgres;
beforeAll(async () => {
  [source, target] = await Promise.all([startSource(), startTarget()]);
});
afterAll(() => Promise.all([source.stop(), target.stop()]));

test.skipIf(lacks('valkey-server'))('a cluster on a Valkey is listed as one', async () => {
  const valkey = await startRedis({ program: 'valkey' });
  try {
    const sandbox = await sandboxFor({ clusters: [{ name: 'cache', url: `redis://127.0.0.1:${valkey.port}` }] });
    const { access_token } = await tokenFor(sandbox);
    const { databases } = JSON.parse((await callApi(sandbox, access_token, 'GET', '/v2/databases')).body);
    const version = /valkey_version:(\S+)/.exec(valkey.cli('INFO', 'server'))?.[1];
    expect(databases).toContainEqual(expect.objectContaining({ name: 'cache', engine: 'valkey', version }));
  } finally {
    await valkey.stop();
  }
});

async function openFixture(more: object = {}) {
  const url = `postgres://postgres:${target.password}@127.0.0.1:${target.port}/postgres?sslmode=disable`;
  const sandbox = await sandboxFor({ clusters: [{ name: 'orders', url }], ...more });
  const { access_token } = await tokenFor(sandbox, { scope: 'read write' });
  const cluster = sandbox.ready.clusters.find(({ name }) => name === 'orders');
  const path = `/v2/databases/${cluster?.uuid}/online-migration`;
  const ask = async (method: string, body?: object) => {
    const answer = await callApi(sandbox, access_token, method, path, body);
    return { status: answer.status, json: answer.body === '' ? undefined : JSON.parse(answer.body) };
  };
  const begin = async (database: string, setup: string) => {
    for (const server of [source, target]) await server.query(`DROP DATABASE IF EXISTS ${database}`);
    await source.query(`CREATE DATABASE ${database}`);
    await source.query(setup, database);
    const others = await source.query(`SELECT datname FROM pg_database WHERE datname <> '${database}'`);
    const connection = { host: '127.0.0.1', port: source.port, dbname: database, username: 'postgres' };
    return ask('PUT', {
      source: { ...connection, password: source.password },
      disable_ssl: true,
      ignore_dbs: others.map(({ datname }) => datname),
    });
  };
  const waitForStatus = async (status: string) => {
    await waitUntil(async () => (await ask('GET')).json.status === status, status);
    return (await ask('GET')).json;
  };
  return { sandbox, cluster, ask, begin, waitForStatus };
}

test('a cluster with a data plane copies rows, and GET reports every database and table', async () => {
  const { cluster, ask, begin, waitForStatus } = await openFixture();
  expect(cluster).toMatchObject({
    data_plane: `127.0.0.1:${target.port}`,
    connection: { port: target.port },
    version: expect.stringMatching(/^17\./),
  });
  const begun = await begin(
    'shop',
    'CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t SELECT generate_series(1, 100)',
  );
  expect(begun).toMatchObject({ status: 200, json: { status: 'running' } });
  expect(await waitForStatus('syncing')).toMatchObject({
    data_plane: `127.0.0.1:${target.port}`,
    method: 'continuous',
    databases: [
      {
        name: 'shop',
        phase: 'streaming',
        tables_total: 1,
        tables_ready: 1,
        tables: [{ name: 'public.t', state: 'r' }],
      },
    ],
  });
  expect((await ask('DELETE')).status).toBe(204);
  expect((await ask('GET')).json).toMatchObject({ status: 'syncing', reason: 'stopped_by_user' });
  expect(await waitForStatus('canceled')).toMatchObject({
    reason: 'stopped_by_user',
    databases: [{ phase: 'stopped' }],
  });
  expect(await objectsOn(source)).toEqual([]);
  expect(await subscriptionsOn(target)).toEqual([]);
  expect(await target.query('SELECT count(*)::int AS n FROM t', 'shop')).toEqual([{ n: 100 }]);
});

test('a source that is a cluster of the sandbox is refused', async () => {
  const urlOf = (server: Postgres) =>
    `postgres://postgres:${server.password}@127.0.0.1:${server.port}/postgres?sslmode=disable`;
  const clusters = [
    { name: 'orders', url: urlOf(target) },
    { name: 'spare', url: urlOf(source) },
  ];
  const { ask } = await openFixture({ clusters });
  for (const host of ['127.0.0.1', 'localhost', `postgres://postgres@127.0.0.1:${source.port}/postgres`]) {
    const port = host.includes('://') ? {} : { port: source.port };
    const managed = { host, ...port, dbname: 'postgres', username: 'postgres', password: source.password };
    expect(await ask('PUT', { source: managed, disable_ssl: true })).toMatchObject({ status: 422 });
  }
  expect((await ask('GET')).status).toBe(404);
});

test('a cluster of the sandbox under another name is refused when it is reached, and stays as it is', async () => {
  const url = `postgres://postgres:${source.password}@127.0.0.1:${source.port}/postgres?sslmode=disable`;
  const targetUrl = `postgres://postgres:${target.password}@127.0.0.1:${target.port}/postgres?sslmode=disable`;
  const { ask, waitForStatus } = await openFixture({
    clusters: [
      { name: 'orders', url: targetUrl },
      { name: 'spare', url },
    ],
  });
  // An address of this machine that is not a loopback address by its text.
  const managed = { host: '0.0.0.0', port: source.port, dbname: 'postgres', username: 'postgres' };
  await ask('PUT', { source: { ...managed, password: source.password }, disable_ssl: true });
  expect(await waitForStatus('error')).toMatchObject({ reason: managedSourceMessage, databases: [] });
  expect(await objectsOn(source)).toEqual([]);
});

test('the panel shows each database and table, and stops the migration', async () => {
  const { sandbox, begin, waitForStatus } = await openFixture();
  await begin('panel', 'CREATE TABLE "<b>" (id int PRIMARY KEY); INSERT INTO "<b>" VALUES (1)');
  await waitForStatus('syncing');
  const cookie = await signIn(sandbox, MAYA);
  const page = await send(sandbox.ready.auth_url, '/panel/migrations', { headers: { cookie } });
  expect(page.body).toMatch(/<h3>panel<\/h3>\s*<ol class="phases">.*aria-current="step">streaming</);
  expect(page.body).toMatch(/<span>public\.&lt;b&gt;<\/span><\/th><td[^>]*><span>ready</);
  expect((await submit(sandbox, page, cookie, {})).status).toBe(303);
  await waitForStatus('canceled');
  expect(await objectsOn(source)).toEqual([]);
});

test('a migration stops two weeks after it started, and removes its objects', async () => {
  const { sandbox, begin, waitForStatus } = await openFixture();
  await begin('fortnight', 'CREATE TABLE t (id int PRIMARY KEY)');
  await waitForStatus('syncing');
  await admin(sandbox, 'POST', '/_sandbox/clock', { advance: 14 * 86_400_000 });
  expect(await waitForStatus('canceled')).toMatchObject({ reason: 'max_duration', stopped_at: expect.any(String) });
  expect(await objectsOn(source)).toEqual([]);
});

test('after DELETE the status does not say that it has ended while a materialized view is refreshed', async () => {
  const { begin, waitForStatus, ask } = await openFixture();
  await begin(
    'slow_view',
    'CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t VALUES (1); CREATE MATERIALIZED VIEW v AS SELECT count(*) AS n FROM t, pg_sleep(4)',
  );
  await waitForStatus('syncing');
  expect((await ask('DELETE')).status).toBe(204);
  await waitUntil(async () => (await ask('GET')).json.databases[0].phase === 'finishing', 'the view');
  const { status, stopped_at: stoppedAt } = (await ask('GET')).json;
  expect([status, stoppedAt]).toEqual(['syncing', undefined]);
  expect((await objectsOn(source)).length).toBeGreaterThan(0);
  // Another migration into the cluster waits, and a second DELETE changes nothing.
  const again = { host: '127.0.0.1', port: source.port, dbname: 'postgres', password: source.password };
  expect((await ask('PUT', { source: again, disable_ssl: true })).status).toBe(409);
  expect((await ask('DELETE')).status).toBe(204);
  expect(await waitForStatus('canceled')).toMatchObject({ stopped_at: expect.any(String) });
  expect(await objectsOn(source)).toEqual([]);
  expect(await target.query('SELECT n::int FROM v', 'slow_view')).toEqual([{ n: 1 }]);
});

test('a migration of which one of three databases has failed goes on until it is stopped', async () => {
  const { sandbox, waitForStatus, ask } = await openFixture();
  const table = 'CREATE TABLE t (id int PRIMARY KEY)';
  for (const name of ['one', 'two', 'three']) {
    await source.query(`CREATE DATABASE ${name}`);
    await source.query(table, name);
  }
  await target.query('CREATE DATABASE two');
  await target.query(table, 'two');
  const others = await source.query("SELECT datname FROM pg_database WHERE datname NOT IN ('one', 'two', 'three')");
  const connection = { host: '127.0.0.1', port: source.port, dbname: 'one', username: 'postgres' };
  await ask('PUT', {
    source: { ...connection, password: source.password },
    disable_ssl: true,
    ignore_dbs: others.map(({ datname }) => datname),
  });
  const phases = async () =>
    Object.fromEntries(
      (await ask('GET')).json.databases.map(({ name, phase }: { name: string; phase: string }) => [name, phase]),
    );
  const state = await waitForStatus('syncing');
  await waitUntil(async () => (await phases()).two === 'error', 'the failure');
  expect(await phases()).toEqual({ one: 'streaming', two: 'error', three: 'streaming' });
  expect(state.stopped_at).toBeUndefined();
  const cookie = await signIn(sandbox, MAYA);
  const page = await send(sandbox.ready.auth_url, '/panel/migrations', { headers: { cookie } });
  expect(page.body).toContain('/panel/migrations/stop');
  expect((await ask('DELETE')).status).toBe(204);
  await waitForStatus('canceled');
  expect(await phases()).toEqual({ one: 'stopped', two: 'error', three: 'stopped' });
  expect(await objectsOn(source)).toEqual([]);
});

test('with finishWhenIdle it is done after 60 s of the virtual clock without changes', async () => {
  const { sandbox, begin, waitForStatus, ask } = await openFixture({ finishWhenIdle: true });
  await begin('idle', 'CREATE TABLE t (id int PRIMARY KEY)');
  await waitForStatus('syncing');
  await source.query('INSERT INTO t VALUES (1)', 'idle');
  await waitUntil(async () => {
    await admin(sandbox, 'POST', '/_sandbox/clock', { advance: 60_000 });
    return (await ask('GET')).json.status === 'done';
  }, 'the end');
  expect(await target.query('SELECT id FROM t', 'idle')).toEqual([{ id: 1 }]);
  expect(await objectsOn(source)).toEqual([]);
});

test('a wrong password of the source ends the migration with the reason', async () => {
  const { ask, waitForStatus } = await openFixture();
  const wrong = {
    host: '127.0.0.1',
    port: source.port,
    dbname: 'postgres',
    username: 'postgres',
    password: 'Wr0ngWord',
  };
  expect((await ask('PUT', { source: wrong, disable_ssl: true })).status).toBe(200);
  const state = await waitForStatus('error');
  expect(state.reason).toMatch(/password/);
  expect(JSON.stringify(state)).not.toContain('Wr0ngWord');
});

test('a request with an invalid source is 422 and starts nothing', async () => {
  const { ask } = await openFixture();
  expect((await ask('PUT', { source: { host: 'db.example.com', dbname: 'a' } })).status).toBe(422);
  expect((await ask('GET')).status).toBe(404);
});

test('a data plane with a wrong password prevents the start, and the error does not contain the password', async () => {
  const url = `postgres://postgres:Wr0ngWord@127.0.0.1:${target.port}/postgres`;
  const start = sandboxFor({ clusters: [{ name: 'pg', url }] });
  await expect(start).rejects.toThrow(/\bpg\b/);
  await expect(start).rejects.not.toThrow('Wr0ngWord');
});

test('a cluster with a new name is added, and the other ids do not change', async () => {
  const url = `postgres://postgres:${target.password}@127.0.0.1:${target.port}/postgres`;
  const [plain, more] = await Promise.all([
    sandboxFor({ seed: 7 }),
    sandboxFor({ seed: 7, clusters: [{ name: 'pg', url }] }),
  ]);
  expect(more.ready.clusters.slice(0, 2)).toEqual(plain.ready.clusters);
  expect(more.ready.clusters[2]).toMatchObject({ name: 'pg', engine: 'postgresql' });
  expect(more.ready.client_id).toBe(plain.ready.client_id);
});

test('a sandbox that closes removes the objects of its migrations', async () => {
  const { sandbox, begin, waitForStatus } = await openFixture();
  await begin('closing', 'CREATE TABLE t (id int PRIMARY KEY)');
  await waitForStatus('syncing');
  await sandbox.close();
  expect(await objectsOn(source)).toEqual([]);
  expect(await subscriptionsOn(target)).toEqual([]);
});
