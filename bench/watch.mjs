// `npm run bench:watch`: how long `db watch` takes to name a target that fails and one that is gone, at the usual pace: the
// target tries again every five seconds, the watch looks every two. Both must be named within 75 s.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { startPostgres } from '../scripts/postgres.mjs';

const bin = fileURLToPath(new URL('../bin/cloudctl.cjs', import.meta.url));
const settings = { wal_level: 'logical', max_replication_slots: 20, max_wal_senders: 20 };
const limit = 75;

let slowest = 0;
for (const version of [14, 17]) {
  const [source, target] = await Promise.all([
    startPostgres({ version, settings }),
    startPostgres({ version, settings }),
  ]);
  try {
    for (const server of [source, target]) await server.query('CREATE TABLE t (id int PRIMARY KEY)');
    await source.query('CREATE PUBLICATION p FOR ALL TABLES');
    await source.query("SELECT pg_create_logical_replication_slot('s', 'pgoutput')");
    await target.query(
      `CREATE SUBSCRIPTION x CONNECTION 'host=127.0.0.1 port=${source.port} user=postgres password=${source.password} dbname=postgres' PUBLICATION p WITH (create_slot = false, slot_name = 's')`,
    );
    const watched = watch(source);
    await watched.until((look) => look.phase === 'streaming');
    await target.query('INSERT INTO t VALUES (1)');
    await source.query('INSERT INTO t VALUES (1)');
    tell(version, 'a conflict', await watched.until(broken('apply-failing')));
    await target.stop();
    tell(version, 'a stopped target', await watched.until(broken('target-disconnected')));
    watched.end();
  } finally {
    await Promise.all([source.stop(), target.stop()]);
  }
}
process.exitCode = slowest > limit ? 1 : 0;

function broken(rule) {
  return (look) => look.violations.some((one) => one.rule === rule);
}

function tell(version, what, seconds) {
  slowest = Math.max(slowest, seconds);
  console.log(`PostgreSQL ${version}: ${what} was named after ${seconds.toFixed(0)} s (${limit} s allowed)`);
}

function watch(source) {
  const folder = mkdtempSync(join(tmpdir(), 'cloudctl-bench-'));
  const words = ['db', 'watch', '--source', `postgres://postgres@127.0.0.1:${source.port}/postgres`, '--disable-ssl'];
  const child = spawn(process.execPath, [bin, ...words, '-o', 'ndjson'], {
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      PGPASSWORD: source.password,
      CLOUDCTL_STATE_DIR: folder,
      CLOUDCTL_CONFIG_DIR: folder,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    /** Seconds until a look is so. */
    async until(test) {
      const began = performance.now();
      for (;;) {
        const { value, done } = await lines.next();
        if (done) throw new Error('the watch ended');
        const seconds = (performance.now() - began) / 1000;
        if (test(JSON.parse(value))) return seconds;
        if (seconds > 2 * limit) throw new Error(`nothing was named in ${seconds.toFixed(0)} s: ${value}`);
      }
    },
    end() {
      child.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
