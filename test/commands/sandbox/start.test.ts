import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { closedPort } from '../../../scripts/free-port.mjs';
import { profilePaths } from '../../../src/auth/session/paths.ts';
import { createFileStore, readClientSecret } from '../../../src/auth/session/store.ts';
import { sandboxStart } from '../../../src/commands/sandbox/start.ts';
import { readClusters } from '../../../src/commands/sandbox/start-options.ts';
import { sandboxToken } from '../../../src/commands/sandbox/token.ts';
import { lastSandbox, recordSandbox } from '../../../src/config/sandboxes.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { testHost } from '../../fixtures/host.ts';
import { followRedirects, runCloudctl, runLogin, stableText, startCloudctl } from '../run-cloudctl.ts';
import { startSandboxCommand } from './start-sandbox.ts';

describe('sandbox start', () => {
  it('prints one line of JSON, remembers its place and makes a profile that works at once', async () => {
    const host = testHost();
    const { ready, host: own } = await startSandboxCommand(host, ['--consent', 'approve maya@example.com']);
    expect(own.out().trim().split('\n')).toHaveLength(1);
    expect(lastSandbox(host.folders.state)).toMatchObject({
      auth_url: ready.auth_url,
      admin_token: ready.admin_token,
    });
    expect(host.readConfig().profiles.get('sandbox')).toMatchObject({
      auth_url: ready.auth_url,
      credential_store: 'file',
    });
    expect(JSON.stringify(host.readConfig().raw)).not.toContain(ready.client_secret);
    expect((await runLogin(host, ['--profile', 'sandbox'])).code).toBe(0);
    const status = await runCloudctl(host, ['auth', 'status', '--profile', 'sandbox', '-o', 'json']);
    expect(status.json()).toMatchObject({ state: 'valid', sandbox: true });
  });

  it('ends the session of an earlier sandbox, and the error of the next command says why', async () => {
    const host = testHost();
    const first = await startSandboxCommand(host, ['--consent', 'approve maya@example.com']);
    expect((await runLogin(host, ['--profile', 'sandbox'])).code).toBe(0);
    first.host.signal('SIGINT');
    await first.ended;
    await startSandboxCommand(host);
    const ran = await runCloudctl(host, ['droplets', 'list', '--profile', 'sandbox']);
    expect(ran.code).toBe(4);
    expectGolden('sandbox', stableText(ran));
  });

  it('keeps the other settings of the profile', async () => {
    const host = testHost();
    const first = await startSandboxCommand(host);
    first.host.signal('SIGINT');
    await first.ended;
    for (const [key, value] of Object.entries({ output: 'json', batch_ledger_days: '7', scope: 'read' }))
      expect((await runCloudctl(host, ['config', 'set', key, value, '--profile', 'sandbox'])).code).toBe(0);
    const { ready } = await startSandboxCommand(host);
    expect(host.readConfig().profiles.get('sandbox')).toMatchObject({
      ...{ output: 'json', batch_ledger_days: 7, scope: 'read' },
      ...{ auth_url: ready.auth_url, client_id: ready.client_id },
    });
  });

  it('says that it takes the profile of a running sandbox, and gives it back at its end', async () => {
    const host = testHost();
    const consent = ['--consent', 'approve maya@example.com'];
    const first = await startSandboxCommand(host, consent);
    const second = await startSandboxCommand(host, consent);
    expect(second.host.err()).toContain(`${first.ready.auth_url}`);
    expect(host.readConfig().profiles.get('sandbox')?.auth_url).toBe(second.ready.auth_url);
    expect((await runLogin(host, ['--profile', 'sandbox'])).code).toBe(0);
    second.host.signal('SIGINT');
    await second.ended;
    expect(host.readConfig().profiles.get('sandbox')?.auth_url).toBe(first.ready.auth_url);
    expect((await runLogin(host, ['--profile', 'sandbox'])).code).toBe(0);
    expect((await runCloudctl(host, ['droplets', 'list', '--profile', 'sandbox'])).code).toBe(0);
  });

  it('leaves the profile to a later sandbox', async () => {
    const host = testHost();
    const first = await startSandboxCommand(host);
    const third = [await startSandboxCommand(host), await startSandboxCommand(host)];
    third[0]?.host.signal('SIGINT');
    await third[0]?.ended;
    first.host.signal('SIGINT');
    await first.ended;
    expect(host.readConfig().profiles.get('sandbox')?.auth_url).toBe(third[1]?.ready.auth_url);
  });

  it('ends by a signal with exit 0, and forgets its place', async () => {
    const host = testHost();
    const sandbox = await startSandboxCommand(host);
    expect(sandbox.host.signal('SIGINT')).toBe(1);
    expect((await sandbox.ended).code).toBe(0);
    expect(lastSandbox(host.folders.state)).toBeUndefined();
    await expect(followRedirects(sandbox.ready.auth_url ?? '')).rejects.toThrow();
  });

  it('leaves no port open and no listener behind when its place cannot be written down', async () => {
    const host = testHost();
    mkdirSync(join(host.folders.state, 'sandbox.json'), { recursive: true });
    const port = await closedPort();
    const running = startCloudctl(host, ['sandbox', 'start', '--port', String(port)]);
    const ran = await running.ended;
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toContain('sandbox.json');
    expect(running.host.signal('SIGINT')).toBe(0);
    await expect(followRedirects(`http://127.0.0.1:${port}/`)).rejects.toThrow();
  });

  it('ends, and the one started before it is the one that the other commands talk to', async () => {
    const host = testHost();
    const [first, second] = [await startSandboxCommand(host), await startSandboxCommand(host, ['--no-profile'])];
    const now = () => runCloudctl(host, ['sandbox', 'clock', '-o', 'json']);
    expect(lastSandbox(host.folders.state)?.admin_url).toBe(second.ready.admin_url);
    second.host.signal('SIGINT');
    expect((await second.ended).code).toBe(0);
    expect(lastSandbox(host.folders.state)?.admin_url).toBe(first.ready.admin_url);
    expect((await now()).code).toBe(0);
    first.host.signal('SIGINT');
    await first.ended;
    expect((await now()).error()).toMatchObject({ code: 'not_found' });
  });

  it('ends, and one that was killed before it is not taken for one that runs', async () => {
    const host = testHost();
    const admin_url = `http://127.0.0.1:${await closedPort()}`;
    const killed = await startSandboxCommand(host, ['--no-profile']);
    recordSandbox(host.folders.state, { ...lastSandbox(host.folders.state)!, admin_url });
    killed.host.signal('SIGINT');
    await killed.ended;
    expect(lastSandbox(host.folders.state)).toBeUndefined();
  });

  it('tells a person where everything is', async () => {
    const host = testHost();
    const sandbox = startCloudctl(host, ['sandbox', 'start', '--no-profile']);
    await sandbox.waitForOutput(/until Ctrl-C/);
    sandbox.host.signal('SIGINT');
    const ran = await sandbox.ended;
    for (const what of ['Authorization server', 'Resource API', 'Client ID', 'maya@example.com'])
      expect(ran.out).toContain(what);
    expect(host.readConfig().profiles.size).toBe(0);
  });

  it('takes away a session of an earlier sandbox, which is worth nothing any more', async () => {
    const host = testHost();
    const first = await startSandboxCommand(host, ['--consent', 'approve maya@example.com']);
    await runLogin(host, ['--profile', 'sandbox']);
    first.host.signal('SIGINT');
    await first.ended;
    await startSandboxCommand(host);
    const status = await runCloudctl(host, ['auth', 'status', '--profile', 'sandbox', '-o', 'json']);
    expect(status.error()).toMatchObject({ code: 'not_logged_in' });
  });

  it('scripts its own consent although the environment points to another sandbox', async () => {
    const host = testHost({
      env: { CLOUDCTL_SANDBOX_ADMIN_URL: 'http://127.0.0.1:9009', CLOUDCTL_SANDBOX_ADMIN_TOKEN: 'old' },
    });
    const { ready } = await startSandboxCommand(host, ['--consent', 'approve maya@example.com']);
    expect(ready.auth_url).toMatch(/^http:/);
  });

  it('registers a callback URL of another machine and leaves it out of the profile, which must stay readable', async () => {
    const host = testHost();
    const { ready, host: own } = await startSandboxCommand(host, ['--callback-url', 'https://app.example/callback']);
    expect(ready.callback_url).toBe('https://app.example/callback');
    expect(own.err()).toMatch(/^warning: .*https:\/\/app.example\/callback/m);
    expect(host.readConfig().profiles.get('sandbox')).not.toHaveProperty('callback_urls');
    expect((await runCloudctl(host, ['config', 'list'])).code).toBe(0);
  });

  it.each([
    [['https://app.example/cb', 'com.example.app://cb'], undefined],
    [['https://app.example/cb', 'http://127.0.0.1:8765/cb'], 'http://127.0.0.1:8765/cb'],
  ])('with the callback URLs %j has a profile, an environment and a text that work', async (callbackUrls, received) => {
    const host = testHost();
    mkdirSync(host.folders.state, { recursive: true });
    const data = join(host.folders.state, 'data.json');
    writeFileSync(data, JSON.stringify({ applications: [{ name: 'Shop', callbackUrls }] }));
    const running = startCloudctl(host, ['sandbox', 'start', '--data', data]);
    onTestFinished(() => void running.host.signal('SIGINT'));
    await running.waitForOutput(/until Ctrl-C/);
    const text = running.host.out();
    expect(text.includes('--with-token')).toBe(received === undefined);
    expect(running.host.err().includes('warning: ')).toBe(received === undefined);
    expect(host.readConfig().profiles.get('sandbox')?.callback_urls).toEqual(received && [received]);
    const { out } = await runCloudctl(host, ['sandbox', 'env']);
    expect(/CALLBACK_URL=(.*)/.exec(out)?.[1]).toBe(received);
    const env = Object.fromEntries(
      [...out.matchAll(/^export (\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]),
    );
    const wordsOf = (line: string) => line.match(/(?<=')[^']+|[^ ']+/g)?.slice(1) ?? [];
    const [login = '', ...lists] = [...text.matchAll(/^ {2}(cloudctl .*)$/gm)].map(([, line = '']) => line);
    if (received === undefined) {
      const [issue = '', keep = ''] = login.split(' | ');
      const { out: token } = await runCloudctl(host, wordsOf(issue));
      expect(await runCloudctl(host, wordsOf(keep), { stdin: token })).toMatchObject({ code: 0 });
      expect(lists).toHaveLength(2);
      for (const line of lists) expect(await runCloudctl(host, wordsOf(line))).toMatchObject({ code: 0 });
    }
    const token = await runCloudctl(testHost({ env }), ['sandbox', 'token', '--user', 'maya@example.com']);
    const withToken = { ...env, CLOUDCTL_ACCESS_TOKEN: token.out.trim() };
    expect(await runCloudctl(testHost({ env: withToken }), ['droplets', 'list'])).toMatchObject({ code: 0 });
  });

  it('keeps its ids and secrets with a seed', async () => {
    const [a, b] = [
      await startSandboxCommand(testHost(), ['--seed', '7']),
      await startSandboxCommand(testHost(), ['--seed', '7']),
    ];
    expect(a.ready.client_secret).toBe(b.ready.client_secret);
    const store = createFileStore(profilePaths(a.host.folders.state, 'sandbox'));
    const binding = { authOrigin: a.ready.auth_url ?? '', clientId: a.ready.client_id ?? '' };
    expect((await readClientSecret(store, binding))?.reveal()).toBe(a.ready.client_secret);
  });

  it('on a port that is taken is exit 1 and names it', async () => {
    const squatter = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void squatter.close());
    await new Promise((resolve) => squatter.once('listening', resolve));
    const address = squatter.address();
    const port = typeof address === 'object' ? String(address?.port) : '';
    const ran = await runCloudctl(testHost(), ['sandbox', 'start', '--port', port, '-o', 'json']);
    expect(ran).toMatchObject({ code: 1, out: '' });
    expect(ran.error()).toMatchObject({ code: 'port_in_use', message: expect.stringContaining(port) });
  });

  it.each([
    ['--port', '70000'],
    ['--port', 'x'],
    ['--host', '0.0.0.0'],
    ['--callback-url', 'nonsense'],
    ['--app', 'nonsense'],
    ['--rate-limit', 'fast'],
    ['--seed', '-1'],
    ['--unknown-token-status', '500'],
    ['--consent', 'approve nobody@example.com'],
    ['--consent', 'perhaps'],
    ['--consent', ''],
  ])('%s %s is a usage error and leaves nothing behind', async (option, value) => {
    const host = testHost();
    const ran = await runCloudctl(host, ['sandbox', 'start', `${option}=${value}`]);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(lastSandbox(host.folders.state)).toBeUndefined();
    expect(host.readConfig().profiles.size).toBe(0);
  });
});

describe('the commands of a running sandbox', () => {
  it.each([
    [['clock', 'tomorrow']],
    [['clock', '10m']],
    [['clock', 'advance', '31d']],
    [['clock', 'advance', '31', 'days']],
    [['clock', 'advance']],
    [['clock', 'freeze', 'now']],
    [['token']],
    [['requests', '--wait', '0']],
    [['clock', '--admin-url', 'http://evil.example']],
  ])('%j is a usage error', async (words) => {
    const host = testHost();
    await startSandboxCommand(host);
    const ran = await runCloudctl(host, ['sandbox', ...words]);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expectGolden('sandbox', stableText(ran));
  });
});

describe('without a sandbox', () => {
  it.each([['clock'], ['requests'], ['reset'], ['env'], ['token', '--user', 'x']])(
    '%s says how to start one',
    async (...words) => {
      const ran = await runCloudctl(testHost(), ['sandbox', ...words, '-o', 'json']);
      expect(ran).toMatchObject({ code: 1, out: '' });
      expect(ran.error()).toMatchObject({ code: 'not_found', hint: expect.stringContaining('cloudctl sandbox start') });
    },
  );

  it('that ended without a word is exit 6', async () => {
    const env = { CLOUDCTL_SANDBOX_ADMIN_URL: 'http://127.0.0.1:59999', CLOUDCTL_SANDBOX_ADMIN_TOKEN: 'x' };
    expect((await runCloudctl(testHost({ env }), ['sandbox', 'clock'])).code).toBe(6);
  });
});

describe('sandbox start with own users and data', () => {
  const file = (host: ReturnType<typeof testHost>, content: string | Buffer, name = 'data.json'): string => {
    const path = join(host.folders.state, name);
    mkdirSync(host.folders.state, { recursive: true });
    writeFileSync(path, content);
    return path;
  };

  it('adds --user, whose password in the ready line works', async () => {
    const { ready } = await startSandboxCommand(testHost(), [
      '--user',
      'me@example.com',
      '--user',
      "o'neil@example.com",
    ]);
    expect(ready.users.map(({ email }) => email)).toEqual([
      'maya@example.com',
      'tomas@example.com',
      'me@example.com',
      "o'neil@example.com",
    ]);
    const { email = '', password = '' } = ready.users[2] ?? {};
    const body = new URLSearchParams({ email, password, next: '/panel' });
    const signedIn = await fetch(`${ready.auth_url}/panel/sign-in`, { method: 'POST', body, redirect: 'manual' });
    expect(signedIn.status).toBe(303);
  });

  const json = JSON.stringify(
    { people: [{ email: 'own@example.com', password: 'pw' }], droplets: [{ name: 'd' }] },
    null,
    2,
  );
  it.each([
    ['a plain file', json],
    ['a byte order mark', `\uFEFF${json}`],
    ['CRLF', json.replaceAll('\n', '\r\n')],
    ['UTF-16', Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(json, 'utf16le')])],
  ])('reads --data from %s', async (_, content) => {
    const host = testHost();
    const link = join(host.folders.state, 'link.json');
    symlinkSync(file(host, content), link);
    const { ready } = await startSandboxCommand(host, ['--data', link, '--consent', 'approve own@example.com']);
    expect(ready.users).toMatchObject([{ email: 'own@example.com', password: 'pw' }]);
  });

  it('shows the id and secret of every application, and what an own cluster belongs to', async () => {
    const host = testHost();
    const data = {
      people: [
        { email: 'own@example.com', password: 'pw', uuid: '1b0c9d3e-5f6a-4b7c-8d9e-0f1a2b3c4d5e', teams: ['Ops'] },
      ],
      teams: [{ name: 'Ops' }],
      applications: [
        { name: 'Shop', clientId: 'shop', clientSecret: 'shop-secret', callbackUrls: ['https://shop.example/cb'] },
        {
          name: 'Work\u202Eer',
          clientId: 'worker',
          clientSecret: 'worker-secret',
          callbackUrls: ['http://127.0.0.1:9/cb'],
        },
      ],
      clusters: [{ name: 'main', engine: 'redis', uuid: '2b0c9d3e-5f6a-4b7c-8d9e-0f1a2b3c4d5e', owner: 'Ops' }],
    };
    const words = ['sandbox', 'start', '--no-profile', '--data', file(host, JSON.stringify(data))];
    const sandbox = startCloudctl(host, words);
    await sandbox.waitForOutput(/until Ctrl-C/);
    sandbox.host.signal('SIGINT');
    const text = (await sandbox.ended).out.replaceAll(/127\.0\.0\.1:\d{4,}/g, '127.0.0.1:PORT');
    expectGolden('sandbox', text);
  });

  it.each<[string, string | undefined]>([
    ['no file', undefined],
    ['no JSON', '{"people": [{"password": "hunter2"'],
    ['an unknown member', '{"people":[{"email":"a@b.c","pasword":"hunter2"}]}'],
    ['the same address twice', '{"people":[{"email":"a@b.c"},{"email":"A@b.c"}]}'],
    ['a member twice', '{"people":[{"email":"a@b.c","teams":["a,b"]},{"email":"c@b.c","\\u0065mail":"d@b.c"}]}'],
    ['deep nesting', `{"people":${'['.repeat(5000)}${']'.repeat(5000)}}`],
  ])('is a usage error before anything starts: %s', async (_, content) => {
    const host = testHost();
    const path = content === undefined ? join(host.folders.state, 'data.json') : file(host, content);
    const state = join(host.folders.config, 'kept');
    const ran = await runCloudctl(host, ['sandbox', 'start', '--state', state, '--data', path]);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).not.toContain('hunter2');
    expect(existsSync(state)).toBe(false);
    expectGolden('sandbox', ran.err.replaceAll(host.folders.state, 'STATE'));
  });
});

