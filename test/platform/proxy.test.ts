import { once } from 'node:events';
import { createServer as createHttp, type Server } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { type AddressInfo, connect, createServer as createTcp, type Socket } from 'node:net';
import { inspect } from 'node:util';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CliError } from '../../src/base/errors.ts';
import { SendError } from '../../src/platform/http-sender.ts';
import { proxyFor } from '../../src/platform/proxy.ts';
import { undiciSender } from '../../src/platform/undici-sender.ts';
import { expectGolden } from '../fixtures/golden.ts';
import { type Certificates, makeCertificates, trusting } from './certificates.ts';

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

  it.each([
    'http://us er:p@ss#w:rd@proxy:3128',
    'us er:p@ss#w:rd@proxy:3128',
    'http://user:p@ss#w:rd@proxy:3128',
    'http://user:secret#w@ss@proxy:3128',
    'http://user:pa/ss@proxy:3128',
    'http://user:pa?ss@proxy:3128',
    'https://user:pa/ss#w@proxy',
    'http://user:p@ss@proxy',
    'http://user:pa\tss@proxy',
    'http://user:pa\u00a0ss@proxy',
    'http://user:p@ss#w:rd',
    'http://user:pass#word',
    'http://user:pass:word',
    'http://user:pass',
    'user:pass?word',
    'http://user:pass@',
    'http://user:pass@:3128',
    'http://user:pass@ho st:3128',
    'http://user:pass@host:port',
    'http://user:pass@host:99999',
    'http://user:pass@host:3128?x',
    'http://user:pass@ho%st:3128',
    'http://user:pass@[::1',
    'http://user:pass@ho\\st',
    'http:/user:pass@host',
    '"http://user:pass@host:3128"',
    'socks5://user:pass@p:1080',
    'user:pa://ss@proxy',
    'pass://word@proxy',
  ])('%s is an error that shows nothing of the value', (value) => {
    for (const variable of ['HTTPS_PROXY', 'https_proxy']) {
      const error = failureOf(() => proxied('https://a.example/', { [variable]: value }));
      const shown = [error.message, error.detail, error.hint]
        .join(' ')
        .replaceAll('the user name and the password', '');
      expect(shown).toContain(variable);
      expect(shown).not.toMatch(/\bpass|\bword\b|\bss\b|\bpa\b|us er|w:rd|\buser\b|host|:\/\/p:|1080|3128/);
      expect(inspect(error)).not.toMatch(/p@ss|w:rd|us er/);
    }
  });

  it('with characters in its credentials that divide a URL says how they are written', () => {
    const error = failureOf(() => proxied('https://a.example/', { HTTPS_PROXY: 'http://us er:p@ss#w:rd@proxy:3128' }));
    expectGolden('errors', [error.message, error.detail, error.hint].join('\n'));
  });

  it.each(['socks5://u:hunter2@p:1080', 'http://u:hunter2@p:notaport'])('%s says what a proxy is', (value) => {
    const error = failureOf(() => proxied('https://a.example/', { HTTPS_PROXY: value }));
    expectGolden('errors', [error.message, error.detail, error.hint].join('\n'));
  });

  it.each([
    ['CORP\\user:pw', 'CORP\\user:pw'],
    ['CORP%5Cuser:pw', 'CORP\\user:pw'],
    ['user:p:w', 'user:p:w'],
    ['user', 'user:'],
    [':pw', ':pw'],
    ['us%40er:p%23%2F%3A%20w', 'us@er:p#/: w'],
    // A percent sign that encodes nothing is one, and does not undo the others.
    ['user:100%', 'user:100%'],
    ['user:%4050%', 'user:@50%'],
    ['user:%zz', 'user:%zz'],
    ['jörg:pä', 'jörg:pä'],
    ['user:$&+,;=[]{}^|"<>`!*()\'~', 'user:$&+,;=[]{}^|"<>`!*()\'~'],
  ])('takes the credentials %s as %s', (written, meant) => {
    for (const scheme of ['http://', '', 'HTTP://', 'https://']) {
      const proxy = proxyFor(new URL('https://a.example/'), { HTTPS_PROXY: `${scheme}${written}@proxy:3128` });
      expect(proxy).toMatchObject({ hostname: 'proxy', port: 3128 });
      expect(proxy?.authorization).toBe(`Basic ${Buffer.from(meant).toString('base64')}`);
      expect(proxy?.displayUrl).toBe(`${scheme === 'https://' ? 'https' : 'http'}://proxy:3128`);
    }
  });

  it('takes a byte of another encoding as it is written', () => {
    const proxy = proxyFor(new URL('https://a.example/'), { HTTPS_PROXY: 'http://user:%e4@proxy' });
    expect(proxy?.authorization).toBe(`Basic ${Buffer.from('user:\u00e4', 'latin1').toString('base64')}`);
  });

  it.each([' http://proxy:3128 ', 'http://proxy:3128/', 'http://proxy:3128/path', 'HTTP://PROXY:3128', 'proxy:3128\n'])(
    'is found in %j',
    (value) => expect(proxied('https://a.example/', { HTTPS_PROXY: value })).toBe('http://proxy:3128'),
  );

  it.each([
    ['http://[::1]:3128', '::1'],
    ['http://u:p@[fe80::1]', 'fe80::1'],
    ['http://10.0.0.1', '10.0.0.1'],
    ['http://pröxy.example', 'xn--prxy-6qa.example'],
  ])('%s has the host %s', (value, hostname) =>
    expect(proxyFor(new URL('https://a.example/'), { HTTPS_PROXY: value })).toMatchObject({ hostname }),
  );
});

