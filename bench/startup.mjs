// `npm run bench:startup`: how long a command takes until it has ended, as a multiple of a bare `node -e 0` in the same run.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from '../scripts/build.mjs';
import { visit } from '../scripts/page-visitor.mjs';
import { root } from '../scripts/run-vitest.mjs';
import { startSandbox } from '../scripts/sandbox.mjs';

const rounds = 20;
const bin = join(root, 'bin/cloudctl.cjs');
const bounds = {
  '--version': 1.2,
  '--help': 1.8,
  'auth token, file store': 1.25,
  'auth token, keychain': 1.7,
  'droplets list': 6,
};

// The keychain is a real Secret Service of its own: everything runs once more inside a D-Bus session made for it.
if (process.env.CLOUDCTL_BENCH_HOME === undefined) {
  await build();
  const home = mkdtempSync(join(tmpdir(), 'cloudctl-bench-'));
  process.exitCode = inSession(home);
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
} else {
  await main(process.env.CLOUDCTL_BENCH_HOME);
}

function inSession(home) {
  mkdirSync(join(home, 'runtime'), { mode: 0o700 });
  const env = { ...bare(home), CLOUDCTL_BENCH_HOME: home };
  const unlock = 'printf pw | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1; exec "$@"';
  const words = ['--', 'sh', '-c', unlock, 'sh', process.execPath, process.argv[1]];
  return spawnSync('dbus-run-session', words, { env, stdio: ['ignore', 'inherit', 'inherit'] }).status ?? 1;
}

/** An environment in which nothing slows node down; NODE_EXTRA_CA_CERTS alone adds 35 ms to each start of node 20. */
function bare(home) {
  return {
    PATH: process.env.PATH,
    LANG: 'C.UTF-8',
    HOME: home,
    XDG_RUNTIME_DIR: join(home, 'runtime'),
    XDG_DATA_HOME: join(home, 'data'),
  };
}

async function main(home) {
  const env = { ...bare(home), DBUS_SESSION_BUS_ADDRESS: process.env.DBUS_SESSION_BUS_ADDRESS };
  const sandbox = await startSandbox({ ...env, ...folders(home, 'sandbox') });
  try {
    await sandbox.approve(sandbox.ready.users[0].email);
    const file = await login(home, env, sandbox.ready, 'file');
    const keychain = await login(home, env, sandbox.ready, 'keychain');
    report(
      measure({
        'node -e 0': [['-e', '0'], env],
        '--version': [[bin, '--version'], file],
        '--help': [[bin, '--help'], file],
        'auth token, file store': [[bin, 'auth', 'token'], file],
        'auth token, keychain': [[bin, 'auth', 'token'], keychain],
        'droplets list': [[bin, 'droplets', 'list'], file],
      }),
    );
  } finally {
    await sandbox.stop();
  }
}

function folders(home, name) {
  return { CLOUDCTL_CONFIG_DIR: join(home, name, 'config'), CLOUDCTL_STATE_DIR: join(home, name, 'state') };
}

/** Signs in into a store of the given kind; resolves with the environment that finds the record there. */
async function login(home, env, ready, store) {
  const own = { ...env, ...folders(home, store) };
  const settings = {
    auth_url: ready.auth_url,
    base_url: ready.base_url,
    client_id: ready.client_id,
    callback_urls: ready.callback_url,
    credential_store: store,
  };
  for (const [key, value] of Object.entries(settings)) {
    const { status, stderr } = spawnSync(process.execPath, [bin, 'config', 'set', key, value], { env: own });
    if (status !== 0) throw new Error(`config set ${key} ended with ${status}: ${stderr}`);
  }
  const child = spawn(process.execPath, [bin, 'auth', 'login', '--no-browser'], {
    env: { ...own, CLOUDCTL_CLIENT_SECRET: ready.client_secret },
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  let said = '';
  let visited;
  child.stderr.setEncoding('utf8').on('data', (text) => {
    said += text;
    const url = /^(http\S+)\n/m.exec(said)?.[1];
    // The sandbox approves by itself: going there is all that a browser has to do.
    if (url !== undefined) visited ??= visit(url, () => undefined);
  });
  const code = await ended;
  await visited;
  if (code !== 0) throw new Error(`auth login into the ${store} store ended with ${code}: ${said}`);
  return own;
}

/** Medians in milliseconds. The commands take turns, so a slow moment of the machine meets all of them alike. */
function measure(cases) {
  const times = new Map(Object.keys(cases).map((name) => [name, []]));
  for (let round = -2; round < rounds; round++) {
    for (const [name, [words, env]] of Object.entries(cases)) {
      const started = performance.now();
      const { status, stderr } = spawnSync(process.execPath, words, { env, stdio: ['ignore', 'pipe', 'pipe'] });
      const took = performance.now() - started;
      if (status !== 0) throw new Error(`${name} ended with ${status}: ${stderr}`);
      if (round >= 0) times.get(name).push(took);
    }
  }
  return new Map([...times].map(([name, all]) => [name, median(all)]));
}

function median(numbers) {
  const sorted = [...numbers].sort((one, other) => one - other);
  return (sorted[Math.floor((sorted.length - 1) / 2)] + sorted[Math.ceil((sorted.length - 1) / 2)]) / 2;
}

function report(medians) {
  const base = medians.get('node -e 0');
  console.log(`node ${process.versions.node}, median of ${rounds}\n`);
  for (const [name, ms] of medians) {
    const ratio = ms / base;
    const bound = bounds[name];
    const verdict = bound === undefined ? '' : `<= ${bound.toFixed(2)}  ${ratio <= bound ? 'ok' : 'MISSED'}`;
    console.log(`${name.padEnd(24)}${ms.toFixed(1).padStart(8)} ms  ${ratio.toFixed(2)}  ${verdict}`.trimEnd());
    if (bound !== undefined && ratio > bound) process.exitCode = 1;
  }
}
