import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Ran, run, start } from '../fixtures/cli.ts';
import { reply, serverFor } from '../fixtures/fake-server.ts';
import { type Folders, makeFolders } from '../fixtures/folders.ts';
import { type Postgres, ready, startPostgres } from '../fixtures/postgres.ts';
import { controlCharacters } from './bad-bytes.ts';
import { type Canaries, makeCanaries, runByPsql, strangeSuperusers, withOptionalParts } from './canaries.ts';

/**
 * The tests of one release: the owner of databases attacks a superuser, and roles without rights, who look at the server.
 * The files owner-*.test.ts share the releases, so that they run side by side.
 */
export function ownerTests(version: 14 | 15 | 16 | 17 | 18): void {
  let folders: Folders;
  let canaries: Canaries;
  let server: Postgres;

  beforeAll(async () => {
    folders = makeFolders();
    canaries = makeCanaries();
    server = await startPostgres({ version, settings: { ...ready, max_prepared_transactions: 5 } });
    canaries.infect(server, 'hostile-owner.sql');
    await server.query(`CREATE ROLE reader LOGIN PASSWORD '${server.password}'; GRANT pg_monitor TO reader`);
    await server.query(`CREATE ROLE watcher LOGIN PASSWORD '${server.password}'; GRANT pg_read_all_data TO watcher`);
  });

  afterAll(async () => {
    await server?.stop();
    canaries?.remove();
    folders?.remove();
  });

  beforeEach(async () => {
    await server.query('DROP ROLE IF EXISTS canary');
    canaries.reset();
  });

  const nobodySang = async () => {
    expect(canaries.asSuperuser()).toEqual([]);
    expect(canaries.asSomebody(server)).toEqual([]);
    expect(await strangeSuperusers(server)).toEqual([]);
    expect(canaries.wasExecuted()).toBe(false);
  };
  /** It would keep a slot from being created. */
  const rollBackPrepared = async () => {
    const [prepared] = await server.query<{ sql: string }>(
      "SELECT format('ROLLBACK PREPARED %L', gid) AS sql FROM pg_prepared_xacts",
    );
    if (prepared !== undefined) await server.query(prepared.sql, 'names');
  };
  const source = (database: string, user = 'postgres') => ['--source', server.url(database, user), '--disable-ssl'];
  const command = (words: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> =>
    run(['db', ...words], { folders, limit: 90_000, env: { PGPASSWORD: server.password, ...env } });
  const preflight = (database: string, user: string, ...more: readonly string[]) =>
    command(['preflight', ...source(database, user), '--allow-private', '--target-version', '18', ...more]);
  const endsWell = (ran: Ran, ...codes: readonly number[]) => expect(codes, ran.stderr).toContain(ran.code);

  test(`${version}: an ordinary query of a superuser wakes the canaries`, async () => {
    await server.query('SELECT pg_backend_pid()', 'shadows');
    await server.query('SELECT count(*) FROM public.hashed WHERE n IS NULL', 'tables');
    expect(canaries.asSuperuser().join()).toMatch(/function_pg_backend_pid.*predicate_beside_a_hash_index/);
  });

  // All releases meet the same databases; the slow attacks meet the oldest and the newest.
  const isWhole = version === 14 || version === 18;
  for (const database of isWhole ? ['shadows', 'settings', 'tables'] : ['shadows']) {
    test(`${version}: a superuser checks the database ${database}`, async () => {
      endsWell(await preflight(database, 'postgres', '--probe', '-o', 'json'), 0, 3);
      await nobodySang();
    });
  }

  const slowTest = isWhole ? test : () => {};
  slowTest(`${version}: roles without superuser check it`, async () => {
    endsWell(await preflight('shadows', 'reader', '-o', 'json'), 0, 3);
    endsWell(await preflight('settings', 'watcher', '-o', 'json'), 0, 3);
    await nobodySang();
  });

  slowTest(`${version}: tables are replaced by views while it reads`, async () => {
    let isOver = false;
    const swapping = (async () => {
      while (!isOver) {
        await server.query(
          "SET adversary.setup = 'on'; SET SESSION AUTHORIZATION mallory; CALL evil.swap(); CALL evil.swap_back()",
          'tables',
        );
      }
    })();
    try {
      for (let round = 0; round < 2; round++) endsWell(await preflight('tables', 'postgres', '-o', 'json'), 0, 3);
    } finally {
      isOver = true;
      await swapping;
    }
    await nobodySang();
  });

  test(`${version}: a superuser prints its sequences, and runs them on another server`, async () => {
    const ran = await command(['sequences', ...source('shadows')]);
    endsWell(ran, 0);
    await nobodySang();
    const { errors } = runByPsql(server, ran.stdout, canaries.folder);
    await nobodySang();
    expect(errors).toEqual([]);
  });

  test(`${version}: a superuser runs the fixes by psql, and undoes them`, async () => {
    const [fix, undo] = [join(folders.work, 'fix.sql'), join(folders.work, 'undo.sql')];
    endsWell(await preflight('tables', 'postgres', '--fix-sql', fix, '--undo-sql', undo), 0, 3);
    canaries.reset();
    const scripts = [fix, undo].map((path) => readFileSync(path, 'utf8'));
    // The prepared transaction holds a lock, which ends the script; the rest runs without it.
    for (const script of scripts) runByPsql(server, script, canaries.folder);
    await nobodySang();
    await rollBackPrepared();
    const errors = scripts.flatMap((script) => runByPsql(server, script, canaries.folder).errors);
    await nobodySang();
    expect(errors).toEqual([]);
    // Somebody who wants all of it removes the comment marks.
    for (const script of scripts) runByPsql(server, withOptionalParts(script), canaries.folder);
    await nobodySang();
  });

  test(`${version}: a superuser watches it`, async () => {
    const watched = ['shadows', 'settings', 'tables', 'names'];
    await rollBackPrepared();
    for (const database of watched) {
      await server.query(
        `SET ROLE NONE; SET adversary.setup = 'on'; SET search_path = pg_catalog; SELECT pg_create_logical_replication_slot('cloudctl_${database}', 'pgoutput')`,
        database,
      );
    }
    const running = start(['db', 'watch', ...source('settings'), '-o', 'ndjson', '--interval', '1s'], {
      folders,
      limit: 60_000,
      env: { PGPASSWORD: server.password },
    });
    await running.waitFor('stdout', /\n.*\n/, 40_000);
    running.kill('SIGINT');
    await running.ended;
    for (const database of watched) await server.query(`SELECT pg_drop_replication_slot('cloudctl_${database}')`);
    await nobodySang();
  });

  if (version === 18) {
    test('names forge nothing in any report', async () => {
      const paths = ['md', 'html', 'xml', 'sarif', 'json'].map((type) => join(folders.work, `report.${type}`));
      const ran = await preflight('names', 'postgres', ...paths.flatMap((path) => ['--report', path]));
      const texts = [ran.stdout, ran.stderr, ...paths.map((path) => readFileSync(path, 'utf8'))];
      for (const format of ['json', 'yaml', 'ndjson']) {
        texts.push((await preflight('names', 'postgres', '-o', format)).stdout);
      }
      for (const text of texts) {
        expect(text).not.toMatch(controlCharacters);
        expect(text).not.toMatch(/^\s*(::error|\\! touch)/m);
      }
      expect(texts[3]).not.toContain('<script>alert');
      expect(texts[4]).not.toContain('<script>alert');
    });

    test('a superuser starts its migration', async () => {
      const service = await serverFor(({ method }, response) =>
        reply(response, method === 'GET' ? 404 : 200, {
          id: 'f1',
          status: 'running',
          created_at: '2026-11-20T12:00:00Z',
        }),
      );
      const env = { CLOUDCTL_BASE_URL: service.origin, CLOUDCTL_ACCESS_TOKEN: 'a-token' };
      const cluster = '3b643ad7-65aa-4066-b45b-1c64b6db600a';
      await command(['migrate', cluster, ...source('shadows'), '--yes', '--accept', 'prepared-xacts'], env);
      await nobodySang();
    });
  }
}
