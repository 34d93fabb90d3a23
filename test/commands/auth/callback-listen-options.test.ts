import { describe, expect, it } from 'vitest';
import { closedPort } from '../../../scripts/free-port.mjs';
import { expectGolden } from '../../fixtures/golden.ts';
import { testHost } from '../../fixtures/host.ts';
import { sandboxFor, send } from '../../sandbox/requests.ts';
import { createSandboxHost, runCloudctl, runLogin, stableText } from '../run-cloudctl.ts';

const login = ['auth', 'login', '--no-browser'];

describe('auth login', () => {
  it.each([
    [['--callback-listen', '0.0.0.0']],
    [['--callback-listen', '::']],
    [['--callback-listen', '10.0.0.2:9000']],
    [['--allow-peer', '172.17.0.1/32']],
    [['--callback-listen', 'localhost', '--allow-peer', '172.17.0.1/32']],
    [['--callback-listen', '0.0.0.0:0', '--allow-peer', '172.17.0.1/32']],
    [['--callback-listen', '0.0.0.0:65536', '--allow-peer', '172.17.0.1/32']],
    [['--callback-listen', '[0.0.0.0]:9000', '--allow-peer', '172.17.0.1/32']],
    [['--callback-listen', ':9000', '--allow-peer', '172.17.0.1/32']],
    [['--callback-listen', '0.0.0.0', '--allow-peer', '172.17.0.1/16']],
    [['--callback-listen', '0.0.0.0', '--allow-peer', '0.0.0.0/0']],
    [['--callback-listen', '0.0.0.0', '--allow-peer', '::ffff:172.17.0.1/128']],
    [['--callback-listen', '0.0.0.0', '--allow-peer', 'gateway']],
    [['--callback-listen', '0.0.0.0', '--allow-peer', '172.17.0.1/32', '--allow-peer', '']],
    [['--callback-listen', '0.0.0.0', '--allow-peer', '172.17.0.1/32', '--paste']],
    [['--callback-listen', '0.0.0.0', '--allow-peer', '172.17.0.1/32', '--with-token']],
  ])('%j is a usage error before anything listens', async (words) => {
    const ran = await runCloudctl(testHost(), [...login, ...words]);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expectGolden('auth', stableText(ran));
  });

  // macOS has no other address of 127.0.0.0/8 than 127.0.0.1.
  it.skipIf(process.platform === 'darwin')(
    'receives the redirect of an allowed peer at another address, and with --trace prints the peers that it refuses',
    async () => {
      const sandbox = await sandboxFor();
      const port = await closedPort();
      const words = ['--callback-listen', `127.0.0.3:${port}`, '--allow-peer', '127.0.0.5', '--trace'];
      const visit = async (url: string): Promise<void> => {
        const { origin, pathname, search } = new URL(url);
        const { headers } = await send(origin, `${pathname}${search}`);
        const redirect = new URL(headers.location ?? '');
        expect(redirect.origin).toBe(new URL(sandbox.ready.callback_url).origin);
        for (const localAddress of ['127.0.0.6', '127.0.0.6', '127.0.0.5']) {
          const target = `${redirect.pathname}${redirect.search}`;
          const sent = send(`http://127.0.0.3:${port}`, target, { headers: { host: redirect.host }, localAddress });
          if (localAddress === '127.0.0.5') expect((await sent).status).toBe(303);
          else await expect(sent).rejects.toThrow();
        }
      };
      const host = await createSandboxHost(sandbox, { env: { CLOUDCTL_CLIENT_SECRET: sandbox.ready.client_secret } });
      const ran = await runLogin(host, words, { visit });
      expect(ran.code).toBe(0);
      expect(ran.err.match(/127\.0\.0\.6/g)).toHaveLength(1);
    },
    20_000,
  );
});
