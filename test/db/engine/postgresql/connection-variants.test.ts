import { expect, test } from 'vitest';
import { Secret } from '../../../../src/base/secret.ts';
import { expectGolden } from '../../../fixtures/golden.ts';
import {
  beginMigration,
  makePostgresJob,
  objectsOn,
  postgresEndpointOf,
  shortEngineLimits,
  startSource,
  startTarget,
  testEngineDependencies,
  waitForState,
} from '../servers.ts';

const table = 'CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t VALUES (1)';

test('17 to 18 over TLS on IPv6, where the source lets nobody in without', async () => {
  const [source, target] = await Promise.all([
    startSource({
      version: 17,
      tls: true,
      settings: { listen_addresses: '*' },
      hba: ['hostssl all all ::1/128 scram-sha-256'],
    }),
    startTarget({ version: 18 }),
  ]);
  await source.query(table);
  const endpoint = postgresEndpointOf(source, { host: '::1', ssl: 'require' });
  const migration = beginMigration(makePostgresJob(endpoint, postgresEndpointOf(target)));
  await waitForState(migration, ({ status }) => status === 'syncing');
  expect(await target.query('SELECT id FROM t')).toEqual([{ id: 1 }]);
  expect(await source.query('SELECT DISTINCT s.ssl FROM pg_stat_ssl s JOIN pg_stat_replication r USING (pid)')).toEqual(
    [{ ssl: true }],
  );
  await migration.stop();
  const plain = beginMigration(
    makePostgresJob(postgresEndpointOf(source, { host: '::1' }), postgresEndpointOf(target)),
  );
  expect(await plain.ended).toMatchObject({ status: 'error', reason: expect.stringContaining('no encryption') });
});

test('a source that is newer than the target, or the same server, is refused before anything is created', async () => {
  const [older, newer] = await Promise.all([startTarget({ version: 16 }), startSource({ version: 17 })]);
  const down = await beginMigration(makePostgresJob(postgresEndpointOf(newer), postgresEndpointOf(older))).ended;
  expect(down.status).toBe('error');
  const self = await beginMigration(makePostgresJob(postgresEndpointOf(newer), postgresEndpointOf(newer))).ended;
  expect(self.status).toBe('error');
  expectGolden('db-migrate', `${down.reason?.replace(/\d+\.\d+/g, 'N.N')}\n${self.reason}`);
  expect(await objectsOn(newer)).toEqual([]);
});

test('a target without workers says so instead of waiting for ever', async () => {
  const [source, target] = await Promise.all([
    startSource(),
    startTarget({ settings: { max_logical_replication_workers: 2 } }),
  ]);
  await source.query('CREATE DATABASE second');
  const migration = beginMigration(makePostgresJob(postgresEndpointOf(source), postgresEndpointOf(target)));
  const state = await waitForState(
    migration,
    ({ databases }) =>
      databases.some(({ phase }) => phase === 'streaming') && databases.some(({ error }) => error !== undefined),
  );
  expect(state.reason).toContain('max_logical_replication_workers is 2');
  await migration.stop();
  expect(await objectsOn(source)).toEqual([]);
});

test('a transaction that is open on the source holds up the slot, and stopping leaves no statement that would make it later', async () => {
  const [source, target] = await Promise.all([startSource(), startTarget()]);
  await source.query(table);
  const blocker = source.query('BEGIN; INSERT INTO t VALUES (3); SELECT pg_sleep(4); COMMIT');
  blocker.catch(() => {});
  const migration = beginMigration(makePostgresJob(postgresEndpointOf(source), postgresEndpointOf(target)));
  await waitForState(migration, ({ databases }) => databases.some(({ phase }) => phase === 'connecting'));
  await new Promise((resolve) => setTimeout(resolve, 300));
  await migration.stop();
  expect(await objectsOn(source)).toEqual([]);
  await blocker;
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(await objectsOn(source)).toEqual([]);
});

test('two weeks of the virtual clock end it, whatever the real one says', async () => {
  const [source, target] = await Promise.all([startSource(), startTarget()]);
  let now = 0;
  const migration = beginMigration(
    makePostgresJob(postgresEndpointOf(source), postgresEndpointOf(target), { deadline: 1000 }),
    testEngineDependencies({ now: () => now }),
  );
  await waitForState(migration, ({ status }) => status === 'syncing');
  now = 1000;
  expect(await migration.ended).toMatchObject({ status: 'canceled', reason: 'max_duration' });
  expect(await objectsOn(source)).toEqual([]);
});

test('what is written right before the clock jumps past the idle minute is not lost', async () => {
  const [source, target] = await Promise.all([startSource(), startTarget()]);
  await source.query(table);
  let now = 0;
  const job = makePostgresJob(postgresEndpointOf(source), postgresEndpointOf(target), { finishWhenIdle: true });
  const migration = beginMigration(
    job,
    testEngineDependencies({ now: () => now, limits: { ...shortEngineLimits, pollInterval: 30 } }),
  );
  await waitForState(migration, ({ status }) => status === 'syncing');
  for (let id = 2; id < 12; id++) {
    await new Promise((resolve) => setTimeout(resolve, 150));
    await source.query(`INSERT INTO t VALUES (${id})`);
    if (id === 11) now += 60_000;
  }
  const late = setInterval(() => {
    now += 60_000;
  }, 500);
  expect(await migration.ended).toMatchObject({ status: 'done', reason: undefined });
  clearInterval(late);
  expect(await target.query('SELECT count(*)::int AS n FROM t')).toEqual([{ n: 11 }]);
  expect(await objectsOn(source)).toEqual([]);
});

test('a source that refuses the login ends the migration at once, without quoting the password', async () => {
  const target = await startTarget();
  const nobody = postgresEndpointOf(target, { port: 1, password: new Secret('s3cretWord') });
  expect(await beginMigration(makePostgresJob(nobody, postgresEndpointOf(target))).ended).toMatchObject({
    status: 'error',
  });
  const wrong = await beginMigration(
    makePostgresJob(postgresEndpointOf(target, { password: new Secret('s3cretWord') }), postgresEndpointOf(target)),
  ).ended;
  expect(wrong.reason).toContain('authentication failed');
  expect(wrong.reason).not.toContain('s3cretWord');
});
