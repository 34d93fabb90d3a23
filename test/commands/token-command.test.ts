import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import type { SandboxServers } from '../../src/sandbox/sandbox.ts';
import { startServers } from '../../src/sandbox/sandbox.ts';
import { expectGolden } from '../fixtures/golden.ts';
import { type TestHost, testHost } from '../fixtures/host.ts';
import { seedSession } from '../fixtures/session.ts';
import { MAYA, TOMAS, tokenFor } from '../sandbox/requests.ts';
import { recordedRequests, runCloudctl, stableText } from './run-cloudctl.ts';

let sandbox: SandboxServers;
beforeAll(async () => {
  sandbox = await startServers();
});
afterAll(() => sandbox.close());

/** A machine whose profile takes the token from the file `token` by a program that counts its runs. */
async function machine(script = 'cat "$1/token"', values: object = {}) {
  const host = testHost({ env: { PATH: process.env.PATH } });
  const words = ['/bin/sh', '-c', `echo run >> "$1/runs"; ${script}`, 'program', host.place.work];
  host.writeConfig({ profiles: { default: { base_url: sandbox.ready.base_url, token_command: words, ...values } } });
  const put = async (scope = 'read write', user = MAYA): Promise<string> => {
    const { access_token } = await tokenFor(sandbox, { scope, user });
    writeFileSync(join(host.place.work, 'token'), `${access_token}\n`);
    return access_token;
  };
  const token = await put();
  const runs = (): number => {
    const path = join(host.place.work, 'runs');
    return existsSync(path) ? readFileSync(path, 'utf8').split('\n').length - 1 : 0;
  };
  return { host, token, put, runs };
}

async function requestsOf(work: () => Promise<unknown>): Promise<readonly string[]> {
  const before = (await recordedRequests(sandbox)).length;
  await work();
  return (await recordedRequests(sandbox)).slice(before);
}

/** Ends the validity of a token at the server. */
async function revoke(token: string): Promise<void> {
  await fetch(`${sandbox.ready.auth_url}/v1/oauth/revoke?token=${token}`, { method: 'POST' });
}

describe('commands use the printed token', () => {
  test.each([
    [['droplets', 'list', '-o', 'json']],
    [['actions', 'list', '-o', 'json']],
    [['db', 'list', '-o', 'json']],
    [['api', '/v2/account']],
    [['auth', 'token']],
  ])('%j, with one run', async (argv) => {
    const { host, token, runs } = await machine();
    const ran = await runCloudctl(host, argv);
    expect(ran).toMatchObject({ code: 0, err: '' });
    if (argv[1] === 'token') expect(ran.out).toBe(`${token}\n`);
    expect(runs()).toBe(1);
  });

  it('a batch belongs to the account of the token', async () => {
    const { host, runs, put } = await machine();
    const made = await runCloudctl(host, ['droplets', 'create', 'tc-1', 'tc-2', ...attributes, '-o', 'json']);
    expect(made.code).toBe(0);
    expect(runs()).toBe(1);
    const [batch] = (await runCloudctl(host, ['droplets', 'batches', 'list', '-o', 'json'])).json<{ path: string }[]>();
    const path = batch?.path ?? '';
    await put('read write', TOMAS);
    const argv = ['droplets', 'batches', 'delete', path, '--yes', '-o', 'json'];
    const other = await runCloudctl(host, argv);
    expect(other.code).toBe(4);
    expect(other.error()).toMatchObject({ code: 'needs_login', hint: expect.stringContaining('token_command') });
    await put();
    expect((await runCloudctl(host, argv)).code).toBe(0);
  });

  it('a refused token is renewed, and a request that changes something is repeated', async () => {
    const { host, token, put, runs } = await machine(
      'cat "$1/token"; [ -e "$1/next" ] && mv "$1/next" "$1/token"; true',
    );
    const next = join(host.place.work, 'next');
    const current = readFileSync(join(host.place.work, 'token'), 'utf8');
    await put();
    writeFileSync(next, readFileSync(join(host.place.work, 'token')));
    writeFileSync(join(host.place.work, 'token'), current);
    await revoke(token);
    const ran = await runCloudctl(host, ['droplets', 'create', 'tc-refused', ...attributes, '-o', 'json']);
    expect(ran.code).toBe(0);
    expect(runs()).toBe(2);
  });
});

const attributes = ['--region', 'fra1', '--size', 's-1vcpu-1gb', '--image', 'debian-13-x64'];

