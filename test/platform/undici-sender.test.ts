import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer as createHttp, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { type AddressInfo, createServer as createTcp, type Socket } from 'node:net';
import { inspect } from 'node:util';
import { afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type HttpInit, SendError } from '../../src/platform/http-sender.ts';
import { fetchSender, undiciSender } from '../../src/platform/undici-sender.ts';
import { expectGolden } from '../fixtures/golden.ts';
import { bundleProgram } from './bundle.ts';
import { type Certificates, makeCertificates, trusting } from './certificates.ts';

const secret = 'hunter2-hunter2';
const servers: Server[] = [];
const rawServers: ReturnType<typeof createTcp>[] = [];
let certificates: Certificates;

beforeAll(() => {
  certificates = makeCertificates();
});
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
  for (const server of rawServers.splice(0)) server.close();
});

async function http(answer: RequestListener, server: Server = createHttp(answer)): Promise<string> {
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `127.0.0.1:${portOf(server)}`;
}

async function https(cert: string): Promise<number> {
  const answer: RequestListener = (_, response) => response.end('over TLS');
  await http(answer, createHttps({ key: certificates.key, cert }, answer));
  return portOf(servers.at(-1)!);
}

/** What is done with each connection once its first bytes are here. */
async function raw(react: (socket: Socket, first: Buffer) => void): Promise<string> {
  const server = createTcp((socket) => {
    socket.on('error', () => {}).once('data', (first) => react(socket, first));
  }).listen(0, '127.0.0.1');
  rawServers.push(server);
  await once(server, 'listening');
  return `127.0.0.1:${portOf(server)}`;
}

function portOf(server: { address(): AddressInfo | string | null }): number {
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('not listening');
  return address.port;
}

const post = (parts: Partial<HttpInit> = {}): HttpInit => ({
  method: 'POST',
  headers: {},
  redirect: 'manual',
  signal: AbortSignal.timeout(5000),
  ...parts,
});

async function failure(request: Promise<unknown>): Promise<SendError> {
  const error = await request.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof SendError)) throw new Error(`no SendError but ${inspect(error)}`);
  expect(inspect(error, { depth: 9 })).not.toContain(secret);
  expect(error.cause).toBeUndefined();
  return error;
}

describe('a request', () => {
  it('carries method, headers and body, and gives status, headers and text back', async () => {
    const seen: IncomingMessage[] = [];
    const host = await http(async (request, response) => {
      seen.push(request);
      let body = '';
      for await (const chunk of request) body += chunk;
      response.writeHead(201, { 'x-request-id': 'r1' }).end(`got ${body} ✓`);
    });
    const send = await undiciSender({ env: {} });
    const answer = await send(`http://${host}/a?b=c`, post({ headers: { 'x-mine': 'yes' }, body: 'text' }));
    expect([answer.status, answer.headers.get('X-Request-Id'), await answer.text()]).toEqual([201, 'r1', 'got text ✓']);
    expect(seen[0]).toMatchObject({ method: 'POST', url: '/a?b=c', headers: { 'x-mine': 'yes' } });
  });

  it('never follows a redirect', async () => {
    let requests = 0;
    const host = await http((_, response) => {
      requests += 1;
      response.writeHead(307, { location: '/elsewhere' }).end();
    });
    const send = await undiciSender({ env: {} });
    const answer = await send(`http://${host}/`, post({ body: secret }));
    expect([answer.status, answer.headers.get('location'), requests]).toEqual([307, '/elsewhere', 1]);
  });

  it.each([421, 429, 500, 503])('is never sent a second time for an answer of %i', async (status) => {
    let requests = 0;
    const host = await http((_, response) => {
      requests += 1;
      response.writeHead(status, { 'retry-after': '0' }).end('{}');
    });
    const send = await undiciSender({ env: {}, fresh: true });
    const answer = await send(`http://${host}/`, post());
    expect([answer.status, await answer.text()]).toEqual([status, '{}']);
    expect(requests).toBe(1);
  });

  it('uses a connection for several requests, and with `fresh` one for each', async () => {
    const sockets = new Set<unknown>();
    const host = await http((request, response) => {
      sockets.add(request.socket);
      response.end('x');
    });
    for (const fresh of [false, true]) {
      sockets.clear();
      const send = await undiciSender({ env: {}, fresh });
      for (let i = 0; i < 3; i++) await (await send(`http://${host}/`, post())).text();
      // One that has just ended may not count as free yet, so a second one is opened at times.
      if (fresh) expect(sockets.size).toBe(3);
      else expect(sockets.size).toBeLessThan(3);
    }
  });

  it.each(['read', 'broken off', 'without a body'])(
    'with `fresh` leaves no connection behind when its answer was %s',
    async (how) => {
      const host = await http((_, response) => {
        response.writeHead(how === 'without a body' ? 204 : 200);
        if (how !== 'without a body') for (let i = 0; i < 100; i++) response.write('x'.repeat(10_000));
        response.end();
      });
      const closed = new Promise<number>((resolve) => {
        servers
          .at(-1)
          ?.once('connection', (socket) => socket.on('error', () => {}).once('close', () => resolve(Date.now())));
      });
      const send = await undiciSender({ env: {}, fresh: true });
      const { body } = await send(`http://${host}/`, post());
      if (body !== null) for await (const chunk of body) if (how === 'broken off' && chunk.length > 0) break;
      const done = Date.now();
      // The server itself would keep it for five seconds.
      expect((await closed) - done).toBeLessThan(1000);
    },
  );
});

