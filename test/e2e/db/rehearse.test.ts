import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { RehearsalReport } from '../../../src/db/cutover/rehearse/report.ts';
import { objectsOn, startSource, startTarget, subscriptionsOn, waitUntil } from '../../db/engine/servers.ts';
import { type Ran, type RunOptions, run, start } from '../../fixtures/cli.ts';
import { type Folders, makeFolders } from '../../fixtures/folders.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { lacks } from '../../fixtures/needs.ts';
import type { Postgres } from '../../fixtures/postgres.ts';
import { startRedis } from '../../fixtures/redis.ts';
import { terminal } from '../../fixtures/terminal.ts';

const secrets = { source: 'S3cret-of-source', target: 'S3cret-of-target' };
let folders: Folders;
let source: Postgres;
let target: Postgres;

beforeAll(async () => {
  [source, target] = await Promise.all([
    startSource({ version: 14, password: secrets.source }),
    startTarget({ version: 18, password: secrets.target }),
  ]);
  await source.query('CREATE ROLE app LOGIN');
});

afterAll(async () => {
  await Promise.all([source?.stop(), target?.stop()]);
});

beforeEach(async () => {
  folders = makeFolders();
  for (const server of [source, target]) await server.query('DROP DATABASE IF EXISTS shop WITH (FORCE)');
  await source.query('CREATE DATABASE shop');
  await source.query(
    `CREATE TABLE customers (id serial PRIMARY KEY, name text);
     INSERT INTO customers (name) SELECT 'customer ' || n FROM generate_series(1, 3000) n;
     CREATE TABLE visits (id int PRIMARY KEY); INSERT INTO visits SELECT generate_series(1, 40); GRANT SELECT ON visits TO app`,
    'shop',
  );
  return () => folders.remove();
});

/** Holds on the source and not on the target: its copy fails there for ever. */
const stuck = `CREATE FUNCTION old() RETURNS bool LANGUAGE sql AS $$ SELECT current_setting('server_version_num')::int < 150000 $$;
  CREATE TABLE picky (id int PRIMARY KEY, CHECK (public.old())); INSERT INTO picky VALUES (1), (2)`;

const words = (...more: readonly string[]) => {
  const [from, to] = [source.url('shop'), target.url('postgres')];
  return ['db', 'rehearse', '--source', from, '--disable-ssl', '--into', to, '--accept', 'listen-addresses', ...more];
};
const asked = (): RunOptions => {
  const env = { PGPASSWORD: secrets.source, CLOUDCTL_REHEARSE_INTO_PASSWORD: secrets.target };
  return { folders, env, limit: 110_000 };
};

async function leftovers(): Promise<readonly string[]> {
  const databases = await target.query(
    "SELECT datname FROM pg_database WHERE datname <> 'postgres' AND NOT datistemplate",
  );
  const roles = await target.query('SELECT rolname FROM pg_roles WHERE oid >= 16384');
  const records = rehearsals().filter((name) => name.endsWith('.json'));
  return [
    ...(await objectsOn(source)),
    ...(await subscriptionsOn(target)),
    ...databases.map(({ datname }) => `database ${datname}`),
    ...roles.map(({ rolname }) => `role ${rolname}`),
    ...records,
  ];
}

function rehearsals(): readonly string[] {
  try {
    return readdirSync(join(folders.state, 'rehearsals'));
  } catch {
    return [];
  }
}

function expectNoSecrets({ stdout, stderr }: Ran): void {
  for (const secret of Object.values(secrets)) expect(stdout + stderr).not.toContain(secret);
}

/** The error at the end of stderr, without ports and names of slots. */
function errorIn({ stderr }: Ran): string {
  const at = Math.max(stderr.indexOf('error: '), 0);
  return masked(stderr.slice(at));
}

function masked(text: string): string {
  return text.replaceAll(/(127\.0\.0\.1|localhost):\d+/g, 'SERVER').replaceAll(/\d+\.\d+ s\b/g, 'N s');
}