describe('precedence', () => {
  it('CLOUDCTL_ACCESS_TOKEN precedes the program, and an explicit --profile precedes the variable', async () => {
    const { host, token, runs } = await machine();
    const env = { CLOUDCTL_ACCESS_TOKEN: 'of-the-variable' };
    expect((await runCloudctl(host, ['auth', 'token'], { env })).out).toBe('of-the-variable\n');
    expect((await runCloudctl(host, ['auth', 'token'], { env: { ...env, CLOUDCTL_PROFILE: 'default' } })).out).toBe(
      'of-the-variable\n',
    );
    expect(runs()).toBe(0);
    const explicit = await runCloudctl(host, ['auth', 'token', '--profile', 'default'], { env });
    expect(explicit).toMatchObject({ code: 0, out: `${token}\n` });
    expect(explicit.err.match(/\n/g)).toHaveLength(1);
    expectGolden('auth', explicit.err);
  });

  it('the program precedes a stored session', async () => {
    const { host, token } = await machine();
    const config = host.readConfig();
    await seedSession(host, sandbox, { values: config.profiles.get('default') ?? {} });
    expect((await runCloudctl(host, ['auth', 'token'])).out).toBe(`${token}\n`);
  });

  it('a stored session of an explicit --profile precedes the variable', async () => {
    const host = testHost();
    const { grant } = await seedSession(host, sandbox);
    const env = { CLOUDCTL_ACCESS_TOKEN: 'of-the-variable' };
    const explicit = await runCloudctl(host, ['auth', 'token', '--profile', 'default'], { env });
    expect(explicit.out).toBe(`${grant.access_token}\n`);
    expect(explicit.err.match(/\n/g)).toHaveLength(1);
    const listed = await runCloudctl(host, ['droplets', 'list', '--profile', 'default'], { env });
    expect(listed).toMatchObject({ code: 0, err: explicit.err });
    const status = await runCloudctl(host, ['auth', 'status', '--profile', 'default', '-o', 'json'], { env });
    expect(status.json()).toMatchObject({ profile: 'default', state: 'valid' });
    expect(status.err).toBe('');
  });
});

describe('the token goes only to the API of the profile', () => {
  test.each([
    ['the option', ['--base-url', 'http://127.0.0.1:8999'], {}],
    ['the variable', [], { CLOUDCTL_BASE_URL: 'http://127.0.0.1:8999' }],
  ])('%s', async (_what, options, env) => {
    const { host, runs } = await machine();
    for (const argv of [
      ['droplets', 'list'],
      ['auth', 'token'],
      ['auth', 'status', '--check'],
    ]) {
      const ran = await runCloudctl(host, [...argv, ...options, '-o', 'json'], { env });
      expect(ran.code).toBe(2);
      expect(ran.error()).toMatchObject({ code: 'usage', message: expect.stringContaining('127.0.0.1:8999') });
    }
    expect(runs()).toBe(0);
  });
});

describe('commands that change a session', () => {
  test.each([
    [['auth', 'login']],
    [['auth', 'login', '--with-token']],
    [['auth', 'logout']],
    [['auth', 'logout', '--local']],
    [['auth', 'setup', '--client-id', 'x']],
    [['auth', 'refresh']],
  ])('%j sends nothing and exits with 2', async (argv) => {
    const { host, runs } = await machine();
    const sent = await requestsOf(async () => {
      const ran = await runCloudctl(host, [...argv, '-o', 'json'], { stdin: 'token' });
      expect(ran.code).toBe(2);
      expect(ran.error()).toMatchObject({ code: 'usage', hint: expect.stringContaining('token_command') });
    });
    expect(sent).toEqual([]);
    expect(runs()).toBe(0);
  });

  it('the hint works', async () => {
    const { host } = await machine();
    const refused = await runCloudctl(host, ['auth', 'logout']);
    expectGolden('auth', stableText(refused));
    expect((await runCloudctl(host, ['config', 'unset', 'token_command'])).code).toBe(0);
    expect((await runCloudctl(host, ['auth', 'logout'])).code).toBe(0);
  });

  it('auth logout --all ends a session that is left from before, and auth remove removes the profile', async () => {
    const { host } = await machine();
    const config = host.readConfig();
    const { stored } = await seedSession(host, sandbox, { values: config.profiles.get('default') ?? {} });
    expect((await runCloudctl(host, ['auth', 'logout', '--all'])).code).toBe(0);
    expect(stored()).toBeUndefined();
    expect((await runCloudctl(host, ['auth', 'remove', 'default'])).code).toBe(0);
    expect(host.readConfig().profiles.size).toBe(0);
  });
});