describe('what is known of a failure', () => {
  it('nobody listens: refused, not sent', async () => {
    const host = await raw(() => {});
    rawServers[0]?.close();
    const send = await undiciSender({ env: {} });
    const error = await failure(send(`http://${host}/?code=${secret}`, post()));
    expect(error).toMatchObject({ kind: 'refused', sent: false });
    expectGolden('errors', error.message.replaceAll(host, 'HOST'));
  });

  it('the name is unknown: name, not sent', async () => {
    const send = await undiciSender({ env: {} });
    expect(await failure(send(`http://no-such-host.invalid/?code=${secret}`, post()))).toMatchObject({
      kind: 'name',
      sent: false,
    });
  });

  it('the connection takes too long: timeout, not sent', async () => {
    // A server that accepts and never shakes hands.
    const host = await raw(() => {});
    const send = await undiciSender({ env: {}, connectLimit: 200 });
    const start = Date.now();
    expect(await failure(send(`https://${host}/`, post()))).toMatchObject({ kind: 'timeout', sent: false });
    expect(Date.now() - start).toBeLessThan(1000);
  });

  it('the server closes after the request, with half an answer or none: connection, sent', async () => {
    for (const words of ['', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"access']) {
      const host = await raw((socket) => socket.end(words));
      const send = await undiciSender({ env: {}, fresh: true });
      const request = send(`http://${host}/?code=${secret}`, post()).then((answer) => answer.text());
      expect(await failure(request)).toMatchObject({ kind: 'connection', sent: true });
    }
  });

  it('the server resets: connection, sent', async () => {
    const host = await raw((socket) => socket.resetAndDestroy());
    const send = await undiciSender({ env: {}, fresh: true });
    expect(await failure(send(`http://${host}/`, post()))).toMatchObject({ kind: 'connection', sent: true });
  });

  it('the deadline passes before the answer or within it: timeout, sent', async () => {
    for (const words of ['', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"access']) {
      const host = await raw((socket) => void socket.write(words));
      const send = await undiciSender({ env: {}, fresh: true });
      const request = send(`http://${host}/`, post({ signal: AbortSignal.timeout(150) })).then((answer) =>
        answer.text(),
      );
      expect(await failure(request)).toMatchObject({ kind: 'timeout', sent: true });
    }
  });

  it('given up before it left: aborted, not sent', async () => {
    const host = await http((_, response) => response.end());
    const send = await undiciSender({ env: {} });
    expect(await failure(send(`http://${host}/`, post({ signal: AbortSignal.abort() })))).toMatchObject({
      kind: 'aborted',
      sent: false,
    });
  });

  it('no error of a library gets out with an address, a header or a body in it', async () => {
    const send = await undiciSender({ env: {} });
    const host = await http((_, response) => response.end());
    expect(await failure(send(`nonsense ${secret}`, post()))).toMatchObject({ sent: false });
    expect(await failure(send(`http://user:${secret}@${host}/`, post()))).toMatchObject({ sent: false });
    expect(
      await failure(send(`http://${host}/`, post({ headers: { authorization: `Bearer ${secret}\n!` } }))),
    ).toMatchObject({ sent: false });
    expect(await failure(send(`http://${host}/`, post({ method: 'GET', body: secret })))).toMatchObject({
      sent: false,
    });
    const given = fetchSender(globalThis.fetch);
    expect(await failure(given(`nonsense ${secret}`, post()))).toMatchObject({ sent: false });
    expect(await failure(given(`http://user:${secret}@${host}/`, post()))).toMatchObject({ sent: true });
  });

  it('a given fetch cannot tell, so its failures count as sent', async () => {
    const host = await raw(() => {});
    rawServers[0]?.close();
    expect(await failure(fetchSender(globalThis.fetch)(`http://${host}/`, post()))).toMatchObject({
      kind: 'connection',
      sent: true,
    });
  });
});

describe('TLS', () => {
  const send = async (port: number, ca: string | undefined, env = {}, host = 'localhost') => {
    const answer = await (await undiciSender({ env, ...(ca === undefined ? {} : { trust: trusting(ca) }) }))(
      `https://${host}:${port}/`,
      post(),
    );
    return answer.text();
  };

  it('is spoken with a server whose certificate is in order', async () => {
    const port = await https(certificates.cert);
    expect(await send(port, certificates.ca)).toBe('over TLS');
    expect(await send(port, certificates.ca, {}, '127.0.0.1')).toBe('over TLS');
  });

  it.each([
    ['of an unknown authority', 'cert', false],
    ['for another name', 'elsewhere', true],
    ['out of date', 'expired', true],
  ] as const)('a certificate %s: tls, not sent', async (_, kind, known) => {
    const port = await https(certificates[kind]);
    expect(await failure(send(port, known ? certificates.ca : undefined))).toMatchObject({ kind: 'tls', sent: false });
  });

  it('is verified whatever NODE_TLS_REJECT_UNAUTHORIZED says', async () => {
    const port = await https(certificates.cert);
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    try {
      expect(await failure(send(port, undefined))).toMatchObject({ kind: 'tls', sent: false });
    } finally {
      delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    }
  });

  it('with a server that speaks none, or hangs up: tls, not sent', async () => {
    const plain = await raw((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    const silent = await raw((socket) => socket.destroy());
    for (const host of [plain, silent]) {
      expect(await failure(send(Number(host.split(':')[1]), certificates.ca))).toMatchObject({
        kind: 'tls',
        sent: false,
        noTls: host === plain,
      });
    }
  });
});

describe('the trace', () => {
  it('tells method, address, names of parameters, status and time, and no value', async () => {
    const lines: string[] = [];
    const host = await http((_, response) => response.writeHead(204).end());
    let now = 0;
    const send = await undiciSender({ env: {}, trace: (line) => lines.push(line), now: () => (now += 40) });
    await send(
      `http://${host}/v1/oauth/token?grant_type=code&code=${secret}&x%20y=1`,
      post({ headers: { authorization: secret } }),
    );
    await failure(send(`http://no-such-host.invalid/?code=${secret}`, post()));
    expect(lines).toEqual([
      `POST http://${host}/v1/oauth/token?grant_type&code&x%20y 204 40 ms`,
      'POST http://no-such-host.invalid/?code name 40 ms',
    ]);
  });
});

describe('a program', () => {
  const program = `
    import { undiciSender } from './src/platform/undici-sender.ts';
    const [url, limit, env] = process.argv.slice(2);
    const run = async () => {
      const send = await undiciSender({ env: JSON.parse(env) });
      const signal = AbortSignal.timeout(Number(limit));
      const wait = setTimeout(() => {}, Number(limit));
      await send(url, { method: 'GET', headers: {}, redirect: 'manual', signal }).then((answer) => answer.text(), (error) => console.log(error.kind));
      clearTimeout(wait);
    };
    run();
  `;

  it('ends with its requests: no kept connection and none that is still being made holds it', async () => {
    const bundle = await bundleProgram({ text: program }, 'esm');
    onTestFinished(() => bundle.remove());
    const run = async (url: string, env: object) => {
      const child = spawn(process.execPath, [bundle.script, url, '300', JSON.stringify(env)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const start = Date.now();
      await once(child, 'close');
      return Date.now() - start;
    };
    const host = await http((_, response) => response.end('kept alive'));
    expect(await run(`http://${host}/`, {})).toBeLessThan(3500);
    const silent = await raw(() => {});
    expect(await run('https://api.example.test/', { HTTPS_PROXY: `http://${silent}` })).toBeLessThan(6000);
  });
});

describe('an answer that does not come whole is told by what was seen', () => {
  it.each([
    'SSH-2.0-server\r\n',
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n',
    'HTTP/1.1 200 OK\r\nconten',
  ])('%j', async (said) => {
    const at = await raw((socket) => socket.end(said));
    const send = await undiciSender({ env: {} });
    const init = { method: 'GET', headers: {}, signal: AbortSignal.timeout(5_000), redirect: 'manual' } as const;
    const error = await failure(send(`http://${at}/`, init));
    expect(error).toMatchObject({ sent: true });
    expectGolden('errors', error.message.replaceAll(at, 'HOST'));
  });
});
