import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PreflightReport } from '../../../src/db/preflight/report.ts';
import { type Ran, run, start } from '../../fixtures/cli.ts';
import { reply, serverFor } from '../../fixtures/fake-server.ts';
import { type Folders, makeFolders } from '../../fixtures/folders.ts';
import { type Postgres, ready, startPostgres } from '../../fixtures/postgres.ts';
import { findingOf, idsOf, reportOf, runPreflight } from './preflight-run.ts';

/** Functions that statements of the program call, as [name, parameters, result]. */
const shadowed = [
  ['pg_backend_pid', '', 'int'],
  ['version', '', 'text'],
  ['pg_is_in_recovery', '', 'bool'],
  ['inet_server_port', '', 'int'],
  ['current_database', '', 'name'],
  ['pg_current_wal_lsn', '', 'pg_lsn'],
  ['current_setting', 'text', 'text'],
  ['current_setting', 'text, bool', 'text'],
  ['set_config', 'text, text, bool', 'text'],
  ['lower', 'text', 'text'],
  ['quote_ident', 'text', 'text'],
  ['to_jsonb', 'anyelement', 'jsonb'],
  ['to_regclass', 'text', 'regclass'],
  ['pg_get_expr', 'pg_node_tree, oid', 'text'],
] as const;

const operators = ['name', 'text', 'oid', 'int', 'bool', '"char"'];

/** What the owner of a database may create there. Each canary writes to the log of the server, also in a read-only transaction. */
const hostileObjects = [
  'CREATE SCHEMA evil',
  `CREATE FUNCTION evil.sing(what text) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog
   AS $$ BEGIN RAISE LOG 'CANARY %', what; END $$`,
  ...shadowed.map(([name, parameters, result]) => {
    const given = parameters === '' ? '' : parameters.split(', ').map((_, at) => `$${at + 1}`);
    return `CREATE FUNCTION evil.${name}(${parameters}) RETURNS ${result} LANGUAGE plpgsql SET search_path = pg_catalog
      AS $$ BEGIN PERFORM evil.sing('${name}'); RETURN pg_catalog.${name}(${given}); END $$`;
  }),
  `CREATE FUNCTION evil.format(text, text) RETURNS text LANGUAGE plpgsql SET search_path = pg_catalog
   AS $$ BEGIN PERFORM evil.sing('format'); RETURN pg_catalog.format($1, $2); END $$`,
  ...operators.flatMap((type) => [
    `CREATE FUNCTION evil.same(${type}, ${type}) RETURNS bool LANGUAGE plpgsql SET search_path = pg_catalog
     AS $$ BEGIN PERFORM evil.sing('operator of ${type}'); RETURN $1 = $2; END $$`,
    `CREATE OPERATOR evil.= (LEFTARG = ${type}, RIGHTARG = ${type}, FUNCTION = evil.same)`,
  ]),
];

const stored = [
  'SET search_path = evil, pg_catalog',
  'SET role = mallory',
  "SET default_transaction_isolation = 'serializable'",
  'SET default_transaction_deferrable = on',
  'SET standard_conforming_strings = off',
];

