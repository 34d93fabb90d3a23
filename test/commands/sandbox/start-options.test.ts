import { describe, expect, it } from 'vitest';
import { knownSandboxes, lastSandbox } from '../../../src/config/sandboxes.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { testHost } from '../../fixtures/host.ts';
import { runCloudctl, stableText, startCloudctl } from '../run-cloudctl.ts';
import { findTwoPorts } from './public-ports.ts';
import { startSandboxCommand } from './start-sandbox.ts';

const adminToken = 'a-token-of-24-characters';

describe('sandbox start', () => {
  it.each([
    [['--listen', '0.0.0.0']],
    [['--listen', '10.0.0.2']],
    [['--listen', '::']],
    [['--public-name', 'sandbox:8080']],
    [['--public-name', 'sandbox:8080', '--host', '127.0.0.1']],
    [['--listen', '0.0.0.0:8080', '--public-name', 'sandbox:8080']],
    [['--listen', 'sandbox', '--public-name', 'sandbox:8080']],
    [['--listen', '0.0.0.0', '--public-name', 'sandbox']],
    [['--listen', '0.0.0.0', '--public-name', 'http://sandbox:8080']],
    [['--listen', '0.0.0.0', '--public-name', 'sandbox:6000']],
    [['--listen', '0.0.0.0', '--public-name', 'sandbox:8080', '--port', '8081']],
    [['--listen', '0.0.0.0', '--public-name', 'sandbox:8080', '--api-port', '8080']],
    [['--listen', '0.0.0.0', '--public-name', 'sandbox:65535']],
    [['--listen', '0.0.0.0', '--public-name', 'sandbox:8080', '--host', '127.0.0.1']],
  ])('%j is a usage error before anything starts', async (words) => {
    const host = testHost();
    const ran = await runCloudctl(host, ['sandbox', 'start', ...words]);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(lastSandbox(host.folders.state)).toBeUndefined();
    expectGolden('sandbox', stableText(ran));
  });

  it.each(['short', 'with a space in the middle', 'x'.repeat(257)])('refuses the admin token %j', async (token) => {
    const host = testHost({ env: { CLOUDCTL_SANDBOX_ADMIN_TOKEN: token } });
    const words = ['sandbox', 'start', '--listen', '0.0.0.0', '--public-name', 'sandbox:8080', '-o', 'json'];
    const ran = await runCloudctl(host, words);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).not.toContain(token);
  });

  it('with a public name warns, takes the admin token of the environment, and writes no profile', async () => {
    const host = testHost({ env: { CLOUDCTL_SANDBOX_ADMIN_TOKEN: adminToken } });
    const port = await findTwoPorts();
    const words = ['--listen', '0.0.0.0', '--public-name', `sandbox:${port}`, '--consent', 'approve maya@example.com'];
    const { ready, host: own } = await startSandboxCommand(host, words);
    expect(ready).toMatchObject({
      auth_url: `http://sandbox:${port}`,
      base_url: `http://sandbox:${port + 1}`,
      admin_token: adminToken,
    });
    expect(own.err()).toContain('0.0.0.0');
    expect(host.readConfig().profiles.size).toBe(0);
    expect(knownSandboxes(host.folders.state)).toMatchObject([{ admin_url: `http://127.0.0.1:${port}` }]);
    expect((await runCloudctl(host, ['sandbox', 'clock', '-o', 'json'])).code).toBe(0);
  });

  it('with a public name of this machine writes the profile', async () => {
    const host = testHost();
    const port = await findTwoPorts();
    await startSandboxCommand(host, ['--listen', '0.0.0.0', '--public-name', `localhost:${port}`]);
    expect(host.readConfig().profiles.get('sandbox')).toMatchObject({ auth_url: `http://localhost:${port}` });
  });

  it('on a loopback address needs no public name and does not warn', async () => {
    const { ready, host } = await startSandboxCommand(testHost(), ['--listen', '::1']);
    expect(ready.auth_url).toMatch(/^http:\/\/\[::1\]:/);
    expect(host.err()).not.toMatch(/warning/);
  });

  it('prints the admin token of a sandbox with a public name', async () => {
    const port = await findTwoPorts();
    const words = ['--listen', '127.0.0.1', '--public-name', `sandbox:${port}`, '-o', 'table'];
    const host = testHost({ env: { CLOUDCTL_SANDBOX_ADMIN_TOKEN: adminToken } });
    const sandbox = startCloudctl(host, ['sandbox', 'start', ...words]);
    await sandbox.waitForOutput(/until Ctrl-C/);
    sandbox.host.signal('SIGINT');
    expect((await sandbox.ended).out).toContain(adminToken);
  });

  it('does not listen on the address of an earlier start again', async () => {
    const host = testHost();
    const folder = `${host.folders.state}/sandbox-state`;
    const port = await findTwoPorts();
    const words = ['--state', folder, '--listen', '0.0.0.0', '--public-name', `sandbox:${port}`];
    const first = await startSandboxCommand(host, words);
    first.host.signal('SIGINT');
    await first.ended;
    const { ready } = await startSandboxCommand(host, ['--state', folder]);
    expect(ready.auth_url).toBe(`http://127.0.0.1:${port}`);
  });
});
