import { mkdirSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { expectGolden } from '../../../fixtures/golden.ts';
import type { TestHost } from '../../../fixtures/host.ts';
import type { RedisServer } from '../../../fixtures/redis.ts';
import { profileOf } from '../../../fixtures/session.ts';
import { admin, MAYA, tokenFor } from '../../../sandbox/requests.ts';
import { authorizationLine, followRedirects, runCloudctl, stableText, startCloudctl } from '../../run-cloudctl.ts';
import { shareFixture } from './share-fixture.ts';

/** Forwards to the server. `onCommit` is called for each commit of a login or logout; if it returns true, the connection is cut. */
async function proxyWithCommits({ host, port }: RedisServer, onCommit: () => boolean): Promise<string> {
  const server = createServer((client) => {
    const upstream = connect(port, host);
    const end = (): void => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) socket.on('error', end).on('close', end);
    upstream.pipe(client);
    client.on('data', (data) => {
      if (!/\r\nlog(in|out)\r\n/.test(String(data)) || !onCommit()) return void upstream.write(data);
      end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
  return `redis://127.0.0.1:${address.port}/0`;
}

async function loginThatIsCut(onCut: (host: TestHost) => void, typed: readonly string[] = []) {
  const fixture = await shareFixture();
  const host = await fixture.first();
  await fixture.login(host);
  const third = fixture.machine('ci-3', { CLOUDCTL_STORE_KEY: fixture.keysOf(host) });
  expect((await runCloudctl(third, ['auth', 'token'])).code).toBe(0);
  await admin(fixture.sandbox, 'POST', '/_sandbox/consent', { mode: 'approve', user: MAYA });
  const url = await proxyWithCommits(fixture.redis, () => {
    onCut(login.host);
    return true;
  });
  const login = startCloudctl(host, ['auth', 'login', '--force', ...typed], {
    env: { CLOUDCTL_STORE_URL: url, CLOUDCTL_CLIENT_SECRET: fixture.sandbox.ready.client_secret },
  });
  const [, address = ''] = await login.waitForOutput(authorizationLine);
  void followRedirects(address).catch(() => undefined);
  return { ran: await login.ended, third, host, ...fixture };
}

it.each([
  ['a time limit', 6, (host: TestHost) => host.clock.advance(60_000)],
  ['Ctrl-C', 130, (host: TestHost) => void host.signal('SIGINT')],
])(
  'auth login whose commit is cut until %s: exit %d, and the machines keep their session',
  async (_name, code, onCut) => {
    const { ran, third, host, sandbox } = await loginThatIsCut(onCut);
    expect(ran.code).toBe(code);
    expect(ran.out).toBe('');
    expectGolden('auth-share', stableText(ran, /the login|may be stored/));
    expect(sandbox.requests('POST /v1/oauth/revoke')).toEqual([]);
    expect((await runCloudctl(third, ['droplets', 'list'])).code).toBe(0);
    // The hint publishes the login.
    expect((await runCloudctl(host, ['auth', 'status', '--check'])).code).toBe(0);
    expect((await runCloudctl(third, ['auth', 'share', 'log', '--limit', '1'])).out).toContain('publish');
  },
  60_000,
);

it('auth login that the store has not confirmed saves its options, which the command of the hint needs', async () => {
  const { ran, host } = await loginThatIsCut((on) => on.clock.advance(60_000), ['--token-params', 'body', '--no-pkce']);
  expect(ran.code).toBe(6);
  expect(host.readConfig().profiles.get('default')).toMatchObject({ token_params: 'body', pkce: false });
});

it.each([[['-o', 'json']], [[]]])(
  'the warning that the replaced session is not revoked is printed by the first command that prints warnings (%j)',
  async (json) => {
    const fixture = await shareFixture();
    const host = await fixture.first();
    await fixture.login(host);
    const { access_token: stdin } = await tokenFor(fixture.sandbox);
    const url = await proxyWithCommits(fixture.redis, () => {
      run.host.signal('SIGINT');
      return true;
    });
    const words = ['auth', 'login', '--with-token', '--force'];
    const run = startCloudctl(host, words, { env: { CLOUDCTL_STORE_URL: url }, stdin });
    expect((await run.ended).code).toBe(130);
    const printed: number[] = [];
    for (const options of [json, json, [], []]) {
      const { err } = await runCloudctl(host, ['auth', 'status', '--check', ...options]);
      printed.push(err.split('was not revoked').length - 1);
    }
    expect(printed).toEqual(json.length > 0 ? [0, 0, 1, 0] : [1, 0, 0, 0]);
  },
);

it('auth login that the store has not confirmed is reported although its options cannot be saved', async () => {
  const { ran } = await loginThatIsCut(
    (on) => {
      // A folder in place of the file can be neither read nor replaced.
      const file = join(on.folders.config, 'config.json');
      rmSync(file, { force: true, recursive: true });
      mkdirSync(file);
      on.clock.advance(60_000);
    },
    ['--token-params', 'body'],
  );
  expect(ran.code).toBe(6);
  expectGolden('auth-share', stableText(ran, /the login/));
});

it('auth status --check exits with 6 while the store is away and the copy is a login that it has not confirmed', async () => {
  const { host } = await loginThatIsCut((on) => void on.signal('SIGINT'));
  const env = { CLOUDCTL_STORE_URL: 'redis://127.0.0.1:1/0' };
  expect((await runCloudctl(host, ['auth', 'status', '--check'], { env })).code).toBe(6);
  expect((await runCloudctl(host, ['auth', 'status', '--check'])).code).toBe(0);
});

it('auth login shows no page while the store cannot be reached, although the machine has a copy', async () => {
  const fixture = await shareFixture();
  const host = await fixture.first();
  await fixture.login(host);
  expect((await runCloudctl(host, ['auth', 'token'])).code).toBe(0);
  await fixture.redis.stop();
  const env = { CLOUDCTL_CLIENT_SECRET: fixture.sandbox.ready.client_secret };
  const ran = await runCloudctl(host, ['auth', 'login', '--force', '--login-timeout', '1s'], { env });
  expect(ran.code).toBe(6);
  expectGolden('auth-share', stableText(ran));
});

it('auth login --with-token that receives SIGTERM during the commit: exit 143, and the session is stored', async () => {
  const fixture = await shareFixture();
  const host = await fixture.first();
  await fixture.login(host);
  const { access_token: stdin } = await tokenFor(fixture.sandbox);
  const url = await proxyWithCommits(fixture.redis, () => {
    run.host.signal('SIGTERM');
    return false;
  });
  const words = ['auth', 'login', '--with-token', '--force'];
  const run = startCloudctl(host, words, { env: { CLOUDCTL_STORE_URL: url }, stdin });
  expect((await run.ended).code).toBe(143);
  expect((await runCloudctl(host, ['auth', 'share', 'log', '--limit', '1'])).out).toContain('ci-1');
});

it('auth logout --all does not go on to the next profile after Ctrl-C', async () => {
  const fixture = await shareFixture();
  const host = await fixture.first();
  await fixture.login(host);
  const profile = { ...profileOf(fixture.sandbox), credential_store: 'shared' };
  host.writeConfig({ current: 'default', profiles: { default: profile, work: profile } });
  const work = ['--profile', 'work'];
  await runCloudctl(host, ['auth', 'share', 'join', ...work], { stdin: fixture.keysOf(host) });
  const { access_token: stdin } = await tokenFor(fixture.sandbox);
  expect((await runCloudctl(host, ['auth', 'login', '--with-token', ...work], { stdin })).code).toBe(0);
  const url = await proxyWithCommits(fixture.redis, () => {
    run.host.signal('SIGINT');
    return false;
  });
  const run = startCloudctl(host, ['auth', 'logout', '--all'], { env: { CLOUDCTL_STORE_URL: url } });
  expect((await run.ended).code).toBe(130);
  expect((await runCloudctl(host, ['auth', 'status'])).code).toBe(4);
  expect((await runCloudctl(host, ['auth', 'status', ...work])).code).toBe(0);
});
