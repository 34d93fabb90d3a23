import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { closedPort } from '../../../scripts/free-port.mjs';
import { BODY_LIMIT, checkFraming } from '../../../src/sandbox/http/server.ts';
import type { SandboxServers } from '../../../src/sandbox/sandbox.ts';
import { openRawConnection } from '../raw-connection.ts';
import { admin, callApi, type Exchange, sandboxFor, send, sendBytes, tokenFor } from '../requests.ts';

describe('no input ends the process', () => {
  it('broken request lines, targets, percent-encodings and headers', async () => {
    const sandbox = await sandboxFor();
    for (const origin of [sandbox.ready.auth_url, sandbox.ready.base_url]) {
      const { host } = new URL(origin);
      for (const head of [
        'nonsense\r\n\r\n',
        '\0\0\0\0',
        'GET\r\n\r\n',
        `GET / HTTP/9.9\r\nHost: ${host}\r\n\r\n`,
        `GET ${'/'.repeat(70_000)} HTTP/1.1\r\nHost: ${host}\r\n\r\n`,
        `GET http://evil.example/panel HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
        `GET //evil.example/ HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
        `OPTIONS * HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
        `CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\n\r\n`,
        `GET / HTTP/1.1\r\nHost: ${host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n`,
        `GET /%zz%ff?%zz=%ff&%00 HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
        `GET /v1/oauth/authorize?client_id=%ff&redirect_uri=%zz&state=%00%0d%0a HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
        `POST /v1/oauth/token HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n\xff\xfe`,
        `POST /v2/droplets HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef`,
        `GET /panel HTTP/1.1\r\nHost: ${host}\r\nCookie: =;;%zz=%zz; sandbox_session_1\r\nConnection: close\r\n\r\n`,
      ]) {
        await sendBytes(origin, Buffer.from(head, 'latin1'), 300);
      }
    }
    await expectAlive(sandbox);
  });

  it('a state with a line break cannot split the response', async () => {
    const sandbox = await sandboxFor();
    sandbox.world.consent = { mode: 'deny' };
    const query = `client_id=${sandbox.ready.client_id}&redirect_uri=${encodeURIComponent(sandbox.ready.callback_url)}&response_type=code`;
    const answer = await send(sandbox.ready.auth_url, `/v1/oauth/authorize?${query}&state=a%0d%0aX-Evil:1`);
    expect(answer.status).toBe(302);
    expect(answer.headers['x-evil']).toBeUndefined();
    expect(answer.headers.location).toContain('state=a%0d%0aX-Evil:1');
  });

  it('an exception of a handler is 500', async () => {
    const sandbox = await sandboxFor({
      data: { applications: [{ name: 'x', callbackUrls: ['http://127.0.0.1:9/'] }] },
    });
    const { ready, world } = sandbox;
    world.consent = { mode: 'deny' };
    const [application] = world.seed.applications;
    Object.assign(application ?? {}, { callbackUrls: ['http://127.0.0.1:9/☃'] });
    const query = new URLSearchParams({ client_id: ready.client_id, redirect_uri: 'http://127.0.0.1:9/☃' });
    const answer = await send(ready.auth_url, `/v1/oauth/authorize?${query}&response_type=code`);
    expect(answer.status).toBe(500);
    expect(sandbox.requests()).toMatchObject([{ path: '/v1/oauth/authorize', status: 500 }]);
    const clock = { ...world.clock };
    world.setClock(() => ({ offset: 9e15, frozenAt: null }));
    expect((await send(ready.base_url, '/v2/droplets')).status).toBe(500);
    world.setClock(() => clock);
    await expectAlive(sandbox);
  });

  it.each([1, 2, 8, 15])('a body of %i times the limit and more is 413 and changes nothing', async (times) => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox);
    const body = JSON.stringify({
      name: 'a',
      size: '1gb',
      image: 'debian-12-x64',
      user_data: 'x'.repeat(times * BODY_LIMIT),
    });
    const { status, headers } = await callApi(sandbox, access_token, 'POST', '/v2/droplets', body);
    expect([status, headers['content-type']]).toEqual([413, 'application/json; charset=utf-8']);
    const { meta } = JSON.parse((await callApi(sandbox, access_token, 'GET', '/v2/droplets')).body);
    expect(meta.total).toBe(3);
  });

  it('a client that reads only after it has sent a body over the limit receives the 413', async () => {
    const sandbox = await sandboxFor();
    const { host } = new URL(sandbox.ready.base_url);
    const size = 3 * BODY_LIMIT;
    const connection = openRawConnection(sandbox.ready.base_url);
    connection.write(`POST /v2/droplets HTTP/1.1\r\nHost: ${host}\r\nContent-Length: ${size}\r\n\r\n`);
    connection.write('x'.repeat(size - 1));
    await sleep(200);
    expect(sandbox.requests()).toEqual([]);
    connection.write('x');
    expect(await connection.waitFor(/\r\n\r\n/)).toMatch(/^HTTP\/1\.1 413 /);
    connection.write(`GET /v2/droplets HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    expect((await connection.closed).text).toContain('HTTP/1.1 401 ');
  });

  it('a body without an end is 413 before its end, and the connection closes', async () => {
    const sandbox = await sandboxFor();
    const { hostname, port, host } = new URL(sandbox.ready.base_url);
    const sent = await new Promise<number>((resolve, reject) => {
      let bytes = 0;
      const socket = connect(Number(port), hostname, () => {
        socket.write(`POST /v2/droplets HTTP/1.1\r\nHost: ${host}\r\nContent-Length: ${2 ** 40}\r\n\r\n`);
        const more = (): void => {
          bytes += BODY_LIMIT;
          socket.write(Buffer.alloc(BODY_LIMIT), (error) => (error ? undefined : more()));
        };
        more();
      });
      socket.on('error', (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EPIPE' && error.code !== 'ECONNRESET') reject(error);
      });
      socket.on('close', () => resolve(bytes));
    });
    expect(sent).toBeGreaterThan(16 * BODY_LIMIT);
    expect(sent).toBeLessThan(64 * BODY_LIMIT);
    expect(sandbox.requests().map(({ status }) => status)).toEqual([413]);
  });

  it.each(['gzip', 'br', 'identity, gzip'])(
    'a body in %s is 415 on both sides, and changes nothing',
    async (coding) => {
      const sandbox = await sandboxFor();
      const { access_token } = await tokenFor(sandbox);
      const headers = {
        authorization: `Bearer ${access_token}`,
        'content-type': 'application/json',
        'content-encoding': coding,
      };
      const body = JSON.stringify({ name: 'a', size: '1gb', image: 'debian-12-x64' });
      const { base_url, auth_url } = sandbox.ready;
      expect((await send(base_url, '/v2/droplets', { method: 'POST', headers, body })).status).toBe(415);
      expect((await send(auth_url, '/v1/oauth/token', { method: 'POST', headers, body })).status).toBe(415);
      expect(
        (await send(base_url, '/v2/droplets', { headers: { ...headers, 'content-encoding': 'identity' } })).status,
      ).toBe(200);
      const { meta } = JSON.parse((await callApi(sandbox, access_token, 'GET', '/v2/droplets')).body);
      expect(meta.total).toBe(3);
    },
  );

  it('more than 64 KiB of headers are 431 with a body', async () => {
    const { ready } = await sandboxFor();
    for (const origin of [ready.auth_url, ready.base_url]) {
      const head = `GET /v2/droplets HTTP/1.1\r\nHost: ${new URL(origin).host}\r\nX-Long: ${'x'.repeat(70_000)}\r\n\r\n`;
      const [status, body = ''] = (await sendBytes(origin, head)).split('\r\n\r\n');
      expect(status).toMatch(/^HTTP\/1.1 431 /);
      expect(JSON.parse(body)).toMatchObject({ id: 'header_fields_too_large' });
    }
  });

  it('a large body within the limit is accepted', async () => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox);
    const body = { name: 'a', size: '1gb', image: 'debian-12-x64', user_data: '\\"\n'.repeat(BODY_LIMIT / 8) };
    expect((await callApi(sandbox, access_token, 'POST', '/v2/droplets', body)).status).toBe(202);
  });

  it('a request that times out is 408, a malformed request is 400', async () => {
    const sandbox = await sandboxFor();
    const { hostname, port } = new URL(sandbox.ready.base_url);
    const answerTo = (words: string): Promise<string> =>
      new Promise((resolve, reject) => {
        const socket = connect(Number(port), hostname, () => socket.write(words));
        socket.once('data', (bytes) => resolve(bytes.toString('latin1').split('\r\n', 1).join('')));
        socket.once('error', reject);
      });
    expect(await Promise.all(['GET / HTTP/1.1\r\n', 'nonsense\r\n\r\n'].map(answerTo))).toEqual([
      'HTTP/1.1 408 Request Timeout',
      'HTTP/1.1 400 Bad Request',
    ]);
  });

  it('an incomplete request is not handled', async () => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox);
    const { hostname, port, host } = new URL(sandbox.ready.base_url);
    const body = '{"name":"half","size":"1gb","image":"debian-12-x64"}';
    const head = `POST /v2/droplets HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${access_token}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    await new Promise<void>((resolve, reject) => {
      const socket = connect(Number(port), hostname, () => {
        socket.write(head + body.slice(0, -1), () => socket.destroy());
      });
      socket.on('close', () => resolve());
      socket.on('error', reject);
    });
    await expectAlive(sandbox);
    const { meta } = JSON.parse((await callApi(sandbox, access_token, 'GET', '/v2/droplets')).body);
    expect(meta.total).toBe(3);
  });
});

describe('only loopback hosts are accepted', () => {
  it.each([
    'evil.example',
    'evil.example:PORT',
    '127.0.0.1.evil.example:PORT',
    '127.0.0.1:1',
    '0.0.0.0:PORT',
    '127.0.0.1',
  ])('Host %j is 421', async (pattern) => {
    const sandbox = await sandboxFor();
    for (const origin of [sandbox.ready.auth_url, sandbox.ready.base_url]) {
      const host = pattern.replace('PORT', new URL(origin).port);
      expect((await send(origin, '/panel', { headers: { host } })).status).toBe(421);
    }
  });

  it.each([
    ['GET http://HOST/v2/droplets?page=1', 200],
    ['GET HTTP://HOST/v2/droplets', 200],
    ['GET http://HOST', 404],
    ['GET http://HOST?page=1', 404],
    ['GET http://evil.example/v2/droplets', 421],
    ['GET http://HOST@evil.example/v2/droplets', 421],
    ['GET http:///v2/droplets', 421],
  ])('a target in absolute form: %s is %i', async (line, status) => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox);
    const { host } = new URL(sandbox.ready.base_url);
    const head = `${line.replace('HOST', host)} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${access_token}\r\nConnection: close\r\n\r\n`;
    expect(await sendBytes(sandbox.ready.base_url, head)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  });

  it('two Host headers and an empty one are rejected', async () => {
    const sandbox = await sandboxFor();
    const { host } = new URL(sandbox.ready.auth_url);
    for (const hosts of [
      [host, 'evil.example'],
      ['evil.example', host],
      [host, host],
    ]) {
      const head = `GET /panel HTTP/1.1\r\n${hosts.map((one) => `Host: ${one}\r\n`).join('')}Connection: close\r\n\r\n`;
      expect(await sendBytes(sandbox.ready.auth_url, head)).toMatch(/^HTTP\/1\.1 4(21|00) /);
    }
  });
});

async function expectAlive(sandbox: SandboxServers): Promise<void> {
  expect((await send(sandbox.ready.auth_url, '/panel/sign-in')).status).toBe(200);
  expect((await send(sandbox.ready.base_url, '/v2/droplets')).status).toBe(401);
}

describe('the end of a message is unambiguous', () => {
  it.each([
    [undefined, 1, undefined],
    ['chunked', 1, undefined],
    ['CHUNKED', 1, undefined],
    [', chunked', 1, undefined],
    ['gzip, chunked', 1, 501],
    ['chunked, chunked', 1, 501],
    ['gzip', 1, 400],
    ['chunked, gzip', 1, 400],
    ['', 1, 400],
    ['xchunked', 1, 400],
    ['chunked', 0, 400],
    ['gzip, chunked', 0, 400],
  ])('Transfer-Encoding %j in HTTP/1.%i is %s', (codings, httpVersionMinor, status) => {
    const headers = codings === undefined ? {} : { 'transfer-encoding': codings };
    expect(checkFraming({ headers, httpVersionMajor: 1, httpVersionMinor })).toBe(status);
  });
});

it.each([
  ['1.1', 'Transfer-Encoding: gzip, chunked', '0\r\n\r\n', 501],
  ['1.1', 'Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked', '0\r\n\r\n', 501],
  ['1.1', 'Transfer-Encoding: gzip', '0\r\n\r\n', 400],
  ['1.1', 'Transfer-Encoding:\r\nContent-Length: 5', '0\r\n\r\n', 400],
  ['1.1', 'Content-Length: 5\r\nTransfer-Encoding: chunked', '0\r\n\r\n', 400],
  ['1.0', 'Connection: keep-alive\r\nTransfer-Encoding: chunked', '0\r\n\r\n', 400],
])('a request after a message of HTTP/%s with %j is not carried out', async (version, header, body, status) => {
  const sandbox = await sandboxFor();
  const { access_token: token } = await tokenFor(sandbox);
  const origin = sandbox.ready.base_url;
  const { host } = new URL(origin);
  const bearer = `Host: ${host}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json`;
  const behind = JSON.stringify({ name: 'behind', size: 's-1vcpu-1gb', image: 'ubuntu-24-04-x64' });
  const creation = `POST /v2/droplets HTTP/1.1\r\n${bearer}\r\nContent-Length: ${behind.length}\r\n\r\n${behind}`;
  const answer = await sendBytes(
    origin,
    Buffer.from(`POST /v2/droplets HTTP/${version}\r\n${bearer}\r\n${header}\r\n\r\n${body}${creation}`),
    2_000,
  );
  expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual([`HTTP/1.1 ${status}`]);
  const { meta } = JSON.parse((await callApi(sandbox, token, 'GET', '/v2/droplets')).body);
  expect(meta.total).toBe(3);
});

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
