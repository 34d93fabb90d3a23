import { afterAll, beforeAll, expect, test } from 'vitest';
import { lockTarget } from '../../../../src/db/cutover/rehearse/existing.ts';
import { type Postgres, startPostgres } from '../../../fixtures/postgres.ts';
import { postgresEndpointOf, testEngineDependencies } from '../../engine/servers.ts';

let server: Postgres;

beforeAll(async () => {
  server = await startPostgres({ version: 17 });
  await server.query('CREATE DATABASE other');
});

afterAll(() => server?.stop());

const lock = (source: string, dbname = 'postgres') =>
  lockTarget(postgresEndpointOf(server, { dbname }), source, testEngineDependencies(), new AbortController().signal);

test('a second rehearsal into the server is busy, whatever its database, and learns which one runs', async () => {
  const first = await lock('a.example.com:5432');
  await expect(lock('b.example.com:5432', 'other')).rejects.toMatchObject({
    code: 'busy',
    detail: expect.stringContaining('cloudctl-rehearsal of a.example.com:5432, from 127.0.0.1, user postgres'),
    hint: expect.stringContaining('pg_terminate_backend'),
  });
  await first.release();
  await (await lock('b.example.com:5432', 'other')).release();
});

test('the lock ends with its session', async () => {
  await lock('a');
  await server.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name ~ '^cloudctl-reh'");
  await (await lock('b')).release();
});
