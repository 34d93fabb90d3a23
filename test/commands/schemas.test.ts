import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeCommands } from '../../src/cli/command-table.ts';
import { commandTree } from '../../src/commands/index.ts';
import { readConfig } from '../../src/config/config-file.ts';
import { outputSchemas } from '../../src/help-topics/guide-topics.ts';
import { testHost } from '../fixtures/host.ts';
import { type JsonSchema, schemaErrors } from '../fixtures/json-schema.ts';
import { expectSchema, expectSchemas, schemas } from '../fixtures/output-schemas.ts';
import { seedSession } from '../fixtures/session.ts';
import { callApi, sandboxFor } from '../sandbox/requests.ts';
import { createSandboxHost, runCloudctl, runLogin, sandboxEnvironment } from './run-cloudctl.ts';

const like = ['--size', 's-1vcpu-1gb', '--image', 'ubuntu-24-04-x64', '--region', 'nyc3'];

async function loggedIn() {
  const [host, sandbox] = [testHost(), await sandboxFor()];
  const { grant } = await seedSession(host, sandbox, { scope: 'read write' });
  /** Every run is compared with the schema of its command in run-cloudctl.ts. */
  const run = (...words: string[]) => runCloudctl(host, words);
  return { host, sandbox, run, token: grant.access_token };
}

it('`cloudctl help output` names every schema', async () => {
  expect(outputSchemas.map(({ file }) => file).sort()).toEqual([...schemas.keys()].sort());
  const { out } = await runCloudctl(testHost(), ['help', 'output']);
  for (const file of schemas.keys()) expect(out).toContain(file);
});

it('a schema has the members that `--json` of its commands accepts', async () => {
  const root = { kind: 'group', summary: '', children: commandTree } as const;
  const { commands } = await describeCommands('cloudctl', root);
  const named = outputSchemas.flatMap(({ file, commands: of }) => of.map((command) => ({ file, command })));
  for (const { file, command } of named.filter(({ command: one }) => !/preflight|inventory/.test(one))) {
    const fields = commands.find(({ words }) => words.slice(1).join(' ') === command)?.fields ?? [];
    const { anyOf = [schemas.get(file)] } = schemas.get(file) ?? {};
    const members = (anyOf as readonly JsonSchema[]).flatMap(({ properties }) => Object.keys(properties ?? {}));
    expect(new Set(members), command).toEqual(new Set(fields));
  }
});

it('output that is not as its schema says is found', () => {
  const words = ['droplets', 'create', '-o', 'ndjson'];
  const row = { name: 'a', status: 'created', id: 1 };
  expectSchemas(words, `${JSON.stringify(row)}\n{"na`, '');
  for (const wrong of [{ ...row, id: '1' }, { ...row, more: 1 }, { name: 'a' }, { ...row, status: 'new' }])
    expect(() => expectSchemas(words, `${JSON.stringify(wrong)}\n`, '')).toThrow();
  expect(() => expectSchemas(words, '', '{"error":{"code":"no_such_code","message":"","exit_code":1}}\n')).toThrow();
});

