import { describe, expect, onTestFinished, test } from 'vitest';
import { cleanUpFromJournal } from '../../../src/engine/clean-up-from-journal.ts';
import { createMemoryJournal } from '../../../src/engine/migration-journal.ts';
import { Secret } from '../../../src/secret.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { lacks } from '../../fixtures/needs.ts';
import { type RedisOptions, startRedis } from '../../fixtures/redis.ts';
import {
  beginMigration,
  makeRedisJob,
  redisEndpointOf,
  shortEngineLimits,
  testEngineDependencies,
  waitForState,
  waitUntil,
} from '../engine-servers.ts';

async function server(options: RedisOptions = {}) {
  const one = await startRedis(options);
  onTestFinished(() => one.stop());
  return one;
}

const users = [
  'user default on >de\'f"ault~p ~* &* +@all',
  'user mover on >mo"ver\\word ~* &* +psync +replconf +ping +info',
];

describe.skipIf(lacks('redis-server', 'valkey-server'))('a Redis migration', () => {
  test('fills the target, follows what is written, and leaves it alone with its keys and its settings when it is stopped', async () => {
    const source = await server({ acl: users });
    const target = await server({ program: 'valkey', config: ['masteruser before', 'masterauth "was there"'] });
    const speak = (...words: readonly string[]) => source.cli('--no-auth-warning', '-a', `de'f"ault~p`, ...words);
    speak('SET', 'a', '1');
    speak('-n', '3', 'SET', 'b', '2');
    const door = redisEndpointOf(source, { username: 'mover', password: new Secret('mo"ver\\word') });
    const migration = beginMigration(makeRedisJob(door, redisEndpointOf(target)));
    await waitForState(migration, ({ status, databases }) => status === 'syncing' && databases.length === 2);
    speak('-n', '3', 'SET', 'c', 'later');
    await waitUntil(async () => target.cli('-n', '3', 'GET', 'c') === 'later', 'the key');
    await waitForState(migration, ({ databases }) => databases[1]?.tables[0]?.rows === 2);
    expect(migration.state()).toMatchObject({
      status: 'syncing',
      method: 'continuous',
      databases: [
        { name: 'db0', phase: 'streaming', tables: [{ name: 'keys', stage: 'r', rows: 1 }] },
        { name: 'db3', phase: 'streaming', tables: [{ name: 'keys', stage: 'r', rows: 2 }] },
      ],
    });
    expect(await migration.stop()).toEqual([]);
    expect(await migration.ended).toMatchObject({ status: 'canceled', reason: 'stopped_by_user' });
    expect(target.cli('INFO', 'replication')).toContain('role:master');
    expect(target.cli('CONFIG', 'GET', 'masteruser')).toBe('masteruser\nbefore');
    expect(target.cli('CONFIG', 'GET', 'masterauth')).toBe('masterauth\nwas there');
    expect([target.cli('GET', 'a'), target.cli('-n', '3', 'GET', 'b')]).toEqual(['1', '2']);
    expect(target.log()).not.toContain('ver\\word');
  });

  test('goes over TLS unless the request says otherwise', async () => {
    const source = await server({ tls: true });
    // A replica trusts the authority that its own configuration names.
    const target = await server({ tls: true, config: [`tls-ca-cert-file ${source.ca?.file}`] });
    source.cli('SET', 'a', '1');
    const migration = beginMigration(
      makeRedisJob(redisEndpointOf(source, { ssl: 'require' }), redisEndpointOf(target, { ssl: 'require' })),
    );
    await waitForState(migration, ({ status }) => status === 'syncing');
    expect(target.cli('GET', 'a')).toBe('1');
    await migration.stop();
    expect(target.cli('CONFIG', 'GET', 'tls-replication')).toBe('tls-replication\nno');
  });

  test('ends with a reason when the target cannot replicate', async () => {
    const source = await server({ config: ['rename-command PSYNC ""', 'rename-command SYNC ""'] });
    const target = await server();
    const ports = testEngineDependencies({ limits: { ...shortEngineLimits, outageTimeout: 1500 } });
    const state = await beginMigration(makeRedisJob(redisEndpointOf(source), redisEndpointOf(target)), ports).ended;
    expect(state.status).toBe('error');
    expectGolden('db-migrate', state.reason ?? '');
    expect(target.cli('INFO', 'replication')).toContain('role:master');
  });

  test('refuses a target that contains keys', async () => {
    const [source, target] = await Promise.all([server(), server()]);
    target.cli('SET', 'mine', '1');
    const state = await beginMigration(makeRedisJob(redisEndpointOf(source), redisEndpointOf(target))).ended;
    expect(state.status).toBe('error');
    expectGolden('db-migrate', state.reason ?? '');
    expect(target.cli('GET', 'mine')).toBe('1');
  });

  test('of a source without a key follows it, and the first key arrives', async () => {
    const [source, target] = await Promise.all([server(), server()]);
    const migration = beginMigration(makeRedisJob(redisEndpointOf(source), redisEndpointOf(target)));
    const { databases } = await waitForState(migration, ({ status }) => status === 'syncing');
    expect(databases).toMatchObject([{ name: 'db0', phase: 'streaming', tables: [{ stage: 'r', rows: 0 }] }]);
    source.cli('-n', '3', 'SET', 'first', '1');
    await waitUntil(async () => target.cli('-n', '3', 'GET', 'first') === '1', 'the key');
    await migration.stop();
  });

  test('refuses a target with too few databases, which would end it', async () => {
    const [source, target] = await Promise.all([server(), server({ config: ['databases 1'] })]);
    source.cli('-n', '3', 'SET', 'a', '1');
    const state = await beginMigration(makeRedisJob(redisEndpointOf(source), redisEndpointOf(target))).ended;
    expect(state.status).toBe('error');
    expectGolden('db-migrate', state.reason ?? '');
    expect(target.cli('PING')).toBe('PONG');
    source.cli('-n', '3', 'DEL', 'a');
    const migration = beginMigration(makeRedisJob(redisEndpointOf(source), redisEndpointOf(target)));
    await waitForState(migration, ({ status }) => status === 'syncing');
    await migration.stop();
  });

  test('is done when nothing was left to replicate for a minute of the virtual clock', async () => {
    const [source, target] = await Promise.all([server(), server()]);
    source.cli('SET', 'a', '1');
    let now = 0;
    const migration = beginMigration(
      makeRedisJob(redisEndpointOf(source), redisEndpointOf(target), { finishWhenIdle: true }),
      testEngineDependencies({ now: () => now }),
    );
    await waitForState(migration, ({ status }) => status === 'syncing');
    source.cli('SET', 'b', '2');
    const clock = setInterval(() => {
      now += 60_000;
    }, 300);
    expect(await migration.ended).toMatchObject({ status: 'done' });
    clearInterval(clock);
    expect(target.cli('GET', 'b')).toBe('2');
    expect(target.cli('INFO', 'replication')).toContain('role:master');
  });

  test('that was cut off by the end of its process is ended by the next one, from the journal', async () => {
    const [source, target] = await Promise.all([server(), server()]);
    source.cli('SET', 'a', '1');
    const journal = createMemoryJournal();
    const migration = beginMigration(
      makeRedisJob(redisEndpointOf(source), redisEndpointOf(target)),
      testEngineDependencies({ journal }),
    );
    await waitForState(migration, ({ status }) => status === 'syncing');
    const left = createMemoryJournal();
    for (const entry of journal.pending()) left.recordIntent(entry);
    expect(await cleanUpFromJournal(testEngineDependencies({ journal: left }))).toEqual([]);
    expect(left.pending()).toEqual([]);
    expect(target.cli('INFO', 'replication')).toContain('role:master');
    await migration.stop();
  });
});
