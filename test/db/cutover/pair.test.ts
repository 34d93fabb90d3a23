import { execFileSync } from 'node:child_process';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPair } from '../../../src/db/cutover/check.ts';
import type { Pair } from '../../../src/db/cutover/pair.ts';
import { readLock } from '../../../src/db/cutover/postgresql/fence.ts';
import type { Postgres } from '../../fixtures/postgres.ts';
import { eventually, startRedis } from '../../fixtures/redis.ts';
import {
  beginMigration,
  makePostgresJob,
  postgresEndpointOf,
  redisEndpointOf,
  startSource,
  startTarget,
  waitForState,
} from '../engine/servers.ts';

const { signal } = new AbortController();
let source: Postgres;
let target: Postgres;
beforeAll(async () => {
  [source, target] = await Promise.all([startSource({ version: 17 }), startTarget({ version: 18 })]);
  await source.query('ALTER SYSTEM SET autovacuum = off');
  await source.query('SELECT pg_reload_conf()');
});
afterAll(() => Promise.all([source?.stop(), target?.stop()]));

const shop = (server: Postgres, username = 'postgres') =>
  ({ engine: 'postgresql', source: postgresEndpointOf(server, { dbname: 'shop', username }) }) as const;

test('the target says in one observation what it has received, and what is missing', async () => {
  await source.query('CREATE DATABASE shop');
  await source.query('CREATE TABLE t (id serial PRIMARY KEY, note text)', 'shop');
  await source.query("INSERT INTO t (note) SELECT 'x' FROM generate_series(1, 100)", 'shop');
  const migration = beginMigration(
    makePostgresJob(postgresEndpointOf(source), postgresEndpointOf(target), { ignoreDbs: ['postgres'] }),
  );
  await waitForState(migration, ({ status }) => status === 'syncing');
  const pair = await openPair(shop(source), shop(target), { ignoreDbs: ['postgres'], signal });
  try {
    await received(pair);
    const [{ subname }] = (await target.query('SELECT subname FROM pg_subscription', 'shop')) as [{ subname: string }];
    await target.query(`ALTER SUBSCRIPTION "${subname}" DISABLE`, 'shop');
    await eventually(
      async () => (await pair.look()).delivery.observed === 'shop: the subscription of the target is disabled',
      'the disabled subscription',
    );
    await source.query("INSERT INTO t (note) VALUES ('y')", 'shop');
    expect((await pair.look()).delivery.state).toBe('behind');
    await target.query(`ALTER SUBSCRIPTION "${subname}" ENABLE`, 'shop');
    await received(pair);

    const work = await pair.sequences();
    expect(work.differences).toEqual(['shop: public.t_id_seq']);
    await pair.setSequences(work);
    expect(await pair.sequences()).toEqual({ differences: [], ahead: [], statements: new Map() });

    expect([...(await pair.leftovers())].sort()).toEqual([
      expect.stringMatching(/^publication cloudctl_\S+ in shop\b/),
      expect.stringMatching(/^replication slot cloudctl_\S+ in shop\b/),
    ]);
    migration.stop();
    await migration.ended;
    expect(await pair.leftovers()).toEqual([]);
    expect((await pair.look()).delivery.state).toBe('unseen');
  } finally {
    await pair.close();
  }
});

test('a user without pg_read_all_stats sees that a transaction has not ended', async () => {
  await source.query("CREATE ROLE plain LOGIN PASSWORD 'secret'");
  const pair = await openPair(shop(source, 'plain'), shop(target), { ignoreDbs: ['postgres'], signal });
  const writer = new pg.Client({
    host: source.host,
    port: source.ownPort,
    user: 'postgres',
    password: 'secret',
    database: 'shop',
  });
  try {
    await writer.connect();
    expect((await pair.look()).activity.open).toEqual([]);
    await writer.query("BEGIN; INSERT INTO t (note) VALUES ('open')");
    expect((await pair.look()).activity.open).toEqual([expect.stringMatching(/^pid \d+ postgres$/)]);
  } finally {
    await writer.end();
    await pair.close();
  }
});

