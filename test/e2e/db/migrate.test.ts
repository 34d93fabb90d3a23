import { createServer } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PreflightReport } from '../../../src/db/preflight/report.ts';
import { type Ran, type RunOptions, run } from '../../fixtures/cli.ts';
import { reply, serverFor } from '../../fixtures/fake-server.ts';
import { type Folders, makeFolders } from '../../fixtures/folders.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { logIn } from '../../fixtures/login.ts';
import { lacks } from '../../fixtures/needs.ts';
import { type Postgres, ready, startPostgres } from '../../fixtures/postgres.ts';
import { type Sandbox, startSandbox } from '../../fixtures/sandbox.ts';
import { terminal } from '../../fixtures/terminal.ts';

const password = `p'w"d \\%2F\${x}é`;
const cluster = '3b643ad7-65aa-4066-b45b-1c64b6db600a';

let folders: Folders;
let server: Postgres;
let sandbox: Sandbox;

beforeAll(async () => {
  folders = makeFolders();
  [server, sandbox] = await Promise.all([
    startPostgres({
      version: 17,
      settings: ready,
      password,
      setup: ['CREATE DATABASE shop', 'CREATE DATABASE scratch'],
    }),
    startSandbox(folders, ['--no-profile', '--consent', 'approve maya@example.com']),
  ]);
});

afterAll(async () => {
  await sandbox?.stop();
  await server?.stop();
  folders.remove();
});

interface Migrated {
  readonly id: string;
  readonly status: string;
  readonly created_at: string;
  readonly deadline: string;
  readonly preflight: PreflightReport;
}

function migrate(words: readonly string[], more: Partial<RunOptions> = {}): Promise<Ran> {
  const source = ['--source', server.url('shop'), '--disable-ssl', '--target-version', '18'];
  // What is said last counts.
  return run(['db', 'migrate', ...source, ...words], {
    folders,
    limit: 60_000,
    ...more,
    env: { PGPASSWORD: password, ...more.env },
  });
}

test('the request is exactly what was given, and the password goes nowhere else', async () => {
  const startedAt = Math.floor(Date.now() / 1000) * 1000;
  const iso = (time: number) => new Date(time).toISOString().replace('.000Z', 'Z');
  const answer = { id: 'f1', status: 'running', created_at: iso(startedAt) };
  const service = await serverFor(({ method }, response) => reply(response, method === 'GET' ? 404 : 200, answer));
  const env = { CLOUDCTL_BASE_URL: service.origin, CLOUDCTL_ACCESS_TOKEN: 'a-token' };
  await server.query('CREATE UNLOGGED TABLE cache (id int PRIMARY KEY); INSERT INTO cache VALUES (1)', 'shop');
  const ran = await migrate([cluster, '--ignore-dbs', 'scratch', '-o', 'json', '--trace'], { env });
  await server.query('DROP TABLE cache', 'shop');
  const [put, ...more] = changes(service.seen);
  expect(more).toEqual([]);
  expect(put).toMatchObject({ method: 'PUT', url: `/v2/databases/${cluster}/online-migration` });
  expect(put?.headers).toMatchObject({ authorization: 'Bearer a-token', 'content-type': 'application/json' });
  expect(JSON.parse(put?.body ?? '')).toEqual({
    source: { host: '127.0.0.1', port: server.port, dbname: 'shop', username: 'postgres', password },
    disable_ssl: true,
    ignore_dbs: ['scratch'],
  });
  const { preflight, ...migrated } = ran.json<Migrated>();
  expect(migrated).toEqual({ ...answer, deadline: iso(startedAt + 14 * 86_400_000) });
  expect(preflight).toMatchObject({ verdict: 'continuous', ok: true });
  expect(ran.code).toBe(0);
  for (const form of [password, JSON.stringify(password).slice(1, -1), encodeURIComponent(password), 'a-token']) {
    expect(`${ran.stdout}${ran.stderr}`.includes(form)).toBe(false);
  }
  // spec 4.6: what must not be done meanwhile, and what must be restored; then what the preflight warned of.
  expectGolden(
    'db-migrate',
    ran.stderr
      .slice(ran.stderr.indexOf('The service '))
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
      .replaceAll(String(server.port), 'PORT'),
  );
});