describe('commands that show a session', () => {
  it('auth status names the program and does not run it; --check asks for the account', async () => {
    const { host, runs } = await machine();
    const status = await runCloudctl(host, ['auth', 'status', '-o', 'json']);
    expect(status.json()).toMatchObject({ source: 'token_command', program: '/bin/sh', state: 'not_checked' });
    expect([status.code, runs()]).toEqual([0, 0]);
    const checked = await runCloudctl(host, ['auth', 'status', '--check', '-o', 'json']);
    expect(checked.json()).toMatchObject({ email: MAYA, state: 'valid', renewable: true });
    expect([checked.code, checked.err, runs()]).toEqual([0, '', 1]);
    expectGolden('auth', stableText(await runCloudctl(host, ['auth', 'status'])));
  });

  it('auth status --check fails with the program', async () => {
    const { host } = await machine('echo "no route to host" >&2; exit 255');
    const ran = await runCloudctl(host, ['auth', 'status', '--check']);
    expect(ran.code).toBe(4);
    expectGolden('auth', stableText(ran));
  });

  it('auth status --check shows the printed expiry', async () => {
    const { host } = await machine(
      `printf '{"access_token":"%s","expires_at":"2040-01-02T03:04:05Z"}' "$(cat "$1/token")"`,
    );
    expect((await runCloudctl(host, ['auth', 'status', '--check', '-o', 'json'])).json()).toMatchObject({
      expires_at: '2040-01-02T03:04:05Z',
    });
  });

  it('auth list does not run it', async () => {
    const { host, runs } = await machine();
    const rows = (await runCloudctl(host, ['auth', 'list', '-o', 'json'])).json<{ state: string }[]>();
    expect(rows).toMatchObject([{ profile: 'default', state: 'token_command' }]);
    expect(runs()).toBe(0);
  });

  it('the overview shows the account, and does not wait for a slow program', async () => {
    const { host } = await machine();
    const shown = await runCloudctl(host, ['-o', 'json']);
    expect(shown.json()).toMatchObject({ state: 'token_command', email: MAYA, actions_in_progress: expect.any(Array) });
    const slow = await machine('exec sleep 30');
    const begun = performance.now();
    const ran = await runCloudctl(slow.host, ['-o', 'json']);
    expect(ran.code).toBe(0);
    expect(ran.json()).toMatchObject({ state: 'token_command', problem: expect.stringContaining('2.5 s') });
    expect(performance.now() - begun).toBeLessThan(8_000);
  });

  it('a profile without settings is told of one with a token command', async () => {
    const { host } = await machine();
    const { profiles } = host.readConfig().raw as { readonly profiles: { readonly default: object } };
    host.writeConfig({ profiles: { work: profiles.default } });
    const listed = await runCloudctl(host, ['droplets', 'list', '-o', 'json']);
    expect(listed.error().hint).toContain('--profile work');
  });

  it('doctor runs it, and sends no secret', async () => {
    const { host, token, runs } = await machine();
    const ran = await runCloudctl(host, ['doctor', '-o', 'json']);
    expect(ran.code).toBe(0);
    const { findings } = ran.json<{ findings: { id: string; status: string; observed: string }[] }>();
    expect(findings).toContainEqual(expect.objectContaining({ id: 'token-command', status: 'ok' }));
    expect(findings.map(({ id }) => id)).not.toContain('client-secret');
    expect(runs()).toBe(1);
    expect(ran.out).not.toContain(token);
    const broken = await machine('exit 7');
    const failed = await runCloudctl(broken.host, ['doctor', '-o', 'json']);
    expect(failed.code).toBe(1);
    expect(failed.json<typeof ran>()).toMatchObject({
      findings: expect.arrayContaining([expect.objectContaining({ id: 'token-command', status: 'failed' })]),
    });
    const old = await machine(`echo '{"access_token":"an-old-token","expires_at":"2001-02-03T04:05:06Z"}'`);
    expect((await runCloudctl(old.host, ['doctor', '-o', 'json'])).json()).toMatchObject({
      findings: expect.arrayContaining([expect.objectContaining({ id: 'token-command', status: 'warning' })]),
    });
  });
});

