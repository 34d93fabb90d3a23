import { afterAll, beforeAll, expect, it } from 'vitest';
import { closedPort } from '../../../scripts/free-port.mjs';
import { startSource, startTarget } from '../../db/engine/servers.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import type { Postgres } from '../../fixtures/postgres.ts';
import { runPsql } from '../../fixtures/psql.ts';
import { runCloudctl } from '../run-cloudctl.ts';
import { dbTestHost } from './test-source.ts';

let source: Postgres;
let target: Postgres;
beforeAll(async () => {
  [source, target] = await Promise.all([startSource(), startTarget({ version: 18 })]);
  for (const server of [source, target]) {
    await server.query('CREATE DATABASE shop');
    await server.query('CREATE TABLE t (id int)', 'shop');
  }
  await source.query("CREATE ROLE app LOGIN PASSWORD 'app-password' NOINHERIT SUPERUSER");
  await source.query(
    'ALTER TABLE t OWNER TO app; ALTER ROLE app IN DATABASE shop SET search_path = shop, public',
    'shop',
  );
  await source.query(
    "CREATE ROLE reader; GRANT SELECT ON t TO reader; COMMENT ON DATABASE shop IS 'it''s ours'",
    'shop',
  );
});
afterAll(() => Promise.all([source?.stop(), target?.stop()]));

const grants = (...words: readonly string[]) => {
  const at = (server: Postgres) => `postgres://postgres@127.0.0.1:${server.port}/shop?sslmode=disable`;
  const host = dbTestHost({ PGPASSWORD: source.password, CLOUDCTL_TARGET_PASSWORD: target.password });
  const options = ['--source', at(source), '--target', at(target), '--ignore-dbs', 'postgres'];
  return runCloudctl(host, ['db', 'grants', ...options, ...words]);
};

it('prints a script that psql runs, and nothing when it has run', async () => {
  const settings = await grants('--section', 'settings', '--section', 'defaults', '-o', 'json');
  expect(settings.json<{ section: string }[]>().map(({ section }) => section)).toEqual(['settings', 'settings']);
  const first = await grants();
  expect(first.code).toBe(0);
  expect(`${first.out}${first.err}`).not.toContain('app-password');
  expectGolden('db-grants', `${first.out}${first.err}`);
  expect(runPsql(target, first.out)).toMatchObject({ code: 0, created: [] });
  const again = await grants();
  expect([
    again.code,
    again.out.split('\n').filter((line) => /^(GRANT|ALTER|CREATE|REVOKE|COMMENT)/.test(line)),
  ]).toEqual([0, []]);
});

it('a password is proven by the verifier of the source or a session', async () => {
  for (const statement of ["ALTER ROLE app PASSWORD 'another'", "CREATE ROLE second LOGIN PASSWORD 'one'"])
    for (const server of [target, source])
      if (server === target || statement.startsWith('CREATE')) await server.query(statement);
  const named = async () => ((await grants()).err.match(/\\password "\w+"/g) ?? []).sort();
  expect(await named()).toEqual(['\\password "app"', '\\password "second"']);
  const [row] = await source.query("SELECT rolpassword AS verifier FROM pg_authid WHERE rolname = 'app'");
  await target.query(`ALTER ROLE app PASSWORD '${row?.verifier}'`);
  expect(await named()).toEqual(['\\password "second"']);
  await target.query('ALTER ROLE second PASSWORD NULL');
  expect(await named()).toEqual(['\\password "second"']);
});

it('of Redis, or with an unknown section, is a usage error', async () => {
  const redis = await runCloudctl(dbTestHost(), [
    'db',
    'grants',
    '--source',
    'redis://127.0.0.1:1',
    '--target',
    'redis://127.0.0.1:2',
  ]);
  expect(redis).toMatchObject({ code: 2, out: '' });
  expect(await grants('--section', 'rows')).toMatchObject({ code: 2, out: '' });
});

it('of a source that cannot be reached prints no statement', async () => {
  const port = await closedPort();
  const ran = await runCloudctl(dbTestHost({ CLOUDCTL_TARGET_PASSWORD: 'x' }), [
    ...['db', 'grants', '--source', `postgres://u@127.0.0.1:${port}/d?sslmode=disable`],
    ...['--target', `postgres://u@127.0.0.1:${port}/d?sslmode=disable`, '-o', 'json'],
  ]);
  expect([ran.code, ran.out]).toEqual([3, '']);
  expect(ran.error().code).toBe('source_unreachable');
});
