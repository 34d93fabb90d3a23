import type { Socket } from 'node:net';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { Secret } from '../../src/base/secret.ts';
import { ConnectError } from '../../src/platform/network-errors.ts';
import { connectPostgresql, startupParameters } from '../../src/postgresql/connection.ts';
import type { PostgresqlEndpoint } from '../../src/postgresql/endpoint.ts';
import { QueryError } from '../../src/postgresql/query-error.ts';
import { expectGolden } from '../fixtures/golden.ts';
import { anyMessage } from './any-message.ts';
import { type FakeServer, failure, hello, int32, isStartup, message, ready, serveMessages } from './wire.ts';

const servers: FakeServer[] = [];
const unhandled = vi.fn();
process.on('uncaughtException', unhandled);

afterEach(async () => {
  vi.unstubAllEnvs();
  await Promise.all(servers.splice(0).map((server) => server.stop()));
  expect(unhandled).not.toHaveBeenCalled();
});

async function serve(answer: Parameters<typeof serveMessages>[0]): Promise<PostgresqlEndpoint> {
  const server = await serveMessages(answer);
  servers.push(server);
  return server.source;
}

const options = { dbname: 'd', limit: 1000 };
const failing = (source: PostgresqlEndpoint, more = {}) =>
  connectPostgresql(source, { ...options, ...more }).then(
    async (session) => {
      await session.end();
      throw new Error('it connected');
    },
    (error: unknown) => {
      if (error instanceof ConnectError) return error;
      throw error;
    },
  );

describe('the startup message', () => {
  test('holds user, database, application_name, the fixed settings and the encoding, whatever the environment says', async () => {
    for (const name of [
      'OPTIONS',
      'APPNAME',
      'CLIENT_ENCODING',
      'REPLICATION',
      'USER',
      'DATABASE',
      'PASSWORD',
      'HOST',
      'PORT',
    ]) {
      vi.stubEnv(`PG${name}`, 'elsewhere');
    }
    vi.stubEnv('PGSSLMODE', 'require');
    vi.stubEnv('PGSSLNEGOTIATION', 'direct');
    vi.stubEnv('PGCONNECT_TIMEOUT', '1');
    let seen: readonly string[] = [];
    const source = await serve((text) => {
      if (!isStartup(text)) return undefined;
      seen = text
        .subarray(8)
        .toString()
        .split('\0')
        .filter((word) => word !== '');
      return hello;
    });
    const session = await connectPostgresql({ ...source, username: 'ü "x"' }, { ...options, dbname: "My-DB'" });
    expect(session.processId).toBe(4711);
    await session.end();
    expect(seen).toEqual([
      'user',
      'ü "x"',
      'database',
      "My-DB'",
      'application_name',
      'cloudctl-preflight',
      ...Object.entries(startupParameters).flat(),
      'client_encoding',
      'UTF8',
    ]);
  });

  test('requests a replication connection on demand', async () => {
    let seen = '';
    const source = await serve((text) => {
      if (isStartup(text)) seen = text.toString();
      return hello;
    });
    await (await connectPostgresql(source, { ...options, replication: true })).end();
    expect(seen).toContain('replication\0database\0');
  });

  test('refuses a NUL, which would begin another parameter', async () => {
    const source = await serve(() => hello);
    expect(await failing(source, { dbname: 'd\0options\0-c x=y' })).toMatchObject({
      phase: 'startup',
      code: 'PROTOCOL',
    });
    expect(await failing({ ...source, username: 'u\0x' })).toMatchObject({ phase: 'startup', code: 'PROTOCOL' });
  });
});

