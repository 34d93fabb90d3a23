import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  accessSync,
  chmodSync,
  chownSync,
  closeSync,
  constants,
  cpSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { freePort } from './free-port.mjs';
import { postgresBinaries } from './postgres-binaries.mjs';

/** A real server on a free port, with a folder of its own that is gone after stop(). postgres.d.mts says what it takes. */
export async function startPostgres(options = {}) {
  const { version = 18, password = randomBytes(12).toString('hex'), withoutZones = [] } = options;
  const binaries = postgresBinaries(version);
  if (binaries === undefined) throw new Error(`could not fetch PostgreSQL ${version} from the registry`);
  const folder = mkdtempSync(join(quickestFolder(), 'cloudctl-pg-'));
  const server = { folder, data: join(folder, 'data'), port: await freePort(), child: undefined };
  alive.add(server);
  try {
    give(folder, 0o700);
    server.native = withoutZones.length === 0 ? readable(binaries) : copyWithoutZones(binaries, folder, withoutZones);
    await initialize(server, { ...options, password });
    await start(server);
  } catch (error) {
    await stop(server);
    throw error;
  }
  return {
    host: '127.0.0.1',
    port: server.port,
    folder,
    data: server.data,
    password,
    pid: () => server.child.pid,
    query: (sql, database) => query(server, sql, database),
    read: (name) => readFileSync(join(server.data, name), 'utf8'),
    write: (name, text) => put(server, name, text),
    restart: async () => {
      await end(server, 'SIGINT');
      await start(server);
    },
    crash: () => end(server, 'SIGQUIT'),
    start: () => start(server),
    log: () => log(server),
    stop: () => stop(server),
  };
}

/** What this process has started: whatever way it ends, none of it goes on. */
const alive = new Set();
process.on('exit', () => {
  for (const { child, folder } of alive) {
    child?.kill('SIGQUIT');
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
});

/** A server writes 40 MB before its first connection, so its folder is in memory where there is enough. */
function quickestFolder() {
  const memory = '/dev/shm';
  try {
    const { bavail, bsize } = statfsSync(memory);
    accessSync(memory, constants.W_OK);
    return freemem() > enoughMemory && bavail * bsize > enoughMemory ? memory : tmpdir();
  } catch {
    return tmpdir();
  }
}

const enoughMemory = 4 * 2 ** 30;

async function initialize(server, { settings = {}, hba = openRules, password, files = {} }) {
  const secret = join(server.folder, 'password');
  writeFileSync(secret, password);
  give(secret, 0o600);
  const words = ['-D', server.data, '-U', 'postgres', `--pwfile=${secret}`, '-A', 'scram-sha-256', '-E', 'UTF8'];
  const child = run(server, 'initdb', [...words, '--locale=C', '--no-sync']);
  const [code] = await once(child, 'close', { signal: AbortSignal.timeout(60_000) });
  rmSync(secret);
  if (code !== 0) throw new Error(`initdb ended with ${code}: ${log(server)}`);
  for (const [name, text] of Object.entries(files)) put(server, name, text);
  put(server, 'pg_hba.conf', `${['local all all trust', ...hba].join('\n')}\n`);
  const all = { ...calm, ...settings, port: server.port, unix_socket_directories: server.folder };
  const lines = Object.entries(all).map(([name, value]) => `${name} = '${String(value).replaceAll("'", "''")}'\n`);
  // In the file and not on the command line, where ALTER SYSTEM could not change them.
  put(server, 'postgresql.conf', lines.join(''));
}

/** Everybody, from everywhere, with a password. */
const openRules = ['host all all 0.0.0.0/0 scram-sha-256', 'host all all ::/0 scram-sha-256'];

/** Quick to start and to stop, and nothing happens by itself. */
const calm = {
  listen_addresses: '127.0.0.1',
  fsync: 'off',
  autovacuum: 'off',
  shared_buffers: '16MB',
  log_line_prefix: '%p %d ',
};

async function start(server) {
  server.child = run(server, 'postgres', ['-D', server.data]);
  for (const limit = Date.now() + 20_000; ; ) {
    try {
      await query(server, 'SELECT 1');
      return;
    } catch (error) {
      const why = isAlive(server.child) ? 'did not start in time' : 'ended';
      if (why === 'ended' || Date.now() > limit) throw new Error(`postgres ${why}: ${log(server)}`, { cause: error });
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** As its superuser, through the socket, so that no host rule of a test stands in the way. Rows of the last statement. */
async function query(server, sql, database = 'postgres') {
  const client = new pg.Client({
    host: server.folder,
    port: server.port,
    user: 'postgres',
    database,
    // On a busy machine; a server that is down refuses at once.
    connectionTimeoutMillis: 20_000,
    query_timeout: 120_000,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const answer = await client.query(sql);
    return (Array.isArray(answer) ? answer.at(-1) : answer).rows;
  } finally {
    await client.end().catch(() => {});
  }
}

async function stop(server) {
  if (server.child !== undefined) await end(server, 'SIGQUIT');
  alive.delete(server);
  rmSync(server.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}

/** A server whose processes hear nothing ends its own after 5 s; one that does not hear either is killed. */
async function end({ child }, signal) {
  if (!isAlive(child)) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  const timer = setTimeout(() => child.kill('SIGKILL'), 15_000);
  await ended;
  clearTimeout(timer);
}

function isAlive(child) {
  return child.exitCode === null && child.signalCode === null;
}

/** postgres refuses root; where there is setpriv, what was started ends with whoever started it. */
function run({ native, folder }, program, words) {
  const file = join(native, 'bin', program);
  const before = hasSetpriv ? ['setpriv', '--pdeathsig=QUIT', ...(isRoot ? demotion : [])] : [];
  const output = openSync(join(folder, 'log'), 'a');
  const [first, ...rest] = [...before, file, ...words];
  const env = { PATH: process.env.PATH, HOME: folder, LC_ALL: 'C' };
  try {
    return spawn(first, rest, { cwd: folder, env, stdio: ['ignore', output, output] });
  } finally {
    closeSync(output);
  }
}

function log({ folder }) {
  return readFileSync(join(folder, 'log'), 'utf8');
}

function put({ data }, name, text) {
  const path = join(data, name);
  writeFileSync(path, text);
  give(path, 0o600);
}

const isRoot = process.getuid?.() === 0;
const nobody = 65534;
const demotion = [`--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups'];
const hasSetpriv = spawnSync('setpriv', ['--version'], { stdio: 'ignore' }).status === 0;

function give(path, mode) {
  chmodSync(path, mode);
  if (isRoot) chownSync(path, nobody, nobody);
}

/** A checkout inside a folder of root's own is closed to the user that postgres runs as: then it runs a copy. */
function readable(native) {
  if (!isRoot || isRunnable(native)) return native;
  const folder = copies.get(native) ?? mkdtempSync(join(tmpdir(), 'cloudctl-pg-'));
  if (copies.has(native)) return folder;
  copies.set(native, folder);
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  cpSync(native, folder, { recursive: true, verbatimSymlinks: true });
  give(folder, 0o755);
  return folder;
}

const copies = new Map();

/** A server looks for its time zones beside its program, so one without some of them has a program of its own. */
function copyWithoutZones(native, folder, names) {
  const copy = join(folder, 'native');
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  for (const name of names) rmSync(join(copy, 'share/postgresql/timezone', name), { recursive: true });
  give(copy, 0o755);
  return copy;
}

function isRunnable(native) {
  return spawnSync('setpriv', [...demotion, 'test', '-x', join(native, 'bin/postgres')]).status === 0;
}