describe.each([14, 15, 16, 17, 18] as const)('PostgreSQL %i', (version) => {
  let folders: Folders;
  let source: Postgres;
  let target: Postgres;
  const read = new Map<Postgres, number>();

  beforeAll(async () => {
    folders = makeFolders();
    const settings = { ...ready, wal_retrieve_retry_interval: '500ms' };
    [source, target] = await Promise.all([startPostgres({ version, settings }), startPostgres({ version, settings })]);
    for (const server of [source, target]) {
      await server.query('CREATE ROLE mallory LOGIN');
      const database = server === source ? 'shop' : 'entrance';
      await server.query(`CREATE DATABASE ${database} OWNER mallory`);
      for (const statement of hostileObjects) {
        await server.query(`SET SESSION AUTHORIZATION mallory; SET search_path = pg_catalog; ${statement}`, database);
      }
    }
    await source.query('CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t SELECT generate_series(1, 10)', 'shop');
    await source.query('CREATE SEQUENCE numbers', 'shop');
    if (version >= 17) await createLoginTrigger();
    for (const statement of stored) {
      await source.query(
        `SET SESSION AUTHORIZATION mallory; SET search_path = pg_catalog; ALTER DATABASE shop ${statement}`,
      );
    }
    await target.query('ALTER DATABASE entrance SET search_path = evil, pg_catalog');
  }, 120_000);

  afterAll(async () => {
    await Promise.all([source?.stop(), target?.stop()]);
    folders?.remove();
  });

  /** A trigger that an administrator made in good faith; it calls a function by its name alone. */
  async function createLoginTrigger(): Promise<void> {
    await source.query(
      `CREATE FUNCTION public.at_login() RETURNS event_trigger LANGUAGE plpgsql
       AS $$ BEGIN PERFORM lower(current_setting('application_name')); END $$`,
      'shop',
    );
    await source.query('CREATE EVENT TRIGGER at_login ON login EXECUTE FUNCTION public.at_login()', 'shop');
    await source.query('ALTER EVENT TRIGGER at_login ENABLE ALWAYS', 'shop');
  }

  const canaries = () =>
    [source, target].flatMap((server) => {
      const log = server.log().slice(read.get(server) ?? 0);
      return [...new Set([...log.matchAll(/CANARY (.*)/g)].map(([, what]) => what))];
    });
  /** Sessions of the test itself wake them as well. */
  const silence = () => {
    for (const server of [source, target]) read.set(server, server.log().length);
  };
  const env = () => ({ PGPASSWORD: source.password, CLOUDCTL_REHEARSE_INTO_PASSWORD: target.password });
  const command = (...words: readonly string[]): Promise<Ran> =>
    run(['db', ...words], { folders, limit: 110_000, env: env() });
  const from = () => ['--source', source.url('shop'), '--disable-ssl'];
  const preflight = (dbname: string) =>
    runPreflight(source, ['--target-version', '18', '-o', 'json'], { folders, dbname });

  /** Every check has its result, and only the stored role is in the way. */
  const expectNotMisled = (report: PreflightReport) => {
    expect(idsOf(report, 'unknown')).toEqual([]);
    expect(idsOf(report, 'fail')).toEqual(['stored-role']);
    expect(findingOf(report, 'pooler-detected').status).toBe('pass');
  };

  test.each(['shop', 'postgres'])('a preflight that connects to %s runs nothing and is not misled', async (dbname) => {
    silence();
    const ran = await preflight(dbname);
    expect(canaries()).toEqual([]);
    expectNotMisled(reportOf(ran));
  });

  test('a search_path of the role, and of the role in the database, is not followed either', async () => {
    await source.query('ALTER ROLE postgres SET search_path = evil, pg_catalog');
    await source.query('ALTER ROLE postgres IN DATABASE shop SET search_path = evil, pg_catalog');
    try {
      silence();
      await preflight('shop');
      expect(canaries()).toEqual([]);
    } finally {
      await source.query('ALTER ROLE postgres RESET search_path');
      await source.query('ALTER ROLE postgres IN DATABASE shop RESET search_path');
    }
  });

  test('a writer in a serializable transaction does not delay a preflight', async () => {
    const writer = new pg.Client({
      host: source.folder,
      port: source.ownPort,
      user: 'postgres',
      database: 'shop',
    });
    await writer.connect();
    try {
      await writer.query('SET role = none; SET search_path = public');
      await writer.query('BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE; INSERT INTO t VALUES (11)');
      const begun = performance.now();
      const report = reportOf(await preflight('shop'));
      expect(performance.now() - begun).toBeLessThan(25_000);
      expectNotMisled(report);
    } finally {
      await writer.end();
    }
  });

  test('watch, sequences and migrate run nothing', async () => {
    silence();
    const sequences = await command('sequences', ...from());
    expect(sequences.code, sequences.stderr).toBe(0);
    const watching = start(['db', 'watch', ...from(), '-o', 'ndjson', '--interval', '1s'], {
      folders,
      limit: 60_000,
      env: env(),
    });
    await watching.waitFor('stdout', /\n.*\n/, 40_000);
    watching.kill('SIGINT');
    await watching.ended;
    const service = await serverFor(({ method }, response) =>
      reply(response, method === 'GET' ? 404 : 200, {
        id: 'f1',
        status: 'running',
        created_at: '2026-11-20T12:00:00Z',
      }),
    );
    await run(['db', 'migrate', '3b643ad7-65aa-4066-b45b-1c64b6db600a', ...from(), '--yes', '--target-version', '18'], {
      folders,
      limit: 60_000,
      env: { ...env(), CLOUDCTL_BASE_URL: service.origin, CLOUDCTL_ACCESS_TOKEN: 'a-token' },
    });
    expect(canaries()).toEqual([]);
  });

  test('a rehearsal runs nothing: schema, copy, polls, comparison and removal', async () => {
    // What copies rows logs in with the stored role as well, and the preflight says so.
    await source.query('ALTER DATABASE shop RESET role');
    const drop = (what: string) => source.query(`SET role = none; DROP ${what}`, 'shop');
    if (version >= 17) await drop('EVENT TRIGGER at_login');
    // Without pg_dump operators are not copied.
    for (const type of operators) await drop(`OPERATOR evil.= (${type}, ${type})`);
    silence();
    const ran = await command('rehearse', ...from(), '--into', target.url('entrance'), '--yes', '-o', 'json');
    expect(canaries()).toEqual([]);
    expect(ran.code, ran.stderr).toBe(0);
  });
});