test('a healthy one from 14 into 18: every row is there, and nothing of it is left on either side', async () => {
  const file = join(folders.work, 'rehearsal.json');
  const ran = await run(words('--yes', '-o', 'json', '--report', file), asked());
  expect(ran).toMatchObject({ code: 0 });
  const report = ran.json<RehearsalReport>();
  expect(report).toMatchObject({
    ok: true,
    method: 'continuous',
    failures: [],
    left: [],
    preflight: { verdict: 'continuous' },
  });
  expect(report.target.version).toMatch(/^18\./);
  const shop = report.databases.find(({ name }) => name === 'shop');
  expect(shop?.tables).toEqual([
    { name: 'public.customers', rows_source: 3000, rows_target: 3000, state: 'equal' },
    { name: 'public.visits', rows_source: 40, rows_target: 40, state: 'equal' },
  ]);
  expect(shop?.sequences).toEqual([
    { name: 'public.customers_id_seq', source: '3000', target: '3000', state: 'equal' },
  ]);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(report);
  expectNoSecrets(ran);
  expect(await leftovers()).toEqual([]);
});

test('rows that are written while it counts are not taken for a loss', async () => {
  const running = start(words('--yes', '-o', 'json'), asked());
  let isOver = false;
  void running.ended.then(() => {
    isOver = true;
  });
  while (!isOver) await source.query("INSERT INTO customers (name) VALUES ('new')", 'shop');
  const ran = await running.ended;
  expect(ran.json<RehearsalReport>().failures).toEqual([]);
  expect(ran.code, ran.stderr).toBe(0);
  expect(await leftovers()).toEqual([]);
});

test('a transaction that delays the replication slot is named, and no option that was not given', async () => {
  const writer = source.query('BEGIN; INSERT INTO visits VALUES (99); SELECT pg_sleep(8); COMMIT', 'shop');
  const ran = await run(words('--yes'), asked());
  await writer;
  expect(ran.code, ran.stderr).toBe(0);
  const lines = ran.stderr.split('\n').map((line) => masked(line).replaceAll(/\d{4}-\S+Z/g, 'TIME'));
  const said = lines
    .filter((line) => /waiting for .* transaction|comparing/.test(line))
    .map((line) => line.replaceAll(/pid \d+/g, 'pid N'));
  expectGolden('db-rehearse', said.join('\n'));
  expect(ran.stderr).not.toContain('--slot');
});

test('a table that fails on the target is named, with what the target said', async () => {
  await source.query(stuck, 'shop');
  const ran = await run(words('--yes', '--stall-timeout', '5s'), asked());
  expect(ran.code).toBe(1);
  expect(ran.stdout).toMatch(/ {2}shop: public\.picky: .*"picky_check"/);
  expectGolden('db-rehearse', errorIn(ran));
  expectNoSecrets(ran);
  expect(await leftovers()).toEqual([]);
});

test('Ctrl-C in the middle leaves nothing', async () => {
  await source.query(stuck, 'shop');
  const running = start(words('--yes'), asked());
  await waitUntil(async () => (await subscriptionsOn(target)).length === 2, 'both subscriptions');
  running.kill('SIGINT');
  const ran = await running.ended;
  expect(ran).toMatchObject({ code: 130, stdout: '' });
  expectGolden('db-rehearse', errorIn(ran));
  expect(await leftovers()).toEqual([]);
});

test('what a killed one has left is removed by the next, from a record without a secret', async () => {
  await source.query(stuck, 'shop');
  const running = start(words('--yes'), asked());
  await waitUntil(async () => (await subscriptionsOn(target)).length === 2, 'both subscriptions');
  running.kill('SIGKILL');
  await running.ended;
  expect((await leftovers()).length).toBeGreaterThan(5);
  const [name] = rehearsals().filter((one) => one.endsWith('.json'));
  const record = join(folders.state, 'rehearsals', name!);
  const text = readFileSync(record, 'utf8');
  for (const secret of Object.values(secrets)) expect(text).not.toContain(secret);
  expect(statSync(record).mode & 0o077).toBe(0);
  // Another pair of servers only says the command.
  const other = await run(
    ['db', 'rehearse', '--source', 'postgres://u@127.0.0.1:1/d', '--into', target.url('postgres'), '--yes'],
    asked(),
  );
  const warning = other.stderr.split('\n').find((line) => line.startsWith('warning: ')) ?? '';
  expect(warning).toContain(`: cloudctl db rehearse --source ${source.url('shop')}`);
  expectGolden('db-rehearse', masked(warning), 'warning');
  await source.query('DROP TABLE picky', 'shop');
  const next = await run(words('--yes'), asked());
  expectGolden(
    'db-rehearse',
    next.stderr
      .split('\n')
      .filter((line) => line.startsWith('Removing'))
      .join('\n'),
  );
  expect(next.code).toBe(0);
  expect(await leftovers()).toEqual([]);
});

