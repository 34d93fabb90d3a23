import { once } from 'node:events';
import { createServer as createHttp, type Server } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { type AddressInfo, connect, createServer as createTcp, type Socket } from 'node:net';
import { inspect } from 'node:util';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CliError } from '../../src/base/errors.ts';
import { HttpSendError } from '../../src/platform/http-sender.ts';
import { proxyFor } from '../../src/platform/proxy.ts';
import { createUndiciSender } from '../../src/platform/undici-sender.ts';
import { expectGolden } from '../fixtures/golden.ts';
import { type Certificates, makeCertificates } from './certificates.ts';

const proxied = (url: string, env: Record<string, string>) => proxyFor(new URL(url), env)?.displayUrl;

describe('the proxy for an address', () => {
  it.each([
    ['https://a.example/', { HTTPS_PROXY: 'http://p:3128' }, 'http://p:3128'],
    ['https://a.example/', { HTTP_PROXY: 'http://p:3128' }, undefined],
    ['http://a.example/', { HTTP_PROXY: 'p:3128' }, 'http://p:3128'],
    ['https://a.example/', { https_proxy: 'https://low', HTTPS_PROXY: 'http://up' }, 'https://low'],
    ['https://a.example/', { https_proxy: '', HTTPS_PROXY: 'http://up' }, undefined],
    ['https://a.example/', {}, undefined],
  ])('%s with %j is %s', (url, env, shown) => {
    expect(proxied(url, env)).toBe(shown);
  });

  it.each([
    'http://localhost:8080/',
    'http://127.0.0.1/',
    'http://127.1.2.3/',
    'http://[::1]:80/',
    'https://localhost/',
  ])('is none for loopback: %s', (url) =>
    expect(proxied(url, { HTTP_PROXY: 'http://p', HTTPS_PROXY: 'http://p' })).toBeUndefined(),
  );

  it.each([
    ['*', true],
    ['other.example, api.example', true],
    ['example', true],
    ['.example', true],
    ['*.example', true],
    ['api.example:8443', true],
    ['API.EXAMPLE', true],
    ['api.example:443', false],
    ['pi.example', false],
    ['api.example.org', false],
    ['', false],
  ])('with NO_PROXY=%s leaves https://api.example:8443 out: %s', (exceptions, out) => {
    expect(proxied('https://api.example:8443/', { HTTPS_PROXY: 'http://p', NO_PROXY: exceptions }) === undefined).toBe(
      out,
    );
  });

  it.each([
    ['10.1.2.3', '10.0.0.0/8', true],
    ['10.1.2.3', '10.1.2.3', true],
    ['10.1.2.3', '.2.3', false],
    ['10.1.2.3', '10.1.2.0/33', false],
    ['[fd00::1]', 'fd00::/8', true],
    ['[fd00::1]', '[fd00::1]:443', true],
    ['[fd00::1]', '10.0.0.0/8', false],
  ])('https://%s with NO_PROXY=%s is left out: %s', (host, exceptions, out) => {
    expect(proxied(`https://${host}/`, { HTTPS_PROXY: 'http://p', no_proxy: exceptions }) === undefined).toBe(out);
  });

  it('that cannot be used is a setting that is wrong, told without its password', () => {
    for (const value of ['socks5://u:hunter2@p:1080', 'http://u:hunter2@p:notaport']) {
      const attempt = () => proxied('https://a.example/', { HTTPS_PROXY: value });
      expect(attempt).toThrow(CliError);
      expect(attempt).toThrow(/^HTTPS_PROXY /);
      expect(attempt).not.toThrow(/hunter2/);
    }
  });
});