test('a source that is not ready is told so, and nothing is sent', async () => {
  const service = await serverFor((_seen, response) => reply(response, 500));
  const env = { CLOUDCTL_BASE_URL: service.origin, CLOUDCTL_ACCESS_TOKEN: 'a-token' };
  // Newer than the target.
  const old = await migrate([cluster, '--target-version', '16', '-o', 'json'], { env });
  expect(old).toMatchObject({ code: 3, stdout: '' });
  expect(old.stderr).toContain('version-not-newer');
  const unreachable = await run(['db', 'migrate', cluster, '--source', 'postgres://u@127.0.0.1:9/d'], { folders, env });
  expect(unreachable.code).toBe(3);
  expect(unreachable.stderr).toContain('tcp-connect');
  expect(changes(service.seen)).toEqual([]);
});

test('a dump is nothing the service starts: the report, then the commands, and nothing sent', async () => {
  const service = await serverFor((_seen, response) => reply(response, 500));
  const env = { CLOUDCTL_BASE_URL: service.origin, CLOUDCTL_ACCESS_TOKEN: 'a-token' };
  const ran = await migrate([cluster, '--method', 'dump'], { env });
  expect(ran).toMatchObject({ code: 2, stdout: '' });
  expect(ran.stderr).toContain(`pg_dump -h 127.0.0.1 -p ${server.port} -U postgres -d shop`);
  expect(service.seen).toEqual([]);
});

test('the sandbox runs it, refuses a second one, and ends it after two weeks', async () => {
  const [target] = sandbox.clusters.filter(({ engine }) => engine === 'postgresql');
  const path = `/v2/databases/${target!.uuid}/online-migration`;
  const grant = await sandbox.admin('POST', '/_sandbox/tokens', { user: sandbox.users[0]?.email, scope: 'read write' });
  const { access_token: token } = grant.body as { readonly access_token: string };
  const env = { ...sandbox.env, CLOUDCTL_ACCESS_TOKEN: token };
  const look = async () => (await run(['api', 'GET', path], { folders, env })).json<Record<string, string>>();

  const first = await migrate([target!.uuid.toUpperCase(), '--skip-preflight', '-o', 'json'], { env });
  expect(first.code).toBe(0);
  const { id, status, created_at: createdAt, deadline } = first.json<Migrated>();
  expect(status).toBe('running');
  expect(Date.parse(deadline) - Date.parse(createdAt)).toBe(14 * 86_400_000);
  expect(await look()).toMatchObject({
    id,
    status: 'running',
    deadline: expect.stringContaining(deadline.slice(0, 19)),
  });

  const second = await migrate([target!.uuid, '--skip-preflight', '-o', 'json'], { env });
  expect(second).toMatchObject({ code: 1, stdout: '' });
  expect(second.stderr).toContain('"status":409');
  const unknown = await migrate([cluster, '--skip-preflight', '-o', 'json'], { env });
  expect(unknown).toMatchObject({ code: 1, stdout: '' });
  expect(unknown.stderr).toContain('"code":"not_found"');

  await run(['sandbox', 'clock', '+13d'], { folders, env });
  expect(await look()).toMatchObject({ status: 'running' });
  await run(['sandbox', 'clock', '+1d'], { folders, env });
  expect(await look()).toMatchObject({ status: 'canceled', reason: 'max_duration' });
});

