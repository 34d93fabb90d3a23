import { expect, test } from 'vitest';
import { ready, startPostgres } from '../../../fixtures/postgres.ts';
import { found, preflightServer } from './preflight.ts';

test('locales that functions bring and a target may lack are named, and those of every server are not', async () => {
  const server = await startPostgres({ version: 15, settings: ready });
  await server.query(
    `CREATE FUNCTION fine() RETURNS int LANGUAGE sql SET lc_time = 'C' SET timezone_abbreviations = 'Default' SET jit = off AS 'SELECT 1'`,
  );
  expect(found(await preflightServer(server), 'collation', 'postgres').status).toBe('pass');
  await server.query(`CREATE FUNCTION "The F"() RETURNS int LANGUAGE sql AS 'SELECT 1'`);
  // As on a server that has the locale, which this machine need not.
  await server.query(`UPDATE pg_proc SET proconfig = '{jit=off,lc_time=de_DE.UTF-8}' WHERE proname = 'The F'`);
  const report = await preflightServer(server);
  expect(found(report, 'collation', 'postgres')).toMatchObject({
    status: 'unknown',
    objects: ['public."The F"() (lc_time=de_DE.UTF-8)'],
  });
  for (const id of ['secdef', 'untrusted-lang']) expect(found(report, id, 'postgres').status).toBe('pass');
});
