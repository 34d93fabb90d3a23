// `npm run bench:shared-store`: what `auth token` costs with a session in PostgreSQL or Redis, as a multiple of the file store
// in the same run; and how long a machine alone has a new grant (W3 in docs/guides/fleet.md). `-- --rounds 20 --refreshes 200`
// measures more or fewer. The servers sync to the disk, as they do in operation.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build, buildForTests } from '../scripts/build.mjs';
import { startPostgres } from '../scripts/postgres.mjs';
import { root } from '../scripts/run-vitest.mjs';
import { startSandbox } from '../scripts/sandbox.mjs';
import { measureCpuTime, median } from './cpu-time.mjs';
import { bareEnvironment, bin, logIn, profileFolders } from './logged-in.mjs';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '20' }, refreshes: { type: 'string', default: '200' } },
});

await build();
await buildForTests();
const home = mkdtempSync(join(tmpdir(), 'cloudctl-bench-'));
mkdirSync(join(home, 'runtime'), { mode: 0o700 });
const env = bareEnvironment(home);
const sandbox = await startSandbox({ ...env, ...profileFolders(home, 'sandbox') });
const servers = [];
try {
  await sandbox.approve(sandbox.ready.users[0].email);
  const local = await logIn(home, env, sandbox.ready, { name: 'file', store: 'file' });
  const shared = {
    PostgreSQL: await joinShare('postgresql', await startPostgresql()),
    Redis: await joinShare('redis', await startRedis()),
  };
  await measureTokens(local, shared);
  for (const [name, machine] of Object.entries(shared)) await measureRefreshes(name, machine);
} finally {
  await sandbox.stop();
  for (const stop of servers) await stop();
  rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}

async function measureTokens(local, shared) {
  const run = (words, machine) => ({ words: [process.execPath, bin, ...words.split(' ')], env: machine });
  const cases = { 'auth token, file': run('auth token', local) };
  for (const [name, machine] of Object.entries(shared)) {
    cases[`auth token, ${name}`] = run('auth token', machine);
    cases[`auth token --cached, ${name}`] = run('auth token --cached', machine);
    cases[`droplets list, ${name}`] = run('droplets list', machine);
  }
  cases['droplets list, file'] = run('droplets list', local);
  const measured = await measureCpuTime(cases, { rounds: Number(values.rounds), env });
  console.log(
    `node ${process.versions.node}, median of ${values.rounds}, in parentheses as a multiple of the file store\n`,
  );
  for (const [name, { ms, wall }] of measured) {
    const base = measured.get(`${name.startsWith('droplets') ? 'droplets list' : 'auth token'}, file`);
    const cells = [
      `CPU ${ms.toFixed(0)} ms (${(ms / base.ms).toFixed(2)})`,
      `${wall.toFixed(0)} ms (${(wall / base.wall).toFixed(2)})`,
    ];
    console.log(`${name.padEnd(34)}${cells.map((cell) => cell.padEnd(22)).join('')}`.trimEnd());
  }
}

/** The program of the test build tells when the last byte was read, and when the store has acknowledged the record. */
async function measureRefreshes(name, machine) {
  const file = join(home, `commits-${name}`);
  for (let at = 0; at < Number(values.refreshes); at++)
    execFileSync(process.execPath, [join(root, 'dist-test', 'entry.cjs'), 'auth', 'refresh'], {
      env: { ...machine, CLOUDCTL_TEST_COMMITS: file },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  const lines = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  console.log(`\n${name}: ${lines.length} refreshes, until the store has acknowledged the record`);
  for (const [what, key] of [
    ['from the last byte', 'after_read_ms'],
    ['from write(2)', 'after_write_ms'],
  ]) {
    const times = lines.map((line) => line[key]).sort((one, other) => one - other);
    const nine = times[Math.floor(times.length * 0.9)];
    const cells = { shortest: times[0], median: median(times), '9 of 10 within': nine, longest: times.at(-1) };
    console.log(
      `  ${what}: ${Object.entries(cells)
        .map(([text, ms]) => `${text} ${ms.toFixed(1)} ms`)
        .join(', ')}`,
    );
  }
}

/** Creates the share as its owner, and logs in as a member. */
async function joinShare(name, { owner, member }) {
  const own = { ...env, CLOUDCTL_CREDENTIAL_STORE: 'shared', ...profileFolders(home, name) };
  execFileSync(process.execPath, [bin, 'auth', 'share', 'init'], {
    env: { ...own, CLOUDCTL_STORE_URL: owner },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return logIn(home, { ...own, CLOUDCTL_STORE_URL: await member() }, sandbox.ready, { name, store: 'shared' });
}

async function startPostgresql() {
  const server = await startPostgres({ settings: { fsync: 'on' } });
  servers.push(() => server.stop());
  const url = (user, password) => `postgres://${user}:${password}@127.0.0.1:${server.port}/postgres`;
  return {
    owner: url('postgres', server.password),
    member: async () => {
      await server.query("CREATE ROLE ci LOGIN PASSWORD 'ci' IN ROLE cloudctl_share_member");
      return url('ci', 'ci');
    },
  };
}

async function startRedis() {
  const port = await freePort();
  const words = ['--port', port, '--dir', home, '--save', '', '--appendonly', 'yes', '--loglevel', 'warning'];
  const child = spawn('redis-server', words.map(String), { stdio: 'ignore' });
  const ended = new Promise((resolve, reject) => child.once('exit', resolve).once('error', reject));
  servers.push(() => {
    child.kill();
    return ended;
  });
  const url = `redis://127.0.0.1:${port}/0`;
  return { owner: url, member: async () => url };
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
