import { describe, expect, it } from 'vitest';
import { closedPort } from '../../../scripts/free-port.mjs';
import { admin, callApi, type Exchange, sandboxFor, send, sendBytes, tokenFor } from '../requests.ts';

async function publicSandbox(host = '0.0.0.0') {
  const port = await closedPort();
  return { port, sandbox: await sandboxFor({ host, publicName: { host: 'sandbox', port }, apiPort: 0 }) };
}

describe('a sandbox with a public name', () => {
  it('gets no address of other machines without a public name', async () => {
    await expect(sandboxFor({ host: '0.0.0.0' })).rejects.toThrow('0.0.0.0');
    await expect(sandboxFor({ host: '10.0.0.2' })).rejects.toThrow('10.0.0.2');
  });

  it('has the public name in every URL that it hands out', async () => {
    const { port, sandbox } = await publicSandbox();
    const { ready } = sandbox;
    const apiPort = new URL(ready.base_url).port;
    expect(ready).toMatchObject({
      auth_url: `http://sandbox:${port}`,
      admin_url: `http://sandbox:${port}`,
      panel_url: `http://sandbox:${port}/panel`,
      base_url: `http://sandbox:${apiPort}`,
    });
    const urls = {
      auth_url: sandbox.localAdminUrl,
      admin_url: sandbox.localAdminUrl,
      base_url: `http://127.0.0.1:${apiPort}`,
    };
    const local = { ...sandbox, ready: { ...ready, ...urls } };
    const { access_token } = await tokenFor(local);
    const page = await callApi(local, access_token, 'GET', '/v2/droplets?per_page=1');
    expect(JSON.parse(page.body).links.pages.next).toMatch(`http://sandbox:${apiPort}/v2/droplets?`);
    const body = JSON.stringify({ name: 'web-1', size: 's-1vcpu-1gb', image: 'ubuntu-24-04-x64', region: 'fra1' });
    const created = await send(local.ready.base_url, '/v2/droplets', {
      method: 'POST',
      headers: { authorization: `Bearer ${access_token}`, 'content-type': 'application/json' },
      body,
    });
    expect(JSON.parse(created.body).links.actions[0].href).toMatch(`http://sandbox:${apiPort}/v2/actions/`);
  });

  it('accepts its public name and the loopback names in Host, and nothing else', async () => {
    const { port, sandbox } = await publicSandbox();
    const statusFor = async (host: string | string[]): Promise<number> =>
      (await send(sandbox.localAdminUrl, '/panel/sign-in', { headers: { host } })).status;
    for (const host of [`sandbox:${port}`, `SANDBOX:${port}`, `127.0.0.1:${port}`, `localhost:${port}`])
      expect([host, await statusFor(host)]).toEqual([host, 200]);
    for (const host of [
      'sandbox',
      'sandbox:80',
      `sandbox.:${port}`,
      `evil.example:${port}`,
      `sandbox.evil.example:${port}`,
      `sandbox@evil.example:${port}`,
      `0.0.0.0:${port}`,
    ])
      expect([host, await statusFor(host)]).toEqual([host, 421]);
  });

  it('reads no header of proxies', async () => {
    const { port, sandbox } = await publicSandbox();
    const forwarded = {
      'x-forwarded-host': `sandbox:${port}`,
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'https',
      forwarded: `host=sandbox:${port};for=127.0.0.1`,
    };
    const rebound = { ...forwarded, host: `evil.example:${port}` };
    expect((await send(sandbox.localAdminUrl, '/panel/sign-in', { headers: rebound })).status).toBe(421);
    const evil = { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https', host: `sandbox:${port}` };
    const page = await send(sandbox.localAdminUrl, '/v1/oauth/authorize?client_id=x', { headers: evil });
    expect(JSON.stringify(page)).not.toContain('evil.example');
  });

  it('compares host and port of a request target in absolute form', async () => {
    const { port, sandbox } = await publicSandbox();
    const request = (authority: string) =>
      sendBytes(
        sandbox.localAdminUrl,
        `GET http://${authority}/panel/sign-in HTTP/1.1\r\nHost: sandbox:${port}\r\nConnection: close\r\n\r\n`,
      );
    expect(await request(`sandbox:${port}`)).toMatch(/^HTTP\/1\.1 200 /);
    expect(await request(`evil.example:${port}`)).toMatch(/^HTTP\/1\.1 421 /);
  });

  it.skipIf(process.platform === 'darwin')(
    'is reached from its own machine at the address on which it listens',
    async () => {
      const { port, sandbox } = await publicSandbox('127.0.0.2');
      const statusFor = async (host: string): Promise<number> =>
        (await send(sandbox.localAdminUrl, '/panel/sign-in', { headers: { host } })).status;
      expect(sandbox.localAdminUrl).toBe(`http://127.0.0.2:${port}`);
      expect(await statusFor(`sandbox:${port}`)).toBe(200);
      expect(await statusFor(`127.0.0.2:${port}`)).toBe(200);
    },
  );

  it('requires the admin token for the admin API under each of its names', async () => {
    const { port, sandbox } = await publicSandbox();
    const clock = (headers: Readonly<Record<string, string>>): Promise<Exchange> =>
      send(sandbox.localAdminUrl, '/_sandbox/clock', { headers });
    for (const host of [`sandbox:${port}`, `127.0.0.1:${port}`]) {
      expect((await clock({ host })).status).toBe(403);
      expect((await clock({ host, 'x-admin-token': sandbox.ready.admin_token })).status).toBe(200);
    }
    const loopbackName = { host: `localhost:${port}`, 'x-admin-token': sandbox.ready.admin_token };
    expect((await clock(loopbackName)).status).toBe(403);
  });

  it('requires the admin token for the panel, but not for the sign-in page', async () => {
    const { port, sandbox } = await publicSandbox();
    const host = `sandbox:${port}`;
    const { admin_token } = sandbox.ready;
    const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;
    const panel = (headers: Readonly<Record<string, string | string[]>>, path = '/panel'): Promise<Exchange> =>
      send(sandbox.localAdminUrl, path, { headers: { host, ...headers } });
    const refused = await panel({});
    expect(refused.status).toBe(401);
    expect(refused.headers['www-authenticate']).toMatch(/^Basic /);
    for (const authorization of [
      'Basic',
      'Basic x',
      basic(admin_token),
      basic(`admin:${admin_token}x`),
      `Bearer ${admin_token}`,
    ])
      expect([authorization, (await panel({ authorization })).status]).toEqual([authorization, 401]);
    expect((await panel({ authorization: [basic(`a:${admin_token}`), basic(`a:${admin_token}`)] })).status).toBe(401);
    // With the admin token the panel still requires the sign-in of a person.
    expect((await panel({ authorization: basic(`admin:${admin_token}`) })).status).toBe(303);
    expect((await panel({ 'x-admin-token': admin_token })).status).toBe(303);
    expect((await panel({}, '/panel/requests')).status).toBe(401);
    expect((await panel({}, '/panel/sign-in')).status).toBe(200);
    const form = { method: 'POST', headers: { host, 'content-type': 'application/x-www-form-urlencoded' }, body: '' };
    expect((await send(sandbox.localAdminUrl, '/panel/clock', form)).status).toBe(401);
  });
});

it('a sandbox on the loopback interface requires no admin token for the panel', async () => {
  const sandbox = await sandboxFor();
  expect((await send(sandbox.ready.auth_url, '/panel')).status).toBe(303);
  expect((await admin(sandbox, 'GET', '/_sandbox/clock')).status).toBe(200);
});
