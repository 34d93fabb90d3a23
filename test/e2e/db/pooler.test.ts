import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Folders, makeFolders } from '../../fixtures/folders.ts';
import { lacks } from '../../fixtures/needs.ts';
import { type Pgbouncer, startPgbouncer } from '../../fixtures/pgbouncer.ts';
import { type Postgres, ready, startPostgres } from '../../fixtures/postgres.ts';
import { findingOf, reportOf, runPreflight } from './preflight-run.ts';

/** All that SQL can set in a session, as one text. */
const allSettings = `SELECT string_agg(name || '=' || setting, E'\n' ORDER BY name) FROM pg_settings
  WHERE context IN ('user', 'superuser') AND name NOT IN ('application_name')`;

describe.skipIf(lacks('pgbouncer'))('behind pgbouncer in transaction mode', () => {
  let folders: Folders;
  let server: Postgres;
  let pooler: Pgbouncer;
  let stranger: pg.Client;

  beforeAll(async () => {
    folders = makeFolders();
    server = await startPostgres({ version: 17, settings: ready, setup: ['CREATE DATABASE d1', 'CREATE DATABASE d2'] });
    pooler = await startPgbouncer({ server });
    // One server process a database: the stranger and the preflight take turns on the same.
    stranger = new pg.Client({
      host: pooler.host,
      port: pooler.port,
      user: 'postgres',
      password: server.password,
      database: 'd1',
    });
    await stranger.connect();
  });

  afterAll(async () => {
    await stranger?.end();
    await pooler?.stop();
    await server?.stop();
    folders.remove();
  });

  test('a run says so, judges all the rest, and leaves the settings of others as they were', async () => {
    const look = async () =>
      (await stranger.query(`SELECT pg_backend_pid() AS pid, (${allSettings}) AS settings`)).rows;
    const before = await look();
    const through: Postgres = { ...server, port: pooler.port, url: (dbname = 'd1') => urlOf(pooler, dbname) };
    const words = ['--target-version', '18', '-o', 'json'];
    const ran = await runPreflight(through, words, { folders, dbname: 'd1' });
    // The same server process as before, so whatever stayed behind would be seen.
    expect(await look()).toEqual(before);
    await stranger.query('CREATE TABLE written (id int PRIMARY KEY)');
    await stranger.query('INSERT INTO written VALUES (1)');

    const report = reportOf(ran);
    const pooled = findingOf(report, 'pooler-detected');
    expect(pooled).toMatchObject({ status: 'fail', blocks: ['continuous', 'dump'] });
    expect(pooled.fix?.text).toMatch(/\baddress and port\b/);
    expect(report).toMatchObject({ verdict: 'blocked', ok: false });
    expect(ran.code).toBe(3);
    expect(findingOf(report, 'repl-connection').status).toBe('fail');
    expect(findingOf(report, 'wal-level').status).toBe('pass');
    expect(report.databases.map(({ name }) => name)).toEqual(['d1', 'd2', 'postgres']);
  });
});

function urlOf({ host, port }: Pgbouncer, dbname: string): string {
  return `postgres://postgres@${host}:${port}/${dbname}`;
}
