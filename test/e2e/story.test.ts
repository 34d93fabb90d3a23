import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { visit } from '../../scripts/page-visitor.mjs';
import { run, start } from '../fixtures/cli.ts';
import { type Folders, makeFolders } from '../fixtures/folders.ts';
import { type Sandbox, startSandbox } from '../fixtures/sandbox.ts';

// One working day with the built program against the embedded sandbox. It needs nothing but Node, so `npm test` runs it;
// each test goes on where the one before it ended.

let folders: Folders;
let sandbox: Sandbox;
const cloudctl = (...words: readonly string[]) => run(words, { folders, env: sandbox.env });

beforeAll(async () => {
  folders = makeFolders();
  sandbox = await startSandbox(folders);
});
afterAll(async () => {
  await sandbox?.stop();
  folders?.remove();
});

test('a login through the pages of the authorization server stores a session', async () => {
  const person = sandbox.users.find(({ teams }) => teams.length > 0);
  const login = start(['auth', 'login', '--scope', 'read write', '-o', 'json'], { folders, env: sandbox.env });
  const [url] = await login.waitFor('stderr', /^http\S+\/v1\/oauth\/authorize\?\S+$/m);
  await visit(url, ({ html }) => {
    if (html.includes('name="password"')) return { email: person?.email ?? '', password: person?.password ?? '' };
    if (!html.includes('value="approve"')) return undefined;
    return { decision: 'approve', account: person?.teams[0]?.uuid ?? 'personal' };
  });
  const ended = await login.ended;
  expect(ended.code).toBe(0);
  expect(ended.json()).toMatchObject({
    email: person?.email,
    scope: 'read write',
    scope_verified: true,
    store: 'file',
  });
});

test('a refresh replaces the access token, and the old one is refused', async () => {
  const before = (await cloudctl('auth', 'token')).stdout.trim();
  expect((await cloudctl('auth', 'refresh')).code).toBe(0);
  const after = (await cloudctl('auth', 'token')).stdout.trim();
  expect(after).not.toBe(before);
  const status = async (token: string) => {
    const response = await fetch(`${sandbox.base_url}/v2/droplets`, { headers: { authorization: `Bearer ${token}` } });
    return response.status;
  };
  expect([await status(after), (await status(before)) >= 400]).toEqual([200, true]);
});

test('a batch creates every name once, although connections break after the commit', async () => {
  const fault = ['--match', 'POST /v2/droplets', '--action', 'commit_then_drop', '--times', '2'];
  expect((await cloudctl('sandbox', 'faults', 'add', ...fault)).code).toBe(0);
  const words = ['--size', 's-1vcpu-1gb', '--image', 'ubuntu-24-04-x64', '--region', 'nyc3'];
  const created = await cloudctl('droplets', 'create', 'web-{01..25}', ...words, '-o', 'json');
  expect(created.code).toBe(0);
  const rows = created.json<readonly { readonly name: string; readonly status: string }[]>();
  expect(rows.filter(({ status }) => status === 'created')).toHaveLength(25);
  const listed = await cloudctl('droplets', 'list', 'web-*', '-o', 'json');
  const names = listed.json<readonly { readonly name: string }[]>().map(({ name }) => name);
  expect(new Set(names).size).toBe(25);
  expect(names).toHaveLength(25);
});

test('the actions of the batch are listed', async () => {
  const actions = await cloudctl('actions', 'list', '--type', 'create', '-o', 'ndjson');
  expect(actions.code).toBe(0);
  expect(actions.stdout.trim().split('\n').length).toBeGreaterThanOrEqual(25);
});

test('a migration from a source that cannot be reached is refused before any request', async () => {
  const cluster = sandbox.clusters.find(({ engine }) => engine === 'postgresql');
  const source = 'postgres://mover@127.0.0.1:1/shop';
  const env = { ...sandbox.env, PGPASSWORD: 'not-printed-4711' };
  const ran = await run(['db', 'migrate', cluster?.uuid ?? '', '--source', source, '-y', '-o', 'json'], {
    folders,
    env,
  });
  expect(ran.code).toBe(3);
  expect(ran.stdout + ran.stderr).not.toContain('not-printed-4711');
  const { body } = await sandbox.admin('GET', '/_sandbox/requests');
  const { requests } = body as { readonly requests: readonly { readonly path: string }[] };
  expect(requests.filter(({ path }) => path.includes('online-migration'))).toEqual([]);
});

test('a request that is not JSON is refused with the exit code for usage', async () => {
  writeFileSync(join(folders.work, 'body.json'), '{"name": ');
  const ran = await run(['api', 'POST', '/v2/droplets', '--data', '@body.json', '-o', 'json'], {
    folders,
    env: sandbox.env,
  });
  expect([ran.code, JSON.parse(ran.stderr).error.code]).toEqual([2, 'usage']);
});

test('a logout revokes the session', async () => {
  const token = (await cloudctl('auth', 'token')).stdout.trim();
  expect((await cloudctl('auth', 'logout')).code).toBe(0);
  expect((await cloudctl('auth', 'status')).code).toBe(4);
  const response = await fetch(`${sandbox.base_url}/v2/actions`, { headers: { authorization: `Bearer ${token}` } });
  expect(response.status).toBeGreaterThanOrEqual(400);
});