test('--keep leaves the copies, and nothing on the source', async () => {
  const ran = await run(words('--yes', '--keep'), asked());
  expect(ran.code, ran.stderr).toBe(0);
  expectGolden('db-rehearse', ran.stdout.trimEnd().split('\n').at(-1) ?? '', 'report');
  expect(await target.query('SELECT count(*) AS rows FROM customers', 'shop')).toEqual([{ rows: '3000' }]);
  expect(await objectsOn(source)).toEqual([]);
  expect(await subscriptionsOn(target)).toEqual([]);
  const again = await run(words('--yes'), asked());
  expect(again.code).toBe(3);
  expectGolden('db-rehearse', errorIn(again));
  expect(await target.query('SELECT count(*) AS rows FROM customers', 'shop')).toEqual([{ rows: '3000' }]);
  // The copies belong to a role that cannot do anything else, and the database to its former owner.
  const [made] = await target.query(
    `SELECT r.rolname, r.rolsuper OR r.rolcanlogin AS able, pg_get_userbyid(d.datdba) AS owner FROM pg_class c
     JOIN pg_roles r ON r.oid = c.relowner JOIN pg_database d ON d.datname = current_database() WHERE c.relname = 'customers'`,
    'shop',
  );
  expect(made).toEqual({ rolname: expect.stringMatching(/^cloudctl_[0-9a-f]+_\d+$/), able: false, owner: 'postgres' });
  await target.query('DROP DATABASE shop');
  await target.query(`DROP ROLE app, ${made?.rolname}`);
});

test('an existing database that is empty is filled, and is there and empty afterwards', async () => {
  await target.query('CREATE DATABASE shop');
  const [before] = await target.query("SELECT oid FROM pg_database WHERE datname = 'shop'");
  const ran = await run(words('--yes'), asked());
  expect(ran.code, ran.stderr).toBe(0);
  expect(await target.query("SELECT oid FROM pg_database WHERE datname = 'shop'")).toEqual([before]);
  expect(
    await target.query("SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace", 'shop'),
  ).toEqual([]);
  expect(await objectsOn(source)).toEqual([]);
});

test('a staging server that cannot replicate is an error, and no reason to rehearse the dump', async () => {
  const staging = await startTarget({
    version: 18,
    password: secrets.target,
    settings: { max_logical_replication_workers: '0' },
  });
  const from = ['--source', source.url('shop'), '--disable-ssl', '--into', staging.url('postgres')];
  const ran = await run(['db', 'rehearse', ...from, '--accept', 'listen-addresses', '--yes'], asked());
  expect(ran.code, ran.stderr).toBe(3);
  expect(ran.stderr).toContain('blocked by target-workers');
  await staging.stop();
});

test('when only a dump is possible, the dump is rehearsed', async () => {
  const cold = await startSource({ version: 14, password: secrets.source, settings: { wal_level: 'replica' } });
  await cold.query('CREATE DATABASE cold');
  await cold.query('CREATE TABLE t (id int); INSERT INTO t SELECT generate_series(1, 500)', 'cold');
  const from = ['--source', cold.url('cold'), '--disable-ssl', '--into', target.url('postgres')];
  const ran = await run(['db', 'rehearse', ...from, '--accept', 'listen-addresses', '--yes', '-o', 'json'], asked());
  expect(ran.code, ran.stderr).toBe(0);
  expect(ran.json<RehearsalReport>()).toMatchObject({ ok: true, method: 'dump' });
  expectGolden('db-rehearse', ran.stderr.split('\n').find((line) => line.startsWith('The dump')) ?? '');
  const typed = await run(['db', 'rehearse', ...from, '--method', 'continuous', '--yes'], asked());
  expect(typed.code).toBe(3);
  expect(await leftovers()).toEqual([]);
  await cold.stop();
});

