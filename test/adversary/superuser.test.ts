import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { run, start } from '../fixtures/cli.ts';
import { type Folders, makeFolders } from '../fixtures/folders.ts';
import { type Postgres, ready, startPostgres } from '../fixtures/postgres.ts';
import { controlCharacters } from './bad-bytes.ts';
import { type Canaries, makeCanaries, runByPsql, withOptionalParts } from './canaries.ts';

/** The superuser of the source attacks the machine of whoever looks at it, through output and scripts. */
describe.each([14, 17] as const)('PostgreSQL %i', (version) => {
  let folders: Folders;
  let canaries: Canaries;
  let server: Postgres;
  let honest: Postgres;

  beforeAll(async () => {
    folders = makeFolders();
    canaries = makeCanaries();
    [server, honest] = await Promise.all([
      startPostgres({ version, settings: { ...ready, listen_addresses: 'localhost' } }),
      startPostgres({ version: 18, settings: ready }),
    ]);
    canaries.infect(server, 'hostile-superuser.sql');
  });

  afterAll(async () => {
    await Promise.all([server?.stop(), honest?.stop()]);
    canaries?.remove();
    folders?.remove();
  });

  beforeEach(() => canaries.reset());

  const source = () => ['--source', server.url('shop'), '--disable-ssl'];
  const options = () => ({ folders, limit: 90_000, env: { PGPASSWORD: server.password } });
  const noControls = (text: string) => expect(text).not.toMatch(controlCharacters);

  test(`${version}: the scripts of db preflight run no command`, async () => {
    const [fix, undo] = [join(folders.work, 'fix.sql'), join(folders.work, 'undo.sql')];
    const files = ['--fix-sql', fix, '--undo-sql', undo];
    const ran = await run(['db', 'preflight', ...source(), '--allow-private', '--strict', ...files], options());
    expect([0, 3], ran.stderr).toContain(ran.code);
    noControls(ran.stdout + ran.stderr);
    for (const path of [fix, undo].filter(existsSync)) {
      const text = readFileSync(path, 'utf8');
      noControls(text);
      // Also on a server where nothing of it exists, and statement by statement.
      for (const on of [server, honest]) runByPsql(on, text, canaries.folder);
      for (const on of [server, honest]) runByPsql(on, withOptionalParts(text), canaries.folder);
      runByPsql(honest, text.replaceAll(/^\\connect .*$/gm, ''), canaries.folder);
    }
    expect(canaries.wasExecuted()).toBe(false);
    expect(canaries.asSuperuser().filter((line) => line.includes(`port=${honest.ownPort} `))).toEqual([]);
  });

  test(`${version}: the script of db sequences runs no command`, async () => {
    const ran = await run(['db', 'sequences', ...source()], options());
    noControls(ran.stdout);
    await honest.query('DROP DATABASE IF EXISTS shop');
    await honest.query('CREATE DATABASE shop');
    runByPsql(honest, ran.stdout, canaries.folder);
    expect(canaries.wasExecuted()).toBe(false);
    expect(canaries.asSuperuser().filter((line) => line.includes(`port=${honest.ownPort} `))).toEqual([]);
  });

  test(`${version}: db watch shows what it says without control characters`, async () => {
    await server.query("SELECT pg_create_logical_replication_slot('cloudctl_shop', 'pgoutput')", 'shop');
    const running = start(['db', 'watch', ...source(), '--interval', '1s'], options());
    await running.waitFor('stdout', /\n/, 40_000);
    running.kill('SIGINT');
    const ran = await running.ended;
    noControls(ran.stdout + ran.stderr);
    expect(canaries.wasExecuted()).toBe(false);
    await server.query("SELECT pg_drop_replication_slot('cloudctl_shop')", 'shop');
  });
});