test('the printed fence keeps the application out, spares this program, and its undo restores what was stored', async () => {
  await source.query(`CREATE DATABASE "it's; a ""shop"""`);
  await source.query(`ALTER DATABASE "it's; a ""shop""" SET default_transaction_read_only = off`);
  const dbname = `it's; a "shop"`;
  await source.query('CREATE TABLE t (id int)', dbname);
  const server = {
    engine: 'postgresql',
    source: postgresEndpointOf(source, { dbname: 'shop', port: source.ownPort }),
  } as const;
  await target.query('CREATE DATABASE again');
  const pair = await openPair(server, shop(target), { ignoreDbs: ['postgres'], signal });
  const env = { PATH: process.env.PATH, PGPASSWORD: source.password, PGSSLMODE: 'disable' };
  try {
    const application = new pg.Client({
      host: source.host,
      port: source.ownPort,
      user: 'postgres',
      password: 'secret',
      database: dbname,
    });
    application.on('error', () => {});
    await application.connect();
    expect((await pair.look()).sessions).toEqual([expect.stringMatching(/^pid \d+ postgres .*in it's; a "shop"$/)]);
    const fence = await pair.fence();
    if (typeof fence === 'string') throw new Error(fence);
    for (const command of fence.commands) execFileSync('sh', ['-c', command], { env });
    await expect(source.query('INSERT INTO t VALUES (1)', dbname)).rejects.toThrow('read-only');
    await eventually(async () => (await pair.look()).sessions.length === 0, 'the end of the application');
    expect(await readLock(server.source, { ignoreDbs: ['postgres'], signal })).toMatchObject({
      databases: expect.arrayContaining([dbname, 'shop']),
    });
    // The next run finds the fence as the stored value, and must not print an undo that keeps it.
    const next = await pair.fence();
    if (typeof next === 'string') throw new Error(next);
    for (const command of next.undo) execFileSync('sh', ['-c', command], { env });
    await source.query('INSERT INTO t VALUES (1)', dbname);
    expect(await readLock(server.source, { ignoreDbs: ['postgres'], signal })).toBeUndefined();
    for (const command of [...fence.commands, ...fence.undo]) execFileSync('sh', ['-c', command], { env });
    await source.query('INSERT INTO t VALUES (1)', dbname);
    const stored = await source.query(
      'SELECT d.datname, s.setconfig::text FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase',
    );
    expect(stored).toEqual([{ datname: dbname, setconfig: '{default_transaction_read_only=off}' }]);
  } finally {
    await pair.close();
  }
});

test('a Redis target says what it has received, and CLIENT PAUSE keeps writers out but not this program', async () => {
  const [from, to] = await Promise.all([startRedis(), startRedis()]);
  const servers = [from, to].map((server) => ({ engine: 'redis', source: redisEndpointOf(server) }) as const);
  const pair = await openPair(servers[0]!, servers[1]!, { ignoreDbs: [], signal });
  try {
    expect((await pair.look()).delivery.state).toBe('unseen');
    to.cli('REPLICAOF', from.host, String(from.port));
    from.cli('SET', 'a', '1');
    await received(pair);
    expect(await pair.leftovers()).toHaveLength(1);
    const fence = await pair.fence();
    if (typeof fence === 'string') throw new Error(fence);
    for (const command of fence.commands) execFileSync('sh', ['-c', command]);
    const { activity } = await pair.look();
    expect(() =>
      execFileSync('redis-cli', ['-p', String(from.port), 'SET', 'a', '2'], { timeout: 1000, stdio: 'ignore' }),
    ).toThrow();
    expect((await pair.look()).activity).toEqual(activity);
    for (const command of fence.undo) execFileSync('sh', ['-c', command]);
    expect(from.cli('SET', 'a', '3')).toBe('OK');
    to.cli('REPLICAOF', 'NO', 'ONE');
    expect(await pair.leftovers()).toEqual([]);
  } finally {
    await pair.close();
    await Promise.all([from.stop(), to.stop()]);
  }
});

const received = (pair: Pair) =>
  eventually(async () => (await pair.look()).delivery.state === 'received', 'the delivery');
