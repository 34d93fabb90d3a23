import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { postgresBinaries } from './postgres-binaries.mjs';

/** The user `postgres` runs as when this process is root, whom it refuses. */
const nobody = 65534;

/** A real server on a free port of 127.0.0.1, with a folder of its own that is gone after stop(). postgres.d.mts describes it. */
export async function startPostgres(options = {}) {
  const binaries = postgresBinaries(options.version ?? 18);
  if (binaries === undefined) throw new Error(`PostgreSQL ${options.version} could not be had from the registry`);
  const folder = mkdtempSync(join(tmpdir(), 'cloudctl-pg-'));
  const server = { folder, data: join(folder, 'data'), port: await freePort(), child: undefined };
  alive.add(server);
  try {
    give(folder);
    server.native = readable(binaries, folder);
    await initialize(server, options);
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
    password: options.password ?? 'secret',
    pid: () => server.child.pid,
    query: (sql, database) => query(server, sql, database),
    write: (name, text) => put(server, name, text),
    read: (name) => readFileSync(join(server.data, name), 'utf8'),
    restart: async () => {
      await end(server, 'SIGINT');
      await start(server);
    },
    log: () => log(server),
    stop: () => stop(server),
  };
}

/** What this process started; whatever way it ends, nothing of it goes on. */
const alive = new Set();
process.on('exit', () => {
  for (const { child, folder } of alive) {
    if (child !== undefined && isAlive(child)) child.kill('SIGQUIT');
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
});

async function initialize(server, { settings = {}, hba, password = 'secret', files = {} }) {
  const secret = join(server.folder, 'password');
  writeFileSync(secret, password);
  give(secret);
  const words = ['-D', server.data, '-U', 'postgres', `--pwfile=${secret}`, '-A', 'scram-sha-256', '-E', 'UTF8'];
  const child = run(server, 'initdb', [...words, '--locale=C', '--no-sync']);
  const output = gather(child);
  const [code] = await once(child, 'close', { signal: AbortSignal.timeout(60_000) });
  rmSync(secret);
  if (code !== 0) throw new Error(`initdb ended with ${code}: ${output()}`);
  for (const [name, text] of Object.entries(files)) put(server, name, text);
  put(server, 'pg_hba.conf', ['local all all trust', ...(hba ?? openRules), ''].join('\n'));
  const lines = Object.entries({ ...calm, ...settings, port: server.port, unix_socket_directories: server.folder });
  const text = lines.map(([name, value]) => `${name} = '${String(value).replaceAll("'", "''")}'\n`).join('');
  // Not as words of the command line, which ALTER SYSTEM could not change.
  put(server, 'postgresql.conf', text);
}

/** Everybody with a password, from everywhere, in any way. */
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
  const output = gather(server.child);
  server.output = (server.output ?? '') + '';
  server.tail = output;
  for (const limit = Date.now() + 20_000; ; ) {
    if (!isAlive(server.child)) throw new Error(`postgres ended: ${log(server)}`);
    try {
      await query(server, 'SELECT 1');
      return;
    } catch (error) {
      if (Date.now() > limit) throw new Error(`postgres did not start: ${log(server)}`, { cause: error });
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