describe('a connection that fails', () => {
  test('because nothing listens has the phase network', async () => {
    const source = await serve(() => undefined);
    await servers.splice(0)[0]?.stop();
    expect(await failing(source)).toMatchObject({
      phase: 'network',
      code: 'ECONNREFUSED',
      message: 'connection refused',
    });
  });

  test('without a response ends at its limit', async () => {
    const silent = await serve(() => undefined);
    const began = Date.now();
    const error = await failing(silent, { limit: 200 });
    expect(error).toMatchObject({ phase: 'startup', code: 'ETIMEDOUT' });
    expectGolden('db-preflight', error.message);
    expect(await failing({ ...silent, ssl: 'require' }, { limit: 200 })).toMatchObject({
      phase: 'tls',
      code: 'ETIMEDOUT',
    });
    expect(Date.now() - began).toBeLessThan(3000);
  });

  test('ends with the signal, before and while it is made', async () => {
    const silent = await serve(() => undefined);
    expect(await failing(silent, { signal: AbortSignal.abort() })).toMatchObject({ code: 'ABORTED' });
    expect(await failing(silent, { signal: AbortSignal.timeout(100) })).toMatchObject({ code: 'ABORTED' });
  });

  test('because the server has no TLS has a code of its own', async () => {
    const source = await serve(() => Buffer.from('N'));
    expect(await failing({ ...source, ssl: 'require' })).toMatchObject({ phase: 'tls', code: 'NO_TLS' });
  });

  test.each([
    ['S', 'TLS'],
    ['Sjunk', 'PROTOCOL'],
    ['E', 'PROTOCOL'],
    ['HTTP/1.1 400 Bad Request', 'PROTOCOL'],
  ])('after the response %j to SSLRequest has the code %s', async (reply, code) => {
    const source = await serve((text, socket) => {
      if (text.length !== 8) socket.end(Buffer.from('nonsense'));
      return text.length === 8 ? Buffer.from(reply) : undefined;
    });
    expect(await failing({ ...source, ssl: 'require' })).toMatchObject({ phase: 'tls', code });
  });

  test.each([
    ['a web server', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'), 'PROTOCOL'],
    ['MySQL', Buffer.from('J\0\0\0\n8.0.36\0'), 'PROTOCOL'],
    ['SSH', Buffer.from('SSH-2.0-OpenSSH_9.2\r\n'), 'PROTOCOL'],
    ['zeros', Buffer.alloc(64), 'PROTOCOL'],
    ['ones', Buffer.alloc(64, 0xff), 'PROTOCOL'],
    ['a negative length', Buffer.from([0x52, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]), 'PROTOCOL'],
  ])('because of %s ends in bounded time with an error', async (_who, reply, code) => {
    const source = await serve(() => reply);
    expect(await failing(source, { limit: 500 })).toMatchObject({ phase: 'startup', code });
  });

  test.each([
    ['Kerberos', 7],
    ['SSPI', 9],
    ['a kind yet unknown', 99],
  ])('because the server requires %s has the code of authentication', async (_kind, number) => {
    const source = await serve(() => message('R', int32(number)));
    expect(await failing(source)).toMatchObject({ phase: 'startup', code: 'AUTHENTICATION' });
  });

  test('because the password is missing does not look for one elsewhere', async () => {
    vi.stubEnv('PGPASSWORD', 'elsewhere');
    const sent: string[] = [];
    const source = await serve((text) => {
      sent.push(text.toString());
      return message('R', int32(3));
    });
    for (const password of [undefined, new Secret('')]) {
      expect(await failing({ ...source, password })).toMatchObject({ code: 'NO_PASSWORD' });
    }
    expect(sent.join()).not.toContain('elsewhere');
  });

  test('has the message of the server on one line, in any language', async () => {
    const source = await serve(() => failure({ S: 'ВАЖНО', C: '28000', M: 'в pg_hba.conf\n\u001b[31mнет записи' }));
    expect(await failing(source)).toMatchObject({
      phase: 'startup',
      code: '28000',
      message: 'в pg_hba.conf нет записи',
    });
  });

  test('because the server closes it has a code of its own', async () => {
    const source = await serve((_text, socket) => {
      socket.destroy();
      return undefined;
    });
    expect(await failing(source)).toMatchObject({ phase: 'startup', code: 'ECONNRESET' });
  });
});

describe('a query', () => {
  const query = (reply: (socket: Socket) => Buffer | undefined) =>
    serve((text, socket) => (isStartup(text) ? hello : text[0] === 0x51 ? reply(socket) : undefined));
  const failed = async (source: PostgresqlEndpoint, limit = 1000): Promise<QueryError> => {
    const session = await connectPostgresql(source, options);
    const error = await session.query(anyMessage('SELECT 1'), limit).catch((reason: unknown) => reason);
    await session.end();
    if (error instanceof QueryError) return error;
    throw new Error('no QueryError', { cause: error });
  };

  test('without a response ends at its limit, and so does the session', async () => {
    expect(await failed(await query(() => undefined), 200)).toMatchObject({ code: 'ETIMEDOUT', lost: true });
  });

  test('during which the connection breaks fails, and the session is lost', async () => {
    const half = Buffer.from([0x54, 0, 0, 0, 50, 0, 1]);
    const source = await query((socket) => {
      socket.write(half, () => socket.destroy());
      return undefined;
    });
    expect(await failed(source)).toMatchObject({ code: 'ECONNRESET', lost: true });
  });

  test('refused by the server keeps the session, unless the server ended it', async () => {
    const refused = Buffer.concat([failure({ S: 'ERROR', V: 'ERROR', C: '42501', M: 'permission denied' }), ready]);
    expect(await failed(await query(() => refused))).toMatchObject({
      code: '42501',
      message: 'permission denied',
      lost: false,
    });
    const ended = failure({ S: 'ВАЖНО', V: 'FATAL', C: '57P01', M: 'terminating connection' });
    expect(await failed(await query(() => ended))).toMatchObject({ code: '57P01', lost: true });
  });

  test('after the server ended the session fails with its reason', async () => {
    let line: Socket | undefined;
    const source = await serve((text, socket) => {
      line = socket;
      return isStartup(text) ? hello : undefined;
    });
    const session = await connectPostgresql(source, options);
    line?.end(failure({ S: 'FATAL', C: '57P01', M: 'terminating connection due to administrator command' }));
    await new Promise((resolve) => setTimeout(resolve, 100));
    await expect(session.query(anyMessage('SELECT 1'))).rejects.toMatchObject({ code: '57P01', lost: true });
    await session.end();
  });

  test('with an invalid response loses the session and nothing else', async () => {
    for (const nonsense of [
      Buffer.alloc(32, 0xff),
      message('D', Buffer.from([0, 9])),
      message('T', Buffer.from([0, 9, 1])),
    ]) {
      expect(await failed(await query(() => nonsense), 500)).toMatchObject({ lost: true });
    }
  });

  test('the socket of a server that does not close is destroyed after a second', async () => {
    const source = await serve((text) => (isStartup(text) ? hello : undefined));
    const session = await connectPostgresql(source, options);
    const began = Date.now();
    await session.end();
    await session.end();
    expect(Date.now() - began).toBeLessThan(2500);
    await expect(session.query(anyMessage('SELECT 1'))).rejects.toMatchObject({ lost: true });
  });
});
