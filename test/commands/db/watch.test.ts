import { expect, it, onTestFinished } from 'vitest';
import { closedPort } from '../../../scripts/free-port.mjs';
import { formatSourceName, pathOfRecord, type WatchRecord, writeRecord } from '../../../src/db/watch/record.ts';
import { reply, serverFor } from '../../fixtures/fake-server.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { ready, startPostgres } from '../../fixtures/postgres.ts';
import { type RedisServer, startRedis } from '../../fixtures/redis.ts';
import { startCloudctl } from '../run-cloudctl.ts';
import { dbTestHost } from './test-source.ts';

it('a watch that was to end by itself is come back to with the same words', async () => {
  const source = await startRedis();
  onTestFinished(() => source.stop());
  const address = `redis://${source.host}:${source.port}`;
  const watch = startCloudctl(dbTestHost(), ['db', 'watch', '--source', address, '--until-idle']);
  await watch.waitForOutput(/waiting/);
  watch.host.signal('SIGINT');
  const ran = await watch.ended;
  expect(ran.code).toBe(130);
  expect(ran.err).toContain(`cloudctl db watch --source ${address} --until-idle\``);
  expectGolden('db-watch', ran.err.replaceAll(address, 'SOURCE'));
});

it('a terminal that was closed ends a watch as it ends every command', async () => {
  const source = await startRedis();
  onTestFinished(() => source.stop());
  const watch = startCloudctl(dbTestHost(), ['db', 'watch', '--source', `redis://${source.host}:${source.port}`]);
  await watch.waitForOutput(/waiting/);
  watch.host.signal('SIGHUP');
  expect((await watch.ended).code).toBe(129);
});

it.each(['redis', 'postgres'])('the first look at a %s source that cannot be entered says why', async (scheme) => {
  const address = `${scheme}://mover@127.0.0.1:${await closedPort()}/0`;
  const ran = await startCloudctl(dbTestHost(), ['db', 'watch', '--source', address, '--disable-ssl']).ended;
  expect(ran).toMatchObject({ code: 3, out: '' });
  expectGolden('db-watch', ran.err.replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:PORT'));
});

it('a typo in the own password ends the watch of a migration that is recorded, and blames nothing else', async () => {
  const source = await startPostgres({ version: 17, settings: ready });
  onTestFinished(() => source.stop());
  const host = dbTestHost({ PGPASSWORD: 'wrong' });
  const address = { engine: 'postgresql', host: source.host, port: source.port, dbname: 'postgres' } as const;
  const slots = [{ name: 'cloudctl_m_1', database: 'postgres' }];
  const record = { engine: 'postgresql', source: formatSourceName(address), slots } as const;
  writeRecord(pathOfRecord(host.folders.state, address), record);
  const url = `postgres://postgres@${source.host}:${source.port}/postgres`;
  const ran = await startCloudctl(host, ['db', 'watch', '--source', url, '--disable-ssl', '--until-idle']).ended;
  expect([ran.code, ran.out]).toEqual([3, '']);
  expectGolden('db-watch', ran.err.replaceAll(`${source.host}:${source.port}`, 'SOURCE'));
});

const words = (source: RedisServer, ...more: readonly string[]) => [
  ...['db', 'watch', '--source', `redis://${source.host}:${source.port}`],
  ...['--interval', '1s', '--until-idle', ...more],
];

async function redis(): Promise<RedisServer> {
  const server = await startRedis();
  onTestFinished(() => server.stop());
  return server;
}

it('a replica of somebody else proves nothing, until --slot names it', { timeout: 90_000 }, async () => {
  const [source, other] = [await redis(), await redis()];
  other.cli('REPLICAOF', source.host, String(source.port));
  const name = `${other.host}:${other.port}`;
  const ran = await startCloudctl(dbTestHost(), words(source, '-o', 'json')).ended;
  expect(ran.code).toBe(5);
  expect(ran.json()).toMatchObject({ phase: 'streaming', identified_by: { grade: 'assumed', candidates: [name] } });
  expect(ran.error()).toMatchObject({ code: 'not_proven', hint: expect.stringContaining(`--slot ${name} `) });
  expect(ran.err).not.toContain('db cutover');
  const named = await startCloudctl(dbTestHost(), words(source, '--slot', name)).ended;
  expect([named.code, named.out]).toEqual([0, expect.stringContaining('--slot (proven)')]);
});

const cluster = '3b643ad7-65aa-4066-b45b-1c64b6db600a';

/** A machine that has recorded a migration of a source, and a service that shows it with this id and status. */
async function recordedMigration(source: RedisServer, shown: { id?: string; status?: string; code?: number }) {
  const service = await serverFor((_request, response) =>
    reply(response, shown.code ?? 200, { status: 'syncing', id: 'm', ...shown }),
  );
  const host = dbTestHost({ CLOUDCTL_BASE_URL: service.origin, CLOUDCTL_ACCESS_TOKEN: 'a-token' });
  const address = { engine: 'redis', host: source.host, port: source.port } as const;
  const record = (more: Partial<WatchRecord>) =>
    writeRecord(pathOfRecord(host.folders.state, address), {
      ...{ engine: 'redis', source: formatSourceName(address), before: [] },
      started: { at: Date.now(), cluster, id: 'm', identity: {} },
      ...more,
    });
  record({});
  return { host, record };
}

it.each([
  ['shows it', {}, 0, undefined],
  ['shows another one', { id: 'another' }, 5, 'not_proven'],
  ['shows that it failed', { status: 'error' }, 1, 'api_error'],
  ['shows none', { code: 404 }, 5, 'not_proven'],
] as const)('the only new replica while the service %s', { timeout: 90_000 }, async (_what, shown, code, error) => {
  const [source, target] = [await redis(), await redis()];
  const { host } = await recordedMigration(source, shown);
  target.cli('REPLICAOF', source.host, String(source.port));
  const ran = await startCloudctl(host, words(source)).ended;
  expect([ran.code, ran.err]).toEqual([code, expect.stringContaining(error === undefined ? 'db cutover' : 'error: ')]);
  if (error === undefined) expect(ran.out).toContain('(inferred)');
});

it('a new replica does not inherit the place of the target', { timeout: 90_000 }, async () => {
  const [source, other] = [await redis(), await redis()];
  const { host, record } = await recordedMigration(source, {});
  record({ slots: [{ name: '127.0.0.1:1', database: '', grade: 'inferred', by: 'x' }] });
  other.cli('REPLICAOF', source.host, String(source.port));
  const ran = await startCloudctl(host, words(source, '-o', 'json')).ended;
  expect(ran.code).toBe(5);
  expect(ran.json()).toMatchObject({ phase: 'stalled', databases: [{ slot: '127.0.0.1:1' }] });
  expect(ran.error().hint).toContain(`--slot ${other.host}:${other.port}`);
});