const args = { positionals: [], value: () => undefined, values: () => [], has: () => false };

it('reads servers from variables, without the line end of a file', () => {
  const env = { CLOUDCTL_CLUSTER_PG: 'postgres://u:p@h/d\n', CLOUDCTL_CLUSTER_EMPTY: '\n', CLOUDCTL_CLUSTER_: 'x' };
  expect(readClusters(args, env)).toEqual([{ name: 'pg', url: 'postgres://u:p@h/d' }]);
});

describe('a consent script', () => {
  it('takes a team whose name has blanks', async () => {
    const host = testHost();
    await startSandboxCommand(host, ['--consent', '  approve  tomas@example.com Harbour Works ']);
    const ran = await runLogin(host, ['--profile', 'sandbox', '-o', 'json']);
    expect(ran.json()).toMatchObject({ email: 'tomas@example.com', team_name: 'Harbour Works' });
  });

  it('of the start is in force after a reset', async () => {
    const host = testHost();
    await startSandboxCommand(host, ['--consent', 'approve maya@example.com']);
    expect(await runCloudctl(host, ['sandbox', 'reset'])).toMatchObject({ code: 0 });
    const ran = await runLogin(host, ['--profile', 'sandbox', '-o', 'json']);
    expect(ran.json()).toMatchObject({ email: 'maya@example.com' });
  });

  it('of an unknown user is a usage error with the reason of the sandbox', async () => {
    const ran = await runCloudctl(testHost(), [
      'sandbox',
      'start',
      '--consent',
      'approve ada@example.com',
      '-o',
      'json',
    ]);
    expect(ran.error()).toMatchObject({ code: 'usage', exit_code: 2 });
    expectGolden('sandbox', stableText(ran));
  });

  it('and a token: whoever the examples of the help name is somebody every sandbox knows', async () => {
    const { ready } = await startSandboxCommand(testHost());
    const known = ready.users.map(({ email }) => email);
    const named = [sandboxStart, sandboxToken].flatMap(({ examples = [] }) =>
      examples.flatMap(({ command }) => command.match(/[\w.]+@[\w.]+/g) ?? []),
    );
    expect(named.length).toBeGreaterThan(0);
    expect(known).toEqual(expect.arrayContaining(named));
  });
});
