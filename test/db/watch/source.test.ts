import { expect, it, onTestFinished, vi } from 'vitest';
import { closedPort, freePort } from '../../../scripts/free-port.mjs';
import { observeBefore, pollSource, type WatchedSource } from '../../../src/db/watch/source.ts';
import { ready, startPostgres } from '../../fixtures/postgres.ts';
import { startRedis } from '../../fixtures/redis.ts';
import { startWatchRun, watchedPostgres, watchedRedis } from './run-watch.ts';

const nowhere = async () => ({ host: '127.0.0.1', port: await closedPort(), password: 'p' });

it.each([
  ['PostgreSQL', async () => watchedPostgres(await nowhere(), 'shop')],
  ['Redis', async () => watchedRedis(await nowhere())],
])('a look that did not reach a %s source tells the reason by itself', async (_engine, source) => {
  const watch = startWatchRun(await source());
  await watch.until('a look', () => true);
  expect(watch.looks[0]).toMatchObject({ reached: false, outage: expect.stringMatching(/^connection refused/) });
});

it('a clock that is set back while it looks makes no pause longer', async () => {
  const end = new AbortController();
  let now = 10 * 3_600_000;
  const pauses: number[] = [];
  const clock = {
    now: () => {
      now -= 3_600_000;
      return now;
    },
    sleep: async (ms: number) => {
      pauses.push(ms);
      end.abort();
    },
  };
  const looks = pollSource(watchedRedis(await nowhere()), 2000, { clock, signal: end.signal });
  for await (const looked of looks) expect(looked.reached).toBe(false);
  expect(pauses).toEqual([2000]);
});

vi.setConfig({ testTimeout: 60_000 });

const observe = (watched: WatchedSource, ignoreDbs: readonly string[] = []) =>
  observeBefore(watched, {
    ignoreDbs,
    now: Date.now,
    limit: 5000,
    signal: new AbortController().signal,
  });

it('a PostgreSQL source gives its slots and a baseline of every database, without secrets of host rules', async () => {
  const server = await startPostgres({
    version: 16,
    settings: ready,
    hba: [
      'host all all 0.0.0.0/0 scram-sha-256',
      'host all other 10.0.0.1/32 radius radiusservers=127.0.0.1 radiussecrets="""hunter 2"""',
    ],
  });
  await server.query("SELECT pg_create_logical_replication_slot('cdc', 'pgoutput')");
  await server.query('CREATE DATABASE shop');
  await server.query('CREATE DATABASE ignored');
  await server.query("ALTER DATABASE shop SET statement_timeout = '9h'");
  await server.query("ALTER ROLE postgres IN DATABASE shop SET lock_timeout = '9h'");
  await server.query(
    'CREATE TABLE "or ders" (id int, tenant int, note varchar(9), PRIMARY KEY (tenant, id)); CREATE PUBLICATION theirs FOR ALL TABLES',
    'shop',
  );
  const { slots, baseline, failure } = await observe(watchedPostgres(server, 'postgres'), ['ignored']);
  expect([slots, failure]).toEqual([['cdc'], undefined]);
  expect([...(baseline?.databases.keys() ?? [])].sort()).toEqual(['postgres', 'shop']);
  expect(baseline?.databases.get('shop')).toMatchObject({
    publications: ['theirs'],
    tables: new Map([
      [
        'public.or ders',
        expect.objectContaining({
          identity: 'd',
          keyColumns: ['id', 'tenant'],
          hasReplicaIdentity: true,
          columnShapes: [
            { name: 'id', type: 'integer', notNull: true },
            { name: 'tenant', type: 'integer', notNull: true },
            { name: 'note', type: 'character varying(9)', notNull: false },
          ],
        }),
      ],
    ]),
  });
  expect(baseline?.role).toMatchObject({ name: 'postgres', superuser: true });
  expect(baseline?.role?.timeouts).toEqual([
    { setting: 'lock_timeout=9h', isOfRole: true, database: 'shop' },
    { setting: 'statement_timeout=9h', isOfRole: false, database: 'shop' },
  ]);
  expect(baseline?.hbaRuleLines?.filter((line) => line.startsWith('host'))).toHaveLength(2);
  expect(JSON.stringify(baseline?.hbaRuleLines)).not.toContain('hunter');
});

it('more databases than sessions are all read', async () => {
  const server = await startPostgres({ version: 17, settings: ready });
  for (let at = 0; at < 12; at += 1) await server.query(`CREATE DATABASE d${at}`);
  expect((await observe(watchedPostgres(server, 'postgres'))).baseline?.databases.size).toBe(13);
});

it('replicas of a Redis source are listed', async () => {
  const [source, replica] = await Promise.all([startRedis(), startRedis()]);
  onTestFinished(async () => void (await Promise.all([source.stop(), replica.stop()])));
  source.cli('SET', 'k', 'v');
  expect(await observe(watchedRedis(source))).toMatchObject({ slots: [], runKeys: { keys: 1 } });
  replica.cli('REPLICAOF', source.host, String(source.port));
  await expect.poll(() => observe(watchedRedis(source))).toMatchObject({ slots: [`127.0.0.1:${replica.port}`] });
});

it('an unreachable source has a reason, and does not prevent the start', async () => {
  const nowhere = { host: '127.0.0.1', port: await freePort(), password: 'x' };
  expect(await observe(watchedPostgres(nowhere, 'shop'))).toEqual({ failure: expect.stringContaining('refused') });
  expect((await observe(watchedRedis(nowhere))).failure).toBeTypeOf('string');
});
