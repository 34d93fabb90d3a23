// `npm run bench:startup`: CPU time of whole commands, as a multiple of a bare `node -e 0` in the same run.
// `-- --rounds N` measures more or fewer rounds, `-- --program PATH` another program, such as dist-standalone/cloudctl.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { startSandbox } from '../scripts/sandbox.mjs';
import { bareNode, measureCpuTime } from './cpu-time.mjs';
import { bareEnvironment, bin, logIn, profileFolders, startTlsProxy } from './logged-in.mjs';
import { buildProgram, judge, readOptions } from './options.mjs';

const values = readOptions({ rounds: '20', program: undefined }, { rounds: '1' });
const rounds = Number(values.rounds);
const program = values.program === undefined ? [process.execPath, bin] : [resolve(values.program)];
const bounds = {
  '--version': 1.15,
  '--help': 1.25,
  'db preflight --help': 1.25,
  '--help, terminal': 2,
  'db preflight --help, terminal': 2,
  'auth token': 1.3,
  'auth token --profile X': 1.3,
  '--profile X auth token': 1.3,
  'auth token, keychain': 1.9,
  completion: 1.75,
  'completion of checks': 1.75,
  'config list': 1.75,
  'droplets list': 2.8,
  'droplets list, https': 4.3,
  'config list, no code cache': 2.2,
  'droplets list, no code cache': 3.8,
  'droplets list, https, no code cache': 5.3,
};

// The keychain is a real Secret Service of its own: everything runs once more inside a D-Bus session made for it.
if (process.env.CLOUDCTL_BENCH_HOME === undefined) {
  if (values.program === undefined) await buildProgram();
  const home = mkdtempSync(join(tmpdir(), 'cloudctl-bench-'));
  process.exitCode = inSession(home);
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
} else {
  await main(process.env.CLOUDCTL_BENCH_HOME);
}

function inSession(home) {
  mkdirSync(join(home, 'runtime'), { mode: 0o700 });
  const env = { ...bareEnvironment(home), CLOUDCTL_BENCH_HOME: home };
  const unlock = 'printf pw | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1; exec "$@"';
  const words = ['--', 'sh', '-c', unlock, 'sh', process.execPath, ...process.argv.slice(1)];
  return spawnSync('dbus-run-session', words, { env, stdio: ['ignore', 'inherit', 'inherit'] }).status ?? 1;
}

async function main(home) {
  const env = { ...bareEnvironment(home), DBUS_SESSION_BUS_ADDRESS: process.env.DBUS_SESSION_BUS_ADDRESS };
  const sandbox = await startSandbox({ ...env, ...profileFolders(home, 'sandbox') });
  const proxy = await startTlsProxy(home, sandbox.ready.base_url);
  try {
    await sandbox.approve(sandbox.ready.users[0].email);
    const file = await logIn(home, env, sandbox.ready, { name: 'file', store: 'file' });
    const keychain = await logIn(home, env, sandbox.ready, { name: 'keychain', store: 'keychain' });
    const trusting = { ...env, NODE_EXTRA_CA_CERTS: proxy.ca };
    const https = await logIn(home, trusting, sandbox.ready, { name: 'https', store: 'file', baseUrl: proxy.url });
    const run = (words, more = {}) => ({ words: [...program, ...words.split(' ')], env: file, ...more });
    report(
      await measureCpuTime(
        {
          '--version': run('--version'),
          '--help': run('--help'),
          'db preflight --help': run('db preflight --help'),
          '--help, terminal': run('--help', { terminal: true }),
          'db preflight --help, terminal': run('db preflight --help', { terminal: true }),
          'auth token': run('auth token'),
          'auth token --profile X': run('auth token --profile default'),
          '--profile X auth token': run('--profile default auth token'),
          'auth token, keychain': run('auth token', { env: keychain }),
          completion: run('__complete -- droplets list --format I'),
          'completion of checks': run('__complete -- db preflight --only wal'),
          'config list': run('config list'),
          'droplets list': run('droplets list'),
          'droplets list, https': run('droplets list', { env: https }),
          'config list, no code cache': run('config list', { env: withoutCache(file) }),
          'droplets list, no code cache': run('droplets list', { env: withoutCache(file) }),
          'droplets list, https, no code cache': run('droplets list', { env: withoutCache(https) }),
        },
        { rounds, env },
      ),
    );
  } finally {
    proxy.stop();
    await sandbox.stop();
  }
}

function withoutCache(env) {
  return { ...env, CLOUDCTL_CODE_CACHE: 'off' };
}

function report(measured) {
  console.log(
    `${values.program ?? 'bin/cloudctl.cjs'}, node ${process.versions.node}, CPU time, median of ${rounds}, as a multiple of \`${bareNode}\`\n`,
  );
  for (const [name, { ms, ratio }] of measured) {
    const bound = bounds[name];
    const verdict = bound === undefined ? '' : `<= ${bound.toFixed(2)}  ${judge(ratio <= bound)}`;
    console.log(`${name.padEnd(36)}${ms.toFixed(1).padStart(8)} ms  ${ratio.toFixed(2)}  ${verdict}`.trimEnd());
  }
}
