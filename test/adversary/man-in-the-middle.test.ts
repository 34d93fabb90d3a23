import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { createSecureContext, TLSSocket, connect as tlsConnect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Certificates, makeCertificates } from '../fixtures/certificates.ts';
import { run } from '../fixtures/cli.ts';
import { type Folders, makeFolders } from '../fixtures/folders.ts';
import { type Postgres, startPostgres, ready as wanted } from '../fixtures/postgres.ts';
import { authentication, type FakeBehaviour, key, parameter, ready, startFakePostgres } from './fake-postgres.ts';

/** Somebody on the network answers instead of the server, and wants the password of the DBA. */
const password = 'S3cret-of-the-DBA';
/** A server on the loopback interface is trusted, so the attacker has an address of the network. */
const host = Object.values(networkInterfaces())
  .flat()
  .find((one) => one !== undefined && !one.internal && one.family === 'IPv4')?.address;

let folders: Folders;
let certificates: Certificates;
let real: Postgres;

beforeAll(async () => {
  folders = makeFolders();
  certificates = makeCertificates();
  real = await startPostgres({ version: 18, tls: true, password, settings: wanted, direct: true });
});

afterAll(async () => {
  await real?.stop();
  folders?.remove();
});

const loggedIn = Buffer.concat([authentication(0), parameter('server_version', '17.0'), key(), ready()]);
const asks = (name: string, request: Buffer): FakeBehaviour => ({
  name,
  login: (socket) => {
    socket.write(request);
    socket.on('data', () => socket.write(loggedIn));
  },
});
const clear = asks('clear text', authentication(3));
const md5 = asks('MD5', authentication(5, Buffer.from('salt')));

const cluster = '3b643ad7-65aa-4066-b45b-1c64b6db600a';
const commands: Readonly<Record<string, readonly string[]>> = {
  preflight: ['preflight', '--deadline', '5s', '--allow-private'],
  watch: ['watch'],
  sequences: ['sequences'],
  rehearse: ['rehearse', '--yes', '--deadline', '5s'],
  migrate: ['migrate', cluster, '--yes', '--deadline', '5s'],
};

async function steal(behaviour: FakeBehaviour, name: string, tls: boolean, ...more: readonly string[]) {
  const fake = await startFakePostgres(behaviour, { host: host ?? '', ...(tls ? { certificates } : {}) });
  try {
    const source = ['--source', `postgres://postgres@${host}:${fake.port}/shop`, ...(tls ? [] : ['--disable-ssl'])];
    const into = name === 'rehearse' ? ['--into', real.url()] : [];
    const ran = await run(['db', ...(commands[name] ?? []), ...source, ...into, ...more], {
      folders,
      limit: 60_000,
      env: {
        PGPASSWORD: password,
        CLOUDCTL_REHEARSE_INTO_PASSWORD: real.password,
        CLOUDCTL_ACCESS_TOKEN: 'a-token',
        CLOUDCTL_BASE_URL: 'http://127.0.0.1:65000',
      },
    });
    return { ran, received: fake.received().toString('latin1') };
  } finally {
    await fake.stop();
  }
}

describe.concurrent('an impostor', () => {
  for (const name of Object.keys(commands)) {
    for (const tls of [true, false]) {
      // A target takes one rehearsal at a time.
      const add = name === 'rehearse' ? test.sequential : test;
      add(`who asks for the password in clear text gets none: db ${name}, ${tls ? 'TLS' : 'plain'}`, async () => {
        const { ran, received } = await steal(clear, name, tls);
        expect(received).not.toContain(password);
        expect(ran.code, ran.stderr).toBe(3);
      });
    }
  }

  test('gets it when that is allowed', async () => {
    const { received } = await steal(clear, 'preflight', true, '--allow-cleartext-password');
    expect(received).toContain(password);
  });

  test('who asks for an MD5 hash gets nothing else', async () => {
    const { received } = await steal(md5, 'preflight', true);
    expect(received).toMatch(/md5[0-9a-f]{32}/);
    expect(received).not.toContain(password);
  });

  test('on the way to the target of a rehearsal gets no password either', async () => {
    const fake = await startFakePostgres(clear, { certificates, host: host ?? '' });
    try {
      const into = ['--into', `postgres://postgres@${host}:${fake.port}/postgres`];
      const source = ['--source', real.url(), '--ca-file', real.ca?.file ?? ''];
      await run(['db', 'rehearse', '--yes', '--deadline', '5s', ...source, ...into], {
        folders,
        limit: 60_000,
        env: { PGPASSWORD: password, CLOUDCTL_REHEARSE_INTO_PASSWORD: password },
      });
      expect(fake.received().toString('latin1')).not.toContain(password);
    } finally {
      await fake.stop();
    }
  });

  test('with another certificate gets no message after the handshake', async () => {
    const ca = join(folders.work, 'ca.pem');
    writeFileSync(ca, makeCertificates().ca);
    const { ran, received } = await steal(clear, 'preflight', true, '--ca-file', ca);
    expect(received).toBe('');
    expect(ran.code).toBe(3);
  });
});

describe.concurrent('a man in the middle who relays the login to the real server', () => {
  for (const strips of [false, true]) {
    test(`gets no session: ${strips ? 'he hides channel binding' : 'channel binding is offered'}`, async () => {
      const relay = await startRelay(strips);
      try {
        const ran = await run(['db', 'sequences', '--source', `postgres://postgres@${host}:${relay.port}/postgres`], {
          folders,
          limit: 60_000,
          env: { PGPASSWORD: password },
        });
        expect(ran.code).toBe(3);
        expect(relay.sawSession()).toBe(false);
        expect(relay.sawStartup()).toBe(true);
      } finally {
        relay.stop();
      }
    });
  }
});

/** TLS with a certificate of his own on one side, TLS with the real server on the other; everything is relayed. */
async function startRelay(strips: boolean) {
  const sockets = new Set<Socket>();
  let session = false;
  let startup = false;
  const server = createServer((raw) => {
    sockets.add(raw);
    raw.on('error', () => {});
    void relayOf(raw).catch(() => raw.destroy());
  });
  async function relayOf(raw: Socket): Promise<void> {
    const [request] = (await once(raw, 'data')) as [Buffer];
    const upstream = connect(real.port, '127.0.0.1');
    sockets.add(upstream);
    upstream.on('error', () => raw.destroy());
    upstream.write(request);
    await once(upstream, 'data');
    raw.write('S');
    const { certificate: cert, key: privateKey } = certificates;
    const client = new TLSSocket(raw, {
      isServer: true,
      secureContext: createSecureContext({ cert, key: privateKey }),
    });
    const behind = tlsConnect({ socket: upstream, rejectUnauthorized: false });
    for (const one of [client, behind]) one.on('error', () => raw.destroy());
    client.on('data', (chunk: Buffer) => {
      startup = true;
      behind.write(chunk);
    });
    behind.on('data', (chunk: Buffer) => {
      const text = chunk.toString('latin1');
      if (/Z\0\0\0\x05[ITE]$/.test(text)) session = true;
      if (!strips || !text.includes('SCRAM-SHA-256-PLUS')) client.write(chunk);
      else client.write(authentication(10, 'SCRAM-SHA-256\0\0'));
    });
  }
  server.listen(0, host);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    port: address.port,
    sawSession: () => session,
    sawStartup: () => startup,
    stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
