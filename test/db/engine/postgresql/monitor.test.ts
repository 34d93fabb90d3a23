import { expect, test } from 'vitest';
import { emptyProgress, initialDatabase, recordOutage, snapshotProgress } from '../../../../src/db/engine/state.ts';
import { expectGolden } from '../../../fixtures/golden.ts';
import { useServerPair } from '../server-pair.ts';
import {
  beginMigration,
  copySimpleSchema,
  objectsOn,
  shortEngineLimits,
  testEngineDependencies,
  waitForState,
  waitUntil,
} from '../servers.ts';

const servers = useServerPair();
const table = 'CREATE TABLE t (id int PRIMARY KEY, name text); INSERT INTO t VALUES (1, $$one$$)';

test('a source that cannot be reached is a phase with a reason, until it can be reached', async () => {
  const { source, fresh, job } = servers();
  await fresh('away', table);
  const migration = beginMigration(await job(['away']));
  await waitForState(migration, ({ status }) => status === 'syncing');
  await source.crash();
  const { status, databases } = await waitForState(
    migration,
    (state) => state.databases[0]?.phase === 'source_unreachable',
  );
  expect([status, databases[0]?.error]).toEqual(['running', undefined]);
  expectGolden('db-migrate', (databases[0]?.reason ?? '').replace(/: .*$/, ': …'));
  await source.start();
  const back = await waitForState(migration, (state) => state.status === 'syncing');
  expect(back).toMatchObject({ reason: undefined, databases: [{ phase: 'streaming', reason: undefined }] });
  expect(await migration.stop()).toEqual([]);
  expect(await objectsOn(source)).toEqual([]);
});

test('a dropped publication is a phase with a reason, also while nothing is written, and never idle', async () => {
  const { source, fresh, job } = servers();
  await fresh('unpublished', table);
  const migration = beginMigration(await job(['unpublished'], { finishWhenIdle: true }));
  await waitForState(migration, ({ status }) => status === 'syncing');
  const name = (await objectsOn(source)).find((one) => one.startsWith('slot '))?.slice('slot '.length) ?? '';
  await source.query(`DROP PUBLICATION "${name}"`, 'unpublished');
  const { status, databases } = await waitForState(
    migration,
    (state) => state.databases[0]?.phase === 'publication_missing',
  );
  expect(status).toBe('running');
  expectGolden('db-migrate', (databases[0]?.reason ?? '').replaceAll(name, 'NAME'));
  await source.query(`CREATE PUBLICATION "${name}" FOR ALL TABLES`, 'unpublished');
  await waitForState(migration, (state) => state.databases[0]?.phase === 'streaming');
  expect(await migration.stop()).toEqual([]);
});

test('the warning of failing workers disappears when they no longer fail', async () => {
  const { target, fresh, job } = servers();
  await fresh('failing', table);
  const schemaCopy: typeof copySimpleSchema = async (from, to, signal) => {
    const copied = await copySimpleSchema(from, to, signal);
    await target.query("INSERT INTO t VALUES (1, 'in the way')", 'failing');
    return copied;
  };
  const limits = { ...shortEngineLimits, failureMemory: 2000 };
  const migration = beginMigration(await job(['failing']), testEngineDependencies({ limits, schemaCopy }));
  await waitForState(migration, ({ databases }) => (databases[0]?.warnings.length ?? 0) > 0);
  await target.query('TRUNCATE t', 'failing');
  const done = await waitForState(
    migration,
    ({ status, databases }) => status === 'syncing' && databases[0]?.warnings.length === 0,
  );
  expect(done.databases).toMatchObject([{ phase: 'streaming', warnings: [] }]);
  expect(await target.query('SELECT name FROM t', 'failing')).toEqual([{ name: 'one' }]);
  await migration.stop();
});

test('a failed database does not end the migration of the others', async () => {
  const { target, fresh, job } = servers();
  await fresh('empty', 'SELECT 1');
  await fresh('filled', table);
  await target.query('CREATE DATABASE filled');
  await target.query('CREATE TABLE mine (id int)', 'filled');
  const migration = beginMigration(await job(['empty', 'filled']));
  await waitForState(
    migration,
    ({ databases }) => databases.filter(({ phase }) => phase === 'streaming' || phase === 'error').length === 2,
  );
  const { status, reason, databases } = migration.state();
  expect(databases.map(({ phase }) => phase)).toEqual(['streaming', 'error']);
  expect([status, reason]).toEqual(['syncing', expect.stringContaining('filled: ')]);
  await migration.stop();
  expect(migration.state()).toMatchObject({
    status: 'canceled',
    databases: [{ phase: 'stopped' }, { phase: 'error' }],
  });
});

test.each([
  { phases: ['streaming', 'copying'], status: 'running' },
  { phases: ['streaming', 'source_unreachable'], status: 'running' },
  { phases: ['streaming', 'error'], status: 'syncing' },
  { phases: ['copying', 'error'], status: 'running' },
  { phases: ['finishing', 'error', 'done'], status: 'syncing' },
  { phases: ['done', 'error', 'stopped'], status: 'error' },
  { phases: ['streaming', 'done'], status: 'syncing' },
  { phases: ['done', 'done'], status: 'done' },
] as const)('databases in the phases $phases are together $status', ({ phases, status }) => {
  const progress = emptyProgress();
  const empty = {
    ...initialDatabase('postgres'),
    hasTables: false,
    error: 'refused',
    phase: 'error' as const,
  };
  const databases = phases.map((phase, at) => {
    const database = { ...initialDatabase(`d${at}`), hasTables: true };
    if (phase === 'source_unreachable') recordOutage(database, phase, 'no route');
    else database.phase = phase;
    if (phase === 'error') database.error = 'no';
    return database;
  });
  progress.databases.push(...databases);
  expect(snapshotProgress(progress).status).toBe(status);
  progress.databases.push(empty);
  expect(snapshotProgress(progress).status).toBe(status);
  expect(snapshotProgress(progress).reason).toContain('postgres: refused');
});

test('changes of the time in which the source was away arrive', async () => {
  const { source, target, fresh, job } = servers();
  await fresh('later', table);
  const migration = beginMigration(await job(['later']));
  await waitForState(migration, ({ status }) => status === 'syncing');
  await source.restart();
  await source.query("INSERT INTO t VALUES (2, 'later')", 'later');
  await waitUntil(async () => (await target.query('SELECT id FROM t WHERE id = 2', 'later')).length === 1, 'the row');
  await migration.stop();
});