function failureOf(attempt: () => unknown): CliError {
  try {
    attempt();
  } catch (error) {
    if (error instanceof CliError) return error;
    throw error;
  }
  throw new Error('no error');
}

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
  async function startProxy(target: number, options: { secure?: boolean; status?: string; headers?: string } = {}) {
    const asked: { line: string; authorization: string | undefined }[] = [];
    const server =
      options.secure === true ? createHttps({ key: certificates.key, cert: certificates.cert }) : createHttp();
    server.on('connect', (request, socket: Socket) => {
      asked.push({ line: `${request.method} ${request.url}`, authorization: request.headers['proxy-authorization'] });
      socket.on('error', () => {});
      if (options.status !== undefined) {
        socket.end(`HTTP/1.1 ${options.status}\r\n${options.headers ?? ''}\r\n`);
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
    const send = await undiciSender({ env, trust: trusting(certificates.ca) });
    const answer = await send('https://api.example.test/v1/oauth/token?code=hidden', post());
    expect(await answer.text()).toBe('seen /v1/oauth/token?code=hidden');
    expect(proxy.asked).toEqual([
      { line: 'CONNECT api.example.test:443', authorization: `Basic ${Buffer.from('us@er:pass').toString('base64')}` },
    ]);
  });

  it('is a CONNECT for plain http as well', async () => {
    const target = await listening(createHttp((request, response) => response.end(`seen ${request.url}`)));
    const proxy = await startProxy(target);
    const send = await undiciSender({ env: { HTTP_PROXY: `http://127.0.0.1:${proxy.port}` } });
    const answer = await send('http://api.example.test/x?secret=1', post());
    expect(await answer.text()).toBe('seen /x?secret=1');
    expect(proxy.asked).toEqual([{ line: 'CONNECT api.example.test:80', authorization: undefined }]);
  });

  it('to a server whose certificate is wrong fails as it does without one', async () => {
    const proxy = await startProxy(await startTarget());
    const send = await undiciSender({
      env: { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` },
      trust: trusting(certificates.ca),
    });
    await expect(send('https://other.example.test/', post())).rejects.toMatchObject({
      kind: 'tls',
      sent: false,
      atProxy: false,
    });
  });

  async function refused(credentials: string, status: string, headers?: string): Promise<SendError> {
    const proxy = await startProxy(0, { status, ...(headers === undefined ? {} : { headers }) });
    const send = await undiciSender({ env: { HTTPS_PROXY: `http://${credentials}127.0.0.1:${proxy.port}` } });
    const error: unknown = await send('https://api.example.test/', post()).catch((reason: unknown) => reason);
    if (!(error instanceof SendError)) throw new Error(`no SendError but ${inspect(error)}`);
    expect(error).toMatchObject({ kind: 'connection', sent: false, atProxy: true });
    expect(inspect(error)).not.toMatch(/hunter2|dXNlcjpodW50ZXIy/);
    expect(proxy.asked.length).toBe(1);
    expectGolden('errors', `${error.message}\n${error.hint}`.replaceAll(`${proxy.port}`, 'PORT'));
    return error;
  }

  it('that refuses is told with its status; nothing was sent', async () => {
    expect((await refused('user:hunter2@', '403 Forbidden')).hint).toBeUndefined();
  });

  it('that repeats the credentials in its refusal does not get them printed', async () => {
    await refused(
      'user:hunter2@',
      '407 no user:hunter2 dXNlcjpodW50ZXIy',
      'Proxy-Authenticate: hunter2, x=hunter2\r\n',
    );
  });

  it.each([
    ['user:hunter2@', ''],
    ['user:hunter2@', 'Proxy-Authenticate: Negotiate\r\nProxy-Authenticate: NTLM\r\nProxy-Authenticate: basic\r\n'],
    ['', 'Proxy-Authenticate: Basic realm="x, Digest y"\r\n'],
    ['', 'Proxy-Authenticate: Negotiate\r\nProxy-Authenticate: NTLM TlRM=\r\n'],
    ['CORP\\user:hunter2@', 'Proxy-Authenticate: NTLM, Digest realm="Basic", nonce="1"\r\n'],
  ])('that demands credentials (%j, %j) is told with the way to write them', async (credentials, headers) => {
    const error = await refused(credentials, '407 Proxy Authentication Required', headers);
    expect(error.message).toContain('refused api.example.test:443: 407 Proxy Authentication Required');
  });

  it('that drops the CONNECT is asked once, and that ends the request', async () => {
    let connections = 0;
    const port = await listening(
      createTcp((socket) => {
        connections += 1;
        socket.on('error', () => {}).once('data', () => socket.destroy());
      }),
    );
    const send = await undiciSender({ env: { HTTPS_PROXY: `http://127.0.0.1:${port}` } });
    await expect(send('https://api.example.test/', post())).rejects.toMatchObject({ kind: 'connection', sent: false });
    expect(connections).toBe(1);
  });

  it('that says nothing is given up at the limit', async () => {
    const port = await listening(createTcp((socket) => void socket.on('error', () => {}).resume()));
    const send = await undiciSender({ env: { HTTPS_PROXY: `http://127.0.0.1:${port}` }, connectLimit: 200 });
    await expect(send('https://api.example.test/', post())).rejects.toMatchObject({ kind: 'timeout', sent: false });
  });

  it('that is not there: refused, not sent', async () => {
    const send = await undiciSender({ env: { HTTPS_PROXY: 'http://127.0.0.1:9' } });
    const error = await send('https://api.example.test/', post()).catch((caught) => caught);
    expect(error).toMatchObject({ kind: 'refused', sent: false, atProxy: true });
    expectGolden('errors', error.message);
  });
});
