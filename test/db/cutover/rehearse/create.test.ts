import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTarget } from '../../../../src/db/cutover/rehearse/postgresql.ts';
import type { RecordFile, RehearsalRecord } from '../../../../src/db/cutover/rehearse/record.ts';
import type { EngineSystem } from '../../../../src/db/engine/input.ts';
import type { Postgres } from '../../../fixtures/postgres.ts';
import { postgresEndpointOf, startSource, startTarget, testEngineDependencies } from '../../engine/servers.ts';

let source: Postgres;
let target: Postgres;

beforeAll(async () => {
  [source, target] = await Promise.all([startSource({ version: 14 }), startTarget({ version: 17 })]);
  for (const role of ['app', 'late']) await source.query(`CREATE ROLE ${role}`);
});

afterAll(async () => {
  await Promise.all([source?.stop(), target?.stop()]);
});

const shop = {
  ...{ oid: '1', name: 'shop', encoding: 'UTF8', collate: 'C', ctype: 'C' },
  ...{ provider: 'c', locale: null, rules: null },
};
const nothing = { extensions: ['plpgsql'], schemas: ['public'], publications: [], eventTriggers: [] };

function memoryFile(): RecordFile {
  let current: RehearsalRecord = {
    ...{ id: 'r', engine: 'postgresql', source: 'a:1', target: 'b:2', command: '', system: '' },
    ...{ databases: [], roles: [], filled: [], objects: [] },
  };
  return {
    current: () => current,
    change: (part) => {
      current = { ...current, ...part };
    },
    remove: () => {},
  };
}

async function create(
  plan: Parameters<typeof createTarget>[0]['plan'],
  more: Partial<EngineSystem> = {},
): Promise<{ readonly record: RehearsalRecord; readonly error: unknown }> {
  const file = memoryFile();
  const endpoints = { source: postgresEndpointOf(source), target: postgresEndpointOf(target) };
  const params = { endpoints, plan, file, signal: new AbortController().signal };
  const error = await createTarget(params, testEngineDependencies(more)).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return { record: file.current(), error };
}

test('roles and databases of a statement of the rehearsal are recorded with their oids', async () => {
  const { record, error } = await create({ missing: [shop], filled: [] });
  expect(error).toBeUndefined();
  const [database] = await target.query("SELECT oid::text FROM pg_database WHERE datname = 'shop'");
  expect(record.databases).toEqual([{ name: 'shop', oid: database?.oid }]);
  expect(record.roles.map(({ name }) => name).sort()).toEqual(['app', 'late']);
  for (const { oid } of record.roles) expect(oid).toMatch(/^\d+$/);
  await target.query('DROP DATABASE shop');
  await target.query('DROP ROLE app, late');
});

test('what another program creates at the same moment is an error for a database, and is never recorded', async () => {
  let isFirst = true;
  const random = (bytes: number): Uint8Array => new Uint8Array(bytes);
  const ports = testEngineDependencies();
  const { record, error } = await create(
    { missing: [shop], filled: [] },
    {
      random,
      // The other program acts after the roles of the target were listed, before the first one is created.
      connectPostgres: async (...params) => {
        const session = await ports.connectPostgres(...params);
        return {
          ...session,
          async query(text, limit) {
            if (isFirst && text.includes('CREATE ROLE')) {
              isFirst = false;
              await target.query('CREATE ROLE late');
              await target.query('CREATE DATABASE shop');
            }
            return session.query(text, limit);
          },
        };
      },
    },
  );
  expect(error).toMatchObject({ code: 'preflight_blocked' });
  expect(record.databases).toEqual([]);
  expect(record.roles.map(({ name }) => name)).toEqual(['app']);
  await target.query('DROP DATABASE shop');
  await target.query('DROP ROLE app, late');
});

test('a database that was empty when the rehearsal was planned, and is not any more, is an error and not recorded', async () => {
  await target.query('CREATE DATABASE empty');
  await target.query('CREATE TABLE theirs (id int)', 'empty');
  const { record, error } = await create({ missing: [], filled: [{ name: 'empty', oid: '1', ...nothing }] });
  expect(error).toMatchObject({ code: 'preflight_blocked', detail: expect.stringContaining('theirs') });
  expect(record.filled).toEqual([]);
});

test('the oid of a database that will be filled is recorded', async () => {
  await target.query('CREATE DATABASE oids');
  const [database] = await target.query("SELECT oid::text FROM pg_database WHERE datname = 'oids'");
  const { record } = await create({ missing: [], filled: [{ name: 'oids', ...nothing }] });
  expect(record.filled).toMatchObject([{ name: 'oids', oid: database?.oid }]);
});