it('does not run while NODE_DEBUG would print its output', async () => {
  const { host, runs } = await machine();
  for (const words of [['auth', 'token'], ['doctor'], ['droplets', 'list']]) {
    const ran = await runCloudctl({ ...host, env: { ...host.env, NODE_DEBUG: 'stream' } }, [...words, '-o', 'json']);
    expect([words, ran.code === 0, runs()]).toEqual([words, false, 0]);
  }
});

describe('config', () => {
  it('token_command is JSON text that get and list print as set reads it', async () => {
    const host: TestHost = testHost();
    host.writeConfig({ profiles: { default: { base_url: 'https://api.example.com' } } });
    const text = '["ssh","-o","BatchMode=yes","broker","cloudctl auth token, \\"x\\""]';
    expect((await runCloudctl(host, ['config', 'set', 'token_command', text])).code).toBe(0);
    expect(host.readConfig().profiles.get('default')?.token_command).toEqual(JSON.parse(text));
    expect((await runCloudctl(host, ['config', 'get', 'token_command'])).out).toBe(`${text}\n`);
    const rows = (await runCloudctl(host, ['config', 'list', '-o', 'json'])).json<{ key: string; value: string }[]>();
    expect(rows).toContainEqual({ key: 'token_command', value: text, source: 'profile' });
  });

  test.each(['ssh broker', '[]', '{}', '"ssh"', '[1]', '[""]', '["ssh",""]', '["a\\u0000"]', '["./token"]', ''])(
    'the value %j is refused',
    async (text) => {
      const host = testHost();
      host.writeConfig({ profiles: { default: {} } });
      const ran = await runCloudctl(host, ['config', 'set', 'token_command', text, '-o', 'json']);
      expect(ran.code).toBe(2);
      expect(ran.error()).toMatchObject({ code: 'usage', message: expect.stringContaining('token_command is ') });
    },
  );

  it('a wrong value in config.json is an error of its line', async () => {
    const host = testHost();
    for (const token_command of [['ssh', 1], 'ssh', {}, []]) {
      host.writeConfig({ profiles: { default: { token_command } } });
      expect((await runCloudctl(host, ['droplets', 'list', '-o', 'json'])).error()).toMatchObject({
        code: 'config_invalid',
      });
    }
  });

  it('no variable or option sets it', async () => {
    const host = testHost({ env: { CLOUDCTL_TOKEN_COMMAND: '["true"]' } });
    host.writeConfig({ profiles: { default: { base_url: 'https://api.example.com' } } });
    expect((await runCloudctl(host, ['config', 'get', 'token_command', '-o', 'json'])).error().code).toBe('not_found');
  });

  it('a change removes the names that completion has seen with another account', async () => {
    const { host } = await machine();
    expect((await runCloudctl(host, ['droplets', 'list'])).code).toBe(0);
    const cache = join(host.folders.state, 'completion', 'default.json');
    expect(existsSync(cache)).toBe(true);
    expect((await runCloudctl(host, ['config', 'set', 'token_command', '["true"]'])).code).toBe(0);
    expect(existsSync(cache)).toBe(false);
  });
});

it('completion never runs the program', async () => {
  const { host, runs } = await machine();
  await runCloudctl(host, ['__complete', 'bash', 'droplets', 'get', '']);
  expect(runs()).toBe(0);
});

it('neither a trace nor an error shows the token', async () => {
  const { host, token } = await machine();
  const traced = await runCloudctl(host, ['droplets', 'list', '--trace']);
  expect(traced.code).toBe(0);
  expect(traced.out + traced.err).not.toContain(token);
});

it('a config.json in a folder of others runs nothing', async () => {
  const { host, runs } = await machine();
  const shared = join(host.place.work, 'shared');
  mkdirSync(shared, { mode: 0o777 });
  const { chmodSync, cpSync } = await import('node:fs');
  cpSync(host.folders.config, join(shared, 'config'), { recursive: true });
  chmodSync(shared, 0o777);
  const env = { CLOUDCTL_CONFIG_DIR: join(shared, 'config') };
  const folders = { ...host.folders, config: join(shared, 'config') };
  const { runCliCommandLine } = await import('../../src/main.ts');
  const other = { ...testHost({ beside: host, env }), folders };
  expect(await runCliCommandLine(['droplets', 'list', '-o', 'json'], other)).toBe(2);
  expect(other.err()).toContain('config_invalid');
  expect(runs()).toBe(0);
});