describe('in the sandbox', () => {
  it('droplets: rows of a batch, of its plan, of its ledger, of its deletion', async () => {
    const { run } = await loggedIn();
    expect((await run('droplets', 'create', 'a', 'b', ...like, '--dry-run', '-o', 'json')).json()).toHaveLength(1);
    expect((await run('droplets', 'create', 'a', 'b', ...like, '--plan', '-o', 'json')).json()).toHaveLength(2);
    const made = await run('droplets', 'create', 'a', 'b', ...like, '-o', 'json');
    expect(made.json()).toMatchObject([{ status: 'created' }, { status: 'created' }]);
    const again = [...like.with(1, 's-2vcpu-4gb'), '--if-exists', 'skip'];
    const skipped = await run('droplets', 'create', 'a', 'b', 'c', ...again, '-o', 'ndjson');
    expect(skipped.out).toContain('"skipped"');
    expect((await run('droplets', 'create', 'a', ...again, '--plan', '-o', 'json')).out).toContain('differs');
    const list = (await run('droplets', 'list', '-o', 'json')).json<{ id: number }[]>();
    expect(list.length).toBeGreaterThan(2);
    expectSchema('droplets-list-1.json', list);
    expectSchema('droplets-list-1.json', (await run('droplets', 'get', 'a', '-o', 'json')).json());
    const [batch] = (await run('droplets', 'batches', 'list', '-o', 'json')).json<{ id: string }[]>();
    for (const words of [[], ['--offline']])
      expect((await run('droplets', 'batches', 'show', batch?.id ?? '', ...words, '-o', 'json')).code).toBe(0);
    expect((await run('droplets', 'delete', 'b', '--dry-run', '-o', 'json')).json()).toHaveLength(1);
    expect((await run('droplets', 'delete', 'b', '-y', '-o', 'ndjson')).out).toContain('"deleted"');
    const missing = await run('droplets', 'delete', 'b', '-y', '-o', 'json');
    expect(missing).toMatchObject({ code: 1, out: '' });
  });

  it('auth status: a session, a token of the environment, a program', async () => {
    const { host, sandbox, run, token } = await loggedIn();
    expect((await run('auth', 'status', '-o', 'json')).json()).toMatchObject({ state: 'valid', flow: 'code' });
    const env = { CLOUDCTL_ACCESS_TOKEN: token, CLOUDCTL_BASE_URL: sandbox.ready.base_url };
    const given = await runCloudctl(host, ['auth', 'status', '-o', 'json'], { env });
    expect(given.json()).toMatchObject({ source: 'CLOUDCTL_ACCESS_TOKEN' });
    await run('config', 'set', 'token_command', JSON.stringify([process.execPath, '-e', `console.log('${token}')`]));
    expect((await run('auth', 'status', '-o', 'json')).json()).toMatchObject({ state: 'not_checked' });
    expect((await run('auth', 'status', '--check', '-o', 'json')).json()).toMatchObject({ state: 'valid' });
    const none = await runCloudctl(await createSandboxHost(sandbox), ['auth', 'whoami', '-o', 'json']);
    expect(none.error()).toMatchObject({ code: 'not_logged_in' });
  });

  it('auth status after a login through the browser has the account', async () => {
    const sandbox = await sandboxFor();
    const host = await createSandboxHost(sandbox, { env: sandboxEnvironment(sandbox) });
    expect((await runLogin(host)).code).toBe(0);
    const status = await runCloudctl(host, ['auth', 'status', '-o', 'json']);
    expect(status.json()).toMatchObject({ name: expect.any(String), sandbox: expect.any(Boolean) });
  });

  it('db status', async () => {
    const { sandbox, run, token } = await loggedIn();
    const cluster = sandbox.ready.clusters[0]?.uuid ?? '';
    const body = { source: { host: 'db.example.com', dbname: 'shop' } };
    await callApi(sandbox, token, 'PUT', `/v2/databases/${cluster}/online-migration`, body);
    const shown = (await run('db', 'status', cluster, '-o', 'json')).json();
    expect(shown).toMatchObject({ status: 'running' });
    expectSchema('db-status-1.json', shown);
  });
});

describe('config.json', () => {
  it('as every command writes it', async () => {
    const { host, run } = await loggedIn();
    const values = {
      scope: 'read write',
      pkce: 'false',
      output: 'json',
      batch_ledger_days: '7',
      callback_urls: 'http://127.0.0.1:8765/callback',
    };
    for (const [key, value] of Object.entries(values)) expect((await run('config', 'set', key, value)).code).toBe(0);
    await run('auth', 'switch', 'default');
    const file = JSON.parse(readFileSync(join(host.folders.config, 'config.json'), 'utf8'));
    expect(file).toMatchObject({ current: 'default', profiles: { default: { pkce: false, batch_ledger_days: 7 } } });
    expectSchema('config-1.json', file);
  });

  it.each([
    { flow: 'browser' },
    { pkce: 'perhaps' },
    { callback_urls: [] },
    { batch_ledger_days: -1 },
    { token_command: [] },
    { output: 'xml' },
  ])('%j is refused by the schema and by the program', (profile) => {
    const host = testHost();
    const config = { profiles: { default: profile } };
    expect(schemaErrors(schemas.get('config-1.json') ?? {}, config)).not.toEqual([]);
    host.writeConfig(config);
    expect(() => readConfig(host.folders.config)).toThrow();
  });
});
