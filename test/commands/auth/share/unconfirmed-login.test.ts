import { connect, createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { expectGolden } from '../../../fixtures/golden.ts';
import type { TestHost } from '../../../fixtures/host.ts';
import type { RedisServer } from '../../../fixtures/redis.ts';
import { admin, MAYA } from '../../../sandbox/requests.ts';
import { authorizationLine, followRedirects, runCloudctl, stableText, startCloudctl } from '../../run-cloudctl.ts';
import { shareFixture } from './share-fixture.ts';

/** Forwards to the server, and cuts each connection that sends the commit of a login. */
async function proxyThatCutsLogins({ host, port }: RedisServer, onCut: () => void): Promise<string> {
  const server = createServer((client) => {
    const upstream = connect(port, host);
    const end = (): void => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) socket.on('error', end).on('close', end);
    upstream.pipe(client);
    client.on('data', (data) => {
      if (!data.includes('\r\nlogin\r\n')) return void upstream.write(data);
      onCut();
      end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
  return `redis://127.0.0.1:${address.port}/0`;
}

async function loginThatIsCut(onCut: (host: TestHost) => void) {
  const fixture = await shareFixture();
  const host = await fixture.first();
  await fixture.login(host);
  const third = fixture.machine('ci-3', { CLOUDCTL_STORE_KEY: fixture.keysOf(host) });
  expect((await runCloudctl(third, ['auth', 'token'])).code).toBe(0);
  await admin(fixture.sandbox, 'POST', '/_sandbox/consent', { mode: 'approve', user: MAYA });
  const url = await proxyThatCutsLogins(fixture.redis, () => onCut(login.host));
  const login = startCloudctl(host, ['auth', 'login', '--force'], {
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