describe('a request through a proxy', () => {
  const closers: (() => void)[] = [];
  let certificates: Certificates;
  beforeAll(() => {
    certificates = makeCertificates();
  });
  afterEach(() => {
    for (const close of closers.splice(0)) close();
  });

  async function listening(server: Server | ReturnType<typeof createTcp>): Promise<number> {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    closers.push(() => {
      if ('closeAllConnections' in server) server.closeAllConnections();
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    return port;
  }

  /** A proxy that leads every name to the target port, and keeps what it was asked. */
  async function startProxy(target: number, options: { secure?: boolean; status?: string } = {}) {
    const asked: { line: string; authorization: string | undefined }[] = [];
    const server =
      options.secure === true ? createHttps({ key: certificates.key, cert: certificates.cert }) : createHttp();
    server.on('connect', (request, socket: Socket) => {
      asked.push({ line: `${request.method} ${request.url}`, authorization: request.headers['proxy-authorization'] });
      socket.on('error', () => {});
      if (options.status !== undefined) {
        socket.end(`HTTP/1.1 ${options.status}\r\n\r\n`);
        return;
      }
      const upstream = connect(target, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
        upstream.pipe(socket).pipe(upstream);
      });
      upstream.on('error', () => socket.destroy());
    });
    server.on('request', (request, response) => {
      asked.push({ line: `${request.method} ${request.url}`, authorization: undefined });
      response.writeHead(500).end();
    });
    return { port: await listening(server), asked };
  }

  const startTarget = () =>
    listening(
      createHttps({ key: certificates.key, cert: certificates.cert }, (request, response) =>
        response.end(`seen ${request.url}`),
      ),
    );

  const post = (signal = AbortSignal.timeout(5000)) =>
    ({ method: 'POST', headers: {}, redirect: 'manual', signal }) as const;

  it.each([false, true])('is one CONNECT, then TLS with the server itself (proxy over TLS: %s)', async (secure) => {
    const proxy = await startProxy(await startTarget(), { secure });
    const env = { HTTPS_PROXY: `${secure ? 'https' : 'http'}://us%40er:pass@localhost:${proxy.port}` };
    const send = await createUndiciSender({ env, ca: certificates.ca });
    const answer = await send('https://api.example.test/v1/oauth/token?code=hidden', post());
    expect(await answer.text()).toBe('seen /v1/oauth/token?code=hidden');
    expect(proxy.asked).toEqual([
      { line: 'CONNECT api.example.test:443', authorization: `Basic ${Buffer.from('us@er:pass').toString('base64')}` },
    ]);
  });

  it('is a CONNECT for plain http as well', async () => {
    const target = await listening(createHttp((request, response) => response.end(`seen ${request.url}`)));
    const proxy = await startProxy(target);
    const send = await createUndiciSender({ env: { HTTP_PROXY: `http://127.0.0.1:${proxy.port}` } });
    const answer = await send('http://api.example.test/x?secret=1', post());
    expect(await answer.text()).toBe('seen /x?secret=1');
    expect(proxy.asked).toEqual([{ line: 'CONNECT api.example.test:80', authorization: undefined }]);
  });

  it('to a server whose certificate is wrong fails as it does without one', async () => {
    const proxy = await startProxy(await startTarget());
    const send = await createUndiciSender({
      env: { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` },
      ca: certificates.ca,
    });
    await expect(send('https://other.example.test/', post())).rejects.toMatchObject({
      kind: 'tls',
      sent: false,
      atProxy: false,
    });
  });

  it('that refuses is told with its status and not its password; nothing was sent', async () => {
    const proxy = await startProxy(0, { status: '407 Proxy Authentication Required' });
    const send = await createUndiciSender({ env: { HTTPS_PROXY: `http://user:hunter2@127.0.0.1:${proxy.port}` } });
    const error: unknown = await send('https://api.example.test/', post()).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(HttpSendError);
    expect(error).toMatchObject({ kind: 'connection', sent: false, atProxy: true });
    expect(inspect(error)).toContain('refused api.example.test:443: 407 Proxy Authentication Required');
    expect(inspect(error)).not.toMatch(/hunter2|dXNlcjpodW50ZXIy/);
    expect(proxy.asked.length).toBe(1);
  });

  it('that drops the CONNECT is asked once, and that ends the request', async () => {
    let connections = 0;
    const port = await listening(
      createTcp((socket) => {
        connections += 1;
        socket.on('error', () => {}).once('data', () => socket.destroy());
      }),
    );
    const send = await createUndiciSender({ env: { HTTPS_PROXY: `http://127.0.0.1:${port}` } });
    await expect(send('https://api.example.test/', post())).rejects.toMatchObject({ kind: 'connection', sent: false });
    expect(connections).toBe(1);
  });

  it('that says nothing is given up at the limit', async () => {
    const port = await listening(createTcp((socket) => void socket.on('error', () => {}).resume()));
    const send = await createUndiciSender({ env: { HTTPS_PROXY: `http://127.0.0.1:${port}` }, connectLimit: 200 });
    await expect(send('https://api.example.test/', post())).rejects.toMatchObject({ kind: 'timeout', sent: false });
  });

  it('that is not there: refused, not sent', async () => {
    const send = await createUndiciSender({ env: { HTTPS_PROXY: 'http://127.0.0.1:9' } });
    const error = await send('https://api.example.test/', post()).catch((caught) => caught);
    expect(error).toMatchObject({ kind: 'refused', sent: false, atProxy: true });
    expectGolden('errors', error.message);
  });
});
