import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { DEFAULT_BODY_LIMIT } from '../../../src/sandbox/http/server.ts';
import type { SandboxServers } from '../../../src/sandbox/sandbox.ts';
import { openRawConnection } from '../raw-connection.ts';
import { callApi, sandboxFor, send, sendBytes, tokenFor } from '../requests.ts';

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

  it.each([1, 2, 8, 15])('a body of %i times the limit and more is 413 and changes nothing', async (times) => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox);
    const body = JSON.stringify({
      name: 'a',
      size: '1gb',
      image: 'debian-12-x64',
      user_data: 'x'.repeat(times * DEFAULT_BODY_LIMIT),
    });
    const { status, headers } = await callApi(sandbox, access_token, 'POST', '/v2/droplets', body);
    expect([status, headers['content-type']]).toEqual([413, 'application/json; charset=utf-8']);
    const { meta } = JSON.parse((await callApi(sandbox, access_token, 'GET', '/v2/droplets')).body);
    expect(meta.total).toBe(3);
  });

  it('a client that reads only after it has sent a body over the limit receives the 413', async () => {
    const sandbox = await sandboxFor();
    const { host } = new URL(sandbox.ready.base_url);
    const size = 3 * DEFAULT_BODY_LIMIT;
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
          bytes += DEFAULT_BODY_LIMIT;
          socket.write(Buffer.alloc(DEFAULT_BODY_LIMIT), (error) => (error ? undefined : more()));
        };
        more();
      });
      socket.on('error', (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EPIPE' && error.code !== 'ECONNRESET') reject(error);
      });
      socket.on('close', () => resolve(bytes));
    });
    expect(sent).toBeGreaterThan(16 * DEFAULT_BODY_LIMIT);
    expect(sent).toBeLessThan(64 * DEFAULT_BODY_LIMIT);
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

  it('a large body within the limit is accepted', async () => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox);
    const body = { name: 'a', size: '1gb', image: 'debian-12-x64', user_data: '\\"\n'.repeat(DEFAULT_BODY_LIMIT / 8) };
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
