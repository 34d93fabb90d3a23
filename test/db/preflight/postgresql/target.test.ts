import { describe, expect, it, test } from 'vitest';
import { Secret } from '../../../../src/base/secret.ts';
import { readPostgresqlTarget } from '../../../../src/db/preflight/postgresql/target.ts';
import type { PreflightReport } from '../../../../src/db/preflight/report.ts';
import { dbTestHost } from '../../../commands/db/test-source.ts';
import { runCloudctl } from '../../../commands/run-cloudctl.ts';
import { ready, startPostgres } from '../../../fixtures/postgres.ts';
import { postgresEndpointOf } from '../../engine/servers.ts';
import { postgresqlTarget } from './facts.ts';

const signal = () => AbortSignal.timeout(30_000);

test.each([14, 18] as const)('a target of PostgreSQL %i is read with any login', async (version) => {
  const server = await startPostgres({ version, settings: { shared_preload_libraries: 'pg_stat_statements' } });
  await server.query("CREATE ROLE plain LOGIN CREATEDB PASSWORD 'hush-4711'");
  const login = postgresEndpointOf(server, { username: 'plain', password: new Secret('hush-4711') });
  const sent: string[] = [];
  const read = await readPostgresqlTarget(login, signal(), (text) => void sent.push(text));
  expect(Math.floor(read.version / 10_000)).toBe(version);
  expect(read).toMatchObject({ login: 'plain', isSuperuser: false, mayCreateDatabases: true, mayCreateRoles: false });
  expect(read.isManaged).toBe(false);
  expect(read.extensions.get('hstore')).toMatchObject({ isTrusted: true, schema: undefined });
  expect(read.extensions.get('pageinspect')).toMatchObject({ isTrusted: false });
  expect(read.extensions.get('earthdistance')).toMatchObject({ requires: ['cube'] });
  expect(read.extensions.get('plpgsql')).toMatchObject({ schema: 'pg_catalog' });
  expect([...read.languages].sort()).toEqual(['c', 'internal', 'plpgsql', 'sql']);
  expect(read.roles.has('plain') && read.databases.has('postgres') && read.locales.has('C')).toBe(true);
  expect(read.timeZones?.has('europe/berlin')).toBe(true);
  // Only a member of pg_read_all_settings sees it.
  expect(read.settings.has('shared_preload_libraries')).toBe(false);
  expect(sent.every((text) => text.startsWith('BEGIN ISOLATION LEVEL READ COMMITTED, READ ONLY'))).toBe(true);
  const all = await readPostgresqlTarget(postgresEndpointOf(server), signal());
  expect(all).toMatchObject({ isSuperuser: true, mayCreateRoles: true });
  expect(all.settings.get('shared_preload_libraries')).toBe('pg_stat_statements');
  expect(Object.keys(read).sort()).toEqual(Object.keys(postgresqlTarget()).sort());
});

test('no stored search_path of a target replaces what is read', async () => {
  const server = await startPostgres({
    version: 17,
    setup: [
      'CREATE SCHEMA evil',
      "CREATE FUNCTION evil.current_setting(text) RETURNS text LANGUAGE sql AS $$SELECT '999999'$$",
      "CREATE VIEW evil.pg_roles AS SELECT 'evil'::name AS rolname, true AS rolsuper, true AS rolcreatedb, true AS rolcreaterole",
      "CREATE ROLE plain LOGIN PASSWORD 'hush-4711'",
      'GRANT ALL ON SCHEMA evil TO plain; GRANT ALL ON evil.pg_roles TO plain',
      'ALTER ROLE plain SET search_path = evil, pg_catalog',
    ],
  });
  const login = postgresEndpointOf(server, { username: 'plain', password: new Secret('hush-4711') });
  expect(await readPostgresqlTarget(login, signal())).toMatchObject({ login: 'plain', isSuperuser: false });
});

describe('db preflight --target', () => {
  async function pair() {
    const [source, target] = await Promise.all([
      startPostgres({ version: 15, settings: ready }),
      startPostgres({ version: 17 }),
    ]);
    await target.query("CREATE ROLE plain LOGIN CREATEDB PASSWORD 'hush-4711' IN ROLE pg_create_subscription");
    await source.query('CREATE EXTENSION pageinspect');
    const run = async (user: string, env: Readonly<Record<string, string>>, ...more: readonly string[]) => {
      const words = ['db', 'preflight', '--source', source.url(), '--disable-ssl', '--allow-private', ...more];
      const host = dbTestHost({ PGPASSWORD: source.password, ...env });
      const ran = await runCloudctl(host, [...words, '-o', 'json', '--target', target.url('postgres', user)]);
      return { ...ran, report: () => ran.json<PreflightReport>() };
    };
    return { source, target, run };
  }

  it('reads version, extensions and login of the target, and needs no other option', async () => {
    const { target, run } = await pair();
    const superuser = await run('postgres', { CLOUDCTL_TARGET_PASSWORD: target.password });
    expect(superuser).toMatchObject({ code: 0 });
    expect(superuser.report()).toMatchObject({ verdict: 'continuous', proven: true, target: { version: '17' } });
    const emptiness = ({ findings }: PreflightReport) => findings.find(({ id }) => id === 'target-empty');
    expect(emptiness(superuser.report())).toMatchObject({ status: 'pass' });
    await target.query('CREATE TABLE mine (id int)');
    const plain = await run('plain', { CLOUDCTL_TARGET_PASSWORD: 'hush-4711' });
    expect(plain).toMatchObject({ code: 3 });
    expect(emptiness(plain.report())).toMatchObject({
      status: 'warn',
      observed: expect.stringContaining('public.mine'),
    });
    const blockers = plain.report().findings.filter(({ status }) => status === 'fail');
    expect(blockers.map(({ id }) => id)).toEqual(['extensions']);
    expect(plain.out + plain.err).not.toContain('hush-4711');
  });

  it('shows every statement that it sends, and refuses a version that the target does not have', async () => {
    const { target, run } = await pair();
    const password = { CLOUDCTL_TARGET_PASSWORD: target.password };
    const shown = await run('postgres', password, '--show-queries', '--target-version', '17');
    expect(shown.err).toContain('pg_available_extensions');
    expect(await run('postgres', password, '--target-version', '16')).toMatchObject({ code: 2, out: '' });
    expect(await run('postgres', password, '--target-extensions', 'pageinspect')).toMatchObject({ code: 2, out: '' });
    expect(await run('plain', { CLOUDCTL_TARGET_PASSWORD: 'wrong' })).toMatchObject({ code: 6, out: '' });
  });
});