describe('it is refused before anything is made', () => {
  test('without a terminal and without --yes', async () => {
    const ran = await run(words(), asked());
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expectGolden('db-rehearse', errorIn(ran));
  });

  test('into the source itself, or an older server, or another engine', async () => {
    const same = ['db', 'rehearse', '--source', source.url('shop'), '--disable-ssl', '--yes'];
    const env = { PGPASSWORD: secrets.source };
    const itself = await run(
      [
        ...same,
        '--into',
        `postgres://postgres@localhost:${source.port}/postgres`,
        '--accept',
        'listen-addresses,self-target',
      ],
      { ...asked(), env },
    );
    expect(itself.code).toBe(2);
    expectGolden('db-rehearse', errorIn(itself));
    const back = [
      'db',
      'rehearse',
      '--source',
      target.url('postgres'),
      '--disable-ssl',
      '--into',
      source.url('postgres'),
      '--yes',
    ];
    const older = await run(back, {
      ...asked(),
      env: { PGPASSWORD: secrets.target, CLOUDCTL_REHEARSE_INTO_PASSWORD: secrets.source },
    });
    expect(older.code).toBe(3);
    expect(older.stderr).toContain('version-not-newer');
    const other = await run([...same, '--into', 'redis://127.0.0.1:1'], asked());
    expect(other.code).toBe(2);
    expect(await objectsOn(source)).toEqual([]);
  });

  test('a password in --into is warned of, and never printed', async () => {
    const [from, to] = [source.url('shop'), target.url('postgres').replace('postgres@', `postgres:${secrets.target}@`)];
    const ran = await run(
      ['db', 'rehearse', '--source', from, '--disable-ssl', '--into', to, '--method', 'dump', '--strict', '--yes'],
      asked(),
    );
    expectGolden('db-rehearse', ran.stderr.split('\n').find((line) => line.startsWith('warning: ')) ?? '');
    expectNoSecrets(ran);
  });
});

test.skipIf(lacks('redis-server'))(
  'Redis: the target follows, is compared, and is empty and alone afterwards',
  async () => {
    const [from, to] = await Promise.all([startRedis(), startRedis()]);
    try {
      for (let at = 0; at < 50; at++) from.cli('SET', `key:${at}`, 'x');
      from.cli('-n', '3', 'SET', 'other', 'y');
      const address = ['--source', `redis://${from.host}:${from.port}`, '--into', `redis://${to.host}:${to.port}`];
      const ran = await run(['db', 'rehearse', ...address, '--yes', '-o', 'json'], { folders, limit: 90_000 });
      expect(ran.code, ran.stderr).toBe(0);
      expect(ran.json<RehearsalReport>()).toMatchObject({
        ok: true,
        databases: [
          { name: 'db0', tables: [{ name: 'keys', rows_source: 50, rows_target: 50, state: 'equal' }] },
          { name: 'db3', tables: [{ rows_source: 1, rows_target: 1 }] },
        ],
      });
      expect(to.cli('DBSIZE')).toBe('0');
      expect(to.cli('ROLE')).toMatch(/^master/);
      to.cli('SET', 'mine', '1');
      const refused = await run(['db', 'rehearse', ...address, '--yes'], { folders, limit: 90_000 });
      expect(refused.code).toBe(3);
      expectGolden('db-rehearse', errorIn(refused));
      expect(to.cli('GET', 'mine')).toBe('1');
    } finally {
      await Promise.all([from.stop(), to.stop()]);
    }
  },
);

test.skipIf(lacks('tmux'))('in a terminal it says what it will make, asks, and draws how far it is', async () => {
  await source.query(stuck, 'shop');
  const shown = await terminal(words(), { ...asked(), columns: 100, rows: 30 });
  const question = await shown.waitFor(/the rehearsal\?/);
  const plan = question.slice(question.indexOf('Source '), question.indexOf('?', question.indexOf('Source ')));
  expectGolden('db-rehearse', masked(plan.replaceAll(/\s*\n\s*/g, ' ')), 'plan');
  expect(await objectsOn(source)).toEqual([]);
  await shown.press('y', 'Enter');
  const picture = await shown.waitFor(/rehearsal of 127\.0\.0\.1:\d+\/shop[\s\S]*copying/);
  expect(picture).toContain('Ctrl-C');
  await shown.press('C-c');
  expect(await shown.ended()).toBe(130);
  const screen = await shown.screen();
  expectGolden('db-rehearse', masked(screen.slice(screen.indexOf('error: '))), 'end');
  expect(await leftovers()).toEqual([]);
  await shown.close();
});
