import { afterAll, beforeAll, expect, test } from 'vitest';
import { schemaCopier } from '../../src/db/engine/schema/copy.ts';
import { isEnded } from '../../src/db/engine/state.ts';
import {
  beginMigration,
  makePostgresJob,
  postgresEndpointOf,
  startSource,
  startTarget,
  testEngineDependencies,
  waitForState,
} from '../db/engine/servers.ts';
import type { Postgres } from '../fixtures/postgres.ts';
import { type Canaries, makeCanaries, strangeSuperusers } from './canaries.ts';

/** The engine of the sandbox migrates the hostile database into a server of its own, as superuser of both. */
let canaries: Canaries;
let source: Postgres;
let target: Postgres;

beforeAll(async () => {
  canaries = makeCanaries();
  [source, target] = await Promise.all([startSource({ version: 16 }), startTarget({ version: 17 })]);
  canaries.infect(source, 'hostile-owner.sql');
});

afterAll(async () => {
  await Promise.all([source?.stop(), target?.stop()]);
  canaries?.remove();
});

test('the engine runs nothing as a superuser', async () => {
  const all = await source.query<{ datname: string }>('SELECT datname FROM pg_database WHERE NOT datistemplate');
  const ignoreDbs = all.map(({ datname }) => datname).filter((name) => name !== 'tables');
  const dependencies = testEngineDependencies({ schemaCopy: schemaCopier({ env: process.env }) });
  const job = makePostgresJob(postgresEndpointOf(source), postgresEndpointOf(target), { ignoreDbs });
  const migration = beginMigration(job, dependencies);
  const state = await waitForState(migration, ({ databases: [one] }) =>
    one === undefined ? false : one.phase === 'streaming' || isEnded(one),
  );
  expect(state.databases[0]?.phase).toBe('streaming');
  await migration.stop('stopped_by_user');
  // It did run there, as the owner of the target database.
  expect(canaries.asSomebody(target)).not.toEqual([]);
  expect(canaries.asSuperuser()).toEqual([]);
  expect(canaries.asSomebody(source)).toEqual([]);
  expect(await strangeSuperusers(target)).toEqual([]);
});
