import { connect, createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startServers } from '../../src/sandbox/sandbox.ts';
import { authorizationQuery, authorize, sandboxFor, send } from './requests.ts';
import { makeFolder } from './state/state-folders.ts';

describe('HTTP framing', () => {
  it('starts with two origins, a callback URL, people and clusters', async () => {
    const { ready } = await sandboxFor();
    expect(Object.keys(ready)).toEqual([
      'auth_url',
      'base_url',
      'panel_url',
      'admin_url',
      'admin_token',
      'client_id',
      'client_secret',
      'callback_url',
      'applications',
      'users',
      'clusters',
    ]);
    expect(ready.auth_url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(new URL(ready.auth_url).port).not.toBe(new URL(ready.base_url).port);
    expect(ready.panel_url.startsWith(`${ready.auth_url}/`)).toBe(true);
    expect(ready.callback_url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    expect(ready.users.map(({ email, teams }) => [email, teams.map(({ name }) => name)])).toEqual([
      ['maya@example.com', []],
      ['tomas@example.com', ['Harbour Works']],
    ]);
    expect(ready.clusters.map(({ engine, data_plane }) => [engine, data_plane])).toEqual([
      ['postgresql', 'none'],
      ['redis', 'none'],
    ]);
    for (const id of [ready.client_id, ready.client_secret, ready.admin_token]) expect(id).toMatch(/^[A-Za-z0-9]+$/);
  });

  it('a seed gives the same ids and credentials, and unpredictable tokens', async () => {
    const stable = ({ ready }: Awaited<ReturnType<typeof startServers>>): object => ({
      users: ready.users,
      clusters: ready.clusters,
      client: [ready.client_id, ready.client_secret],
    });
    const [one, two, other] = [
      await sandboxFor({ seed: 7 }),
      await sandboxFor({ seed: 7 }),
      await sandboxFor({ seed: 8 }),
    ];
    expect(stable(one)).toEqual(stable(two));
    expect(stable(one)).not.toEqual(stable(other));
    expect(one.ready.admin_token).not.toBe(two.ready.admin_token);
  });

  it('registers callback URLs and further applications', async () => {
    const callbackUrls = ['http://127.0.0.1:7777/callback', 'http://localhost:7777/callback'];
    const sandbox = await sandboxFor({
      callbackUrls,
      apps: [{ name: 'Mine', callbackUrl: 'https://mine.example/cb' }],
    });
    expect(sandbox.ready.callback_url).toBe(callbackUrls[0]);
    const mine = sandbox.world.seed.applications.find(({ name }) => name === 'Mine');
    const query = authorizationQuery(sandbox, { client_id: mine?.clientId, redirect_uri: 'https://mine.example/cb' });
    expect((await authorize(sandbox, query)).status).toBe(200);
  });

  it('adds the callback URLs of options to those of data and of a saved state, once', async () => {
    const [first, second, third] = ['https://a.example/cb', 'https://b.example/cb', 'http://127.0.0.1:9/cb'];
    const state = makeFolder();
    const apps = [first, second, first].map((callbackUrl) => ({ name: 'Shop', callbackUrl }));
    const data = { applications: [{ name: 'Shop', callbackUrls: [third] }] };
    const one = await startServers({ data, apps, state });
    expect(one.ready.applications[0]?.callback_urls).toEqual([first, second, third]);
    await one.close();
    const two = await sandboxFor({ callbackUrls: [third, 'https://c.example/cb'], state });
    expect(two.ready.applications[0]?.callback_urls).toEqual([third, 'https://c.example/cb', first, second]);
  });

  it.each([
    '/callback',
    'http://127.0.0.1:1/cb#x',
    'http://exämple.com/',
    'javascript:alert(1)',
    'data:text/html,x',
    'http://a b/',
    '',
  ])('refuses the callback URL %j', async (url) => {
    await expect(startServers({ callbackUrls: [url] })).rejects.toThrow('callback URL');
    await expect(startServers({ apps: [{ name: 'x', callbackUrl: url }] })).rejects.toThrow('callback URL');
  });

  it.each(['0.0.0.0', '::', '192.168.1.1', 'example.com', '127.0.0.1.example.com', ''])(
    'refuses to listen on %j',
    async (host) => {
      await expect(startServers({ host })).rejects.toThrow(/loopback/);
    },
  );

  it('rejects an invalid rate limit', async () => {
    for (const rateLimit of ['', 'x', '5/y', '0/m', '5000/h,']) {
      await expect(startServers({ rateLimit })).rejects.toThrow('rate limit');
    }
  });

  it('reports the port that is in use, and listens on no other', async () => {
    const blocker = createServer();
    const taken = await new Promise<number>((resolve) => {
      blocker.listen(0, '127.0.0.1', () => {
        const address = blocker.address();
        resolve(typeof address === 'object' && address !== null ? address.port : 0);
      });
    });
    onTestFinished(() => void blocker.close());
    for (const options of [{ port: taken }, { apiPort: taken }]) {
      const error = await startServers(options).catch((one: unknown) => one);
      expect(error).toMatchObject({ code: 'EADDRINUSE', port: taken, message: expect.stringContaining(String(taken)) });
    }
  });

  it('listens on ::1 and on both addresses of localhost', async () => {
    const six = await sandboxFor({ host: '::1' });
    expect(six.ready.auth_url).toMatch(/^http:\/\/\[::1\]:\d+$/);
    expect((await send(six.ready.auth_url, '/panel/sign-in')).status).toBe(200);
    const local = await sandboxFor({ host: 'localhost' });
    expect(local.ready.auth_url).toMatch(/^http:\/\/localhost:\d+$/);
    const { port } = new URL(local.ready.auth_url);
    for (const address of ['127.0.0.1', '[::1]']) {
      const answer = await send(`http://${address}:${port}`, '/panel/sign-in', {
        headers: { host: `localhost:${port}` },
      });
      expect(answer.status).toBe(200);
    }
  });

  it('closes immediately, idle and waiting sockets included', async () => {
    const sandbox = await startServers();
    const { hostname, port } = new URL(sandbox.ready.auth_url);
    const socket = connect(Number(port), hostname);
    await new Promise((resolve) => socket.once('connect', resolve));
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.on('error', () => {});
    const waiting = send(sandbox.ready.admin_url, '/_sandbox/requests?wait=5', {
      headers: { 'x-admin-token': sandbox.ready.admin_token },
    }).catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 50));
    const start = Date.now();
    await sandbox.close();
    await Promise.all([closed, waiting]);
    expect(Date.now() - start).toBeLessThan(1_000);
    await expect(send(sandbox.ready.auth_url, '/')).rejects.toThrow('ECONNREFUSED');
  });

  it('uses the given clock', async () => {
    const sandbox = await sandboxFor({ now: () => Date.UTC(2030, 0, 1) });
    expect((await send(sandbox.ready.auth_url, '/panel/sign-in')).headers.date).toBe('Tue, 01 Jan 2030 00:00:00 GMT');
  });
});