test('a session that may only read is refused before the source is asked', async () => {
  let asked = 0;
  const source = createServer((socket) => {
    asked += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => source.listen(0, '127.0.0.1', resolve));
  const { port } = source.address() as { readonly port: number };
  const own = makeFolders();
  try {
    expect((await logIn({ folders: own, env: sandbox.env })).code).toBe(0);
    const words = ['db', 'migrate', cluster, '--source', `postgres://u@127.0.0.1:${port}/d`, '-o', 'json'];
    const ran = await run(words, { folders: own, env: { ...sandbox.env, PGPASSWORD: 'x' } });
    expect(ran).toMatchObject({ code: 4, stdout: '' });
    expect(ran.stderr).toContain('"code":"scope_too_small"');
    expect(ran.stderr).toContain('read write');
    expect(asked).toBe(0);
  } finally {
    source.close();
    own.remove();
  }
});

test.skipIf(lacks('tmux'))('in a terminal it asks, and no is no', async () => {
  const service = await serverFor(({ method }, response) =>
    reply(response, method === 'GET' ? 404 : 200, { id: 'f1', status: 'running', created_at: '2026-11-20T12:00:00Z' }),
  );
  const env = { CLOUDCTL_BASE_URL: service.origin, CLOUDCTL_ACCESS_TOKEN: 'a-token', PGPASSWORD: password };
  const words = ['db', 'migrate', cluster, '--source', server.url('shop'), '--disable-ssl', '--skip-preflight'];
  const question = /Start the online migration of 127\.0\.0\.1:\d+ into cluster 3b643ad7/;
  const refused = await terminal(words, { folders, env, columns: 140 });
  await refused.waitFor(question);
  await refused.type('n');
  await refused.press('Enter');
  expect(await refused.ended()).toBe(130);
  expect(await refused.screen()).toMatch(/^error: /m);
  await refused.close();
  // The question names the account of the token.
  expect(changes(service.seen)).toEqual([]);
  const agreed = await terminal(words, { folders, env, columns: 140 });
  await agreed.waitFor(question);
  await agreed.type('y');
  await agreed.press('Enter');
  expect(await agreed.ended()).toBe(0);
  await agreed.close();
  expect(changes(service.seen)).toHaveLength(1);
});

test('without the version of the target the premise is printed and the migration starts; --strict refuses it', async () => {
  const answer = { id: 'f1', status: 'running', created_at: new Date().toISOString() };
  const service = await serverFor(({ method }, response) => reply(response, method === 'GET' ? 404 : 200, answer));
  const env = { CLOUDCTL_BASE_URL: service.origin, CLOUDCTL_ACCESS_TOKEN: 'a-token', PGPASSWORD: password };
  const words = ['db', 'migrate', cluster, '--source', server.url('shop'), '--disable-ssl', '-o', 'json'];
  const strict = await run([...words, '--strict'], { folders, limit: 60_000, env });
  expect(strict.code).toBe(3);
  expect(changes(service.seen)).toEqual([]);
  const { error } = JSON.parse(strict.stderr.slice(strict.stderr.indexOf('{"error"'))) as { error: { detail: string } };
  expectGolden('db-migrate', error.detail, 'strict');
  const ran = await run([...words, '-y'], { folders, limit: 60_000, env });
  expect(ran.code).toBe(0);
  expect(changes(service.seen)).toHaveLength(1);
  const { preflight } = JSON.parse(ran.stdout) as Migrated;
  expect(preflight).toMatchObject({ ok: true, proven: false, premises: [{ id: 'version-not-newer' }] });
  expectGolden('db-migrate', ran.stderr.split('\n').find((line) => line.includes('premise')) ?? '', 'premise');
});

test.skipIf(lacks('tmux'))(
  'on a terminal the version of the target is a question, and a wrong one is refused',
  async () => {
    const answer = { id: 'f1', status: 'running', created_at: new Date().toISOString() };
    const service = await serverFor(({ method }, response) => reply(response, method === 'GET' ? 404 : 200, answer));
    const env = { CLOUDCTL_BASE_URL: service.origin, CLOUDCTL_ACCESS_TOKEN: 'a-token', PGPASSWORD: password };
    const words = ['db', 'migrate', cluster, '--source', server.url('shop'), '--disable-ssl'];
    const asked = await terminal(words, { folders, env, columns: 140 });
    await asked.waitFor(/Version of the target/);
    await asked.type('x');
    await asked.press('Enter');
    await asked.waitFor(/as in 17/);
    await asked.press('BSpace');
    await asked.type('17');
    await asked.press('Enter');
    await asked.waitFor(/Start the online migration/);
    await asked.type('y');
    await asked.press('Enter');
    expect(await asked.ended()).toBe(0);
    expect(await asked.screen()).not.toContain('premise');
    await asked.close();
    expect(changes(service.seen)).toHaveLength(1);
  },
);

function changes<T extends { readonly method: string }>(seen: readonly T[]): readonly T[] {
  return seen.filter(({ method }) => method !== 'GET');
}
