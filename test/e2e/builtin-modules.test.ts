import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServers } from '../../src/sandbox/sandbox.ts';
import { makeCertificates } from '../fixtures/certificates.ts';
import { bin, node, startProgram } from '../fixtures/cli.ts';
import { type Environment, makeFolders } from '../fixtures/folders.ts';
import { testHost } from '../fixtures/host.ts';
import { seedSession } from '../fixtures/session.ts';

/** Writes the public modules of Node that a program has loaded in addition to a bare start, and the packs of its bundle. */
const recorder = `const before = new Set(process.moduleLoadList);
process.on('exit', () => {
  const loaded = process.moduleLoadList.filter((name) => name.startsWith('NativeModule ') && !before.has(name));
  const names = loaded.map((name) => name.slice('NativeModule '.length)).filter((name) => !/^(internal\\/|_)/.test(name));
  require('node:fs').writeFileSync(process.env.BUILTINS, names.sort().join(' '));
  const files = Object.keys(require.cache).map((path) => require('node:path').basename(path));
  const packs = files.filter((name) => name.endsWith('.cjs') && !/^(recorder|cloudctl|entry|use)/.test(name));
  require('node:fs').writeFileSync(process.env.BUILTINS + '.files', packs.sort().join(' '));
});
`;

const folders = makeFolders();
const record = join(folders.work, 'builtins');
const script = join(folders.work, 'recorder.cjs');
const ca = join(folders.work, 'ca.pem');
const host = 'api.cloud.example';
const servers: Server[] = [];
let http = '';
let https = '';
let proxy = '';

const answer: RequestListener = (_, reply) => {
  reply.setHeader('content-type', 'application/json');
  reply.end(JSON.stringify({ droplets: [], meta: { total: 0 }, links: {} }));
};

beforeAll(async () => {
  writeFileSync(script, recorder);
  const { ca: authority, certificate, key } = makeCertificates(2, `DNS:localhost,DNS:${host}`);
  writeFileSync(ca, authority);
  const api = createServer(answer);
  const secure = createTlsServer({ key, cert: certificate }, answer);
  // The name in the request is not resolved: every tunnel leads to the server of this test.
  const tunnels = createServer().on('connect', (_, client) => {
    const upstream = connect(portOf(secure), '127.0.0.1', () => client.write('HTTP/1.1 200 OK\r\n\r\n'));
    upstream.on('error', () => client.destroy());
    client.on('error', () => upstream.destroy());
    upstream.pipe(client).pipe(upstream);
  });
  for (const server of [api, secure, tunnels]) {
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  }
  http = `http://127.0.0.1:${portOf(api)}`;
  https = `https://localhost:${portOf(secure)}`;
  proxy = `http://127.0.0.1:${portOf(tunnels)}`;
});
afterAll(() => {
  for (const server of servers) server.close();
  folders.remove();
});

function portOf(server: Server): number {
  const address: AddressInfo | string | null = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** The modules that a command loads, or a script that uses some of them. */
async function builtinsOf(words: readonly string[], env: Environment = {}, at = folders): Promise<string> {
  const running = startProgram(node, ['--require', script, ...words], {
    folders: at,
    env: { BUILTINS: record, ...env },
  });
  running.child.stdin?.end();
  const { code, stderr } = await running.ended;
  expect([code, stderr]).toEqual([0, '']);
  return readFileSync(record, 'utf8');
}

/** Those of the modules that are used, with what they load themselves in this version of Node. */
function builtinsOfUse(...uses: readonly string[]): Promise<string> {
  const file = join(folders.work, 'use.cjs');
  writeFileSync(
    file,
    uses.map((use) => (use === 'stdout' ? "process.stdout.write('');" : `require('${use}');`)).join('\n'),
  );
  return builtinsOf([file]);
}

test.each(['--version', '--help', 'db preflight --help', 'help options'])('%s loads none', async (line) => {
  expect(await builtinsOf([bin, ...line.split(' ')])).toBe('');
});

test.each(['auth token', 'auth token --profile default', '--profile default auth token'])(
  '%s loads none where the folders are named',
  async (line) => {
    const sandbox = await startServers();
    try {
      const machine = testHost();
      await seedSession(machine, sandbox);
      const loaded = await builtinsOf([bin, ...line.split(' ')], {}, machine.place);
      expect(['', await builtinsOfUse('os')]).toContain(loaded);
    } finally {
      await sandbox.close();
    }
  },
);

test('config list loads what prints', async () => {
  expect(await builtinsOf([bin, 'config', 'list'])).toBe(await builtinsOfUse('stdout'));
});

test.each(['droplets list --region f', 'db preflight --only wal', 'droplets create --siz'])(
  'completion of %s loads what prints, and no implementation',
  async (line) => {
    const words = [bin, '__complete', '--', ...line.split(' ')];
    const expected = await builtinsOfUse('stdout');
    expect(await builtinsOf(words)).toBe(expected);
    expect(readFileSync(`${record}.files`, 'utf8')).toBe('main.cjs token.cjs');
  },
);

test('config list with the code cache loads zlib for checksums in addition', async () => {
  const env = { CLOUDCTL_CODE_CACHE: 'on' };
  mkdirSync(folders.state, { recursive: true, mode: 0o700 });
  await builtinsOf([bin, 'config', 'list'], env);
  expect(await builtinsOf([bin, 'config', 'list'], env)).toBe(await builtinsOfUse('stdout', 'zlib', 'vm'));
});

test('a list over http loads no http, http2, assert, tls and crypto', async () => {
  const env = { CLOUDCTL_ACCESS_TOKEN: 'token', CLOUDCTL_BASE_URL: http };
  expect(await builtinsOf([bin, 'droplets', 'list', '-q'], env)).toBe(await builtinsOfUse('stdout', 'net', 'v8'));
});

test('a list over https loads tls and the name resolver in addition', async () => {
  const env = { CLOUDCTL_ACCESS_TOKEN: 'token', CLOUDCTL_BASE_URL: https, NODE_EXTRA_CA_CERTS: ca };
  expect(await builtinsOf([bin, 'droplets', 'list', '-q'], env)).toBe(
    await builtinsOfUse('stdout', 'tls', 'dns', 'v8'),
  );
});

test('a list through a proxy loads http for the tunnel in addition', async () => {
  const env = {
    CLOUDCTL_ACCESS_TOKEN: 'token',
    CLOUDCTL_BASE_URL: `https://${host}`,
    NODE_EXTRA_CA_CERTS: ca,
    HTTPS_PROXY: proxy,
  };
  expect(await builtinsOf([bin, 'droplets', 'list', '-q'], env)).toBe(
    await builtinsOfUse('stdout', 'tls', 'http', 'v8'),
  );
});
