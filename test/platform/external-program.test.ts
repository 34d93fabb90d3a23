import { chmodSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { runPasswordCommand } from '../../src/db/inventory/run-password-command.ts';
import { systemBrowser } from '../../src/platform/browser.ts';
import { childEnvironment, runPrinting, runProgram } from '../../src/platform/external-program.ts';
import { startHelper } from '../../src/platform/keychain-helper.ts';
import { tryFlock } from '../../src/platform/locks.ts';
import { startPager } from '../../src/platform/pager.ts';
import { listLockKinds } from '../../src/sandbox/state/state-folder.ts';
import { makeFolders } from '../fixtures/folders.ts';

const node = (script: string, more: { readonly signal?: AbortSignal; readonly most?: number } = {}) =>
  runProgram(process.execPath, ['-e', script], {
    env: { ONLY: 'this' },
    signal: more.signal ?? new AbortController().signal,
    maxOutputBytes: more.most ?? 1000,
  });

test('a program tells what it wrote and how it ended, and sees no environment but its own', async () => {
  const script = `process.stdout.write(JSON.stringify(Object.keys(process.env))); console.error('é'); process.exitCode = 3`;
  const end = await node(script);
  expect({ ...end, stdout: JSON.parse(end.stdout) }).toMatchObject({ status: 3, stderr: 'é\n' });
  expect(JSON.parse(end.stdout)).toContain('ONLY');
  expect(JSON.parse(end.stdout)).not.toContain('PATH');
});

test('a program that is no longer wanted is gone when that is told, even one that does not listen', async () => {
  const stop = new AbortController();
  const script = `process.on('SIGTERM', () => {}); console.log(process.pid); setInterval(() => {}, 1000)`;
  const running = node(script, { signal: stop.signal });
  setTimeout(() => stop.abort(new Error('enough')), 500);
  await expect(running).rejects.toThrow('enough');
});

test('nothing is started for a signal that has come before', async () => {
  await expect(node('', { signal: AbortSignal.abort(new Error('too late')) })).rejects.toThrow('too late');
});

test('a program that writes without end is ended', async () => {
  await expect(node(`setInterval(() => console.log('x'.repeat(500)), 1)`)).rejects.toThrow(/\b1000 bytes\b/);
});

test('a program that is not there is told', async () => {
  const options = { env: {}, signal: new AbortController().signal, maxOutputBytes: 1 };
  await expect(runProgram('/no/such/program', [], options)).rejects.toThrow('ENOENT');
});

/** Each value has the word `canary`, which no child may receive. */
const secrets = {
  CLOUDCTL_ACCESS_TOKEN: 'canary-access',
  CLOUDCTL_CLIENT_SECRET: 'canary-client',
  CLOUDCTL_SANDBOX_ADMIN_TOKEN: 'canary-admin',
  CLOUDCTL_REHEARSE_INTO_PASSWORD: 'canary-into',
  CLOUDCTL_TARGET_PASSWORD: 'canary-target',
  CLOUDCTL_SOURCE: 'postgres://me:canary-source@host/db',
  CLOUDCTL_TARGET: 'postgres://me:canary-target@host/db',
  CLOUDCTL_CLUSTER_PG: 'postgres://me:canary-cluster@host/db',
  CLOUDCTL_LATER_SECRET: 'canary-of-a-later-version',
  cloudctl_client_secret: 'canary-lower-case',
  PGPASSWORD: 'canary-postgresql',
  REDISCLI_AUTH: 'canary-redis',
};
const proxies = {
  HTTPS_PROXY: 'http://me:canary-proxy@proxy.example:8080',
  http_proxy: 'us er:canary@p/a#s:s@proxy.example:3128',
  ALL_PROXY: 'socks5://me:canary@proxy.example',
};

function newFolder(): string {
  const folders = makeFolders();
  onTestFinished(() => folders.remove());
  return folders.work;
}

/** A program of this name, first in PATH, which writes its environment to a file, and its `PATH` and file. */
function spy(name: string, script = '') {
  const folder = newFolder();
  const path = join(folder, 'bin', name);
  const file = join(folder, 'env');
  mkdirSync(join(folder, 'bin'));
  writeFileSync(path, `#!/bin/sh\nenv >'${file}.new'; mv '${file}.new' '${file}'\n${script}`);
  chmodSync(path, 0o755);
  const env = { ...secrets, ...proxies, PATH: `${join(folder, 'bin')}:/usr/bin:/bin`, KEPT: 'yes' };
  const seen = async (): Promise<string> => {
    for (let tries = 0; tries < 100 && !existsSync(file); tries++) await sleep(20);
    return readFileSync(file, 'utf8');
  };
  return { path, env, seen };
}

const { signal } = new AbortController();
const url = 'http://127.0.0.1:1/x';

/** Every kind of child, with the environment that it printed. */
const children: Readonly<Record<string, () => Promise<string>>> = {
  BROWSER: async () => {
    const { path, env, seen } = spy('browser');
    await systemBrowser({ ...env, BROWSER: path }, 'linux').open(url);
    return seen();
  },
  'xdg-open': async () => {
    const { env, seen } = spy('xdg-open');
    await systemBrowser({ ...env, DISPLAY: ':0' }, 'linux').open(url);
    return seen();
  },
  'the package `open`': async () => {
    const { env, seen } = spy('x-www-browser');
    const runtime = { display: true, wsl: false };
    const tools = join(newFolder(), 'tools');
    mkdirSync(tools);
    for (const tool of ['env', 'mv', 'sed', 'grep', 'cut', 'head', 'tr', 'uname', 'which', 'basename', 'sh', 'cat']) {
      writeFileSync(join(tools, tool), `#!/bin/sh\nPATH=/usr/bin:/bin exec ${tool} "$@"\n`, { mode: 0o755 });
    }
    const PATH = `${env.PATH.split(':')[0]}:${tools}`;
    await systemBrowser({ ...env, PATH, DISPLAY: ':0' }, 'linux', { runtime }).open(url);
    return seen();
  },
  PAGER: async () => {
    const { path, env, seen } = spy('pager');
    await startPager(path, env).end();
    return seen();
  },
  'the keychain helper': async () => {
    const { path, env, seen } = spy('keychain');
    const helper = startHelper({ env, node: path, script: '/nothing' });
    await helper.end();
    return seen();
  },
  flock: async () => {
    const { env, seen } = spy('flock');
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
    tryFlock(openSync('/dev/null', 'r'));
    return seen();
  },
  'flock of the sandbox': async () => {
    const { env, seen } = spy('flock');
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
    listLockKinds().at(-1)?.tryLock(openSync('/dev/null', 'r'));
    return seen();
  },
  'an external program, as pg_dump': async () => {
    const { path, env, seen } = spy('program');
    await runProgram(path, [], { env, signal, maxOutputBytes: 10_000 });
    return seen();
  },
};

/** These get a secret from another server, for which they can need the user and the password of a proxy. */
const fetching: Readonly<Record<string, () => Promise<string>>> = {
  'a password command': async () => {
    const { path, env, seen } = spy('password', 'echo password');
    const source = { name: 'db1', host: 'h', port: 5432, dbname: 'd', username: 'u' };
    await runPasswordCommand([path], { source, env, signal });
    return seen();
  },
  'a token command': async () => {
    const { path, env, seen } = spy('token', 'echo token');
    await runPrinting([path], { env, signal, limit: 10_000, maxOutputBytes: 10_000 });
    return seen();
  },
};

describe.skipIf(process.platform === 'win32')('a child', () => {
  afterEach(() => void vi.unstubAllEnvs());

  test.each(Object.entries(children))('inherits no secret: %s', async (_name, run) => {
    expect(await run()).not.toContain('canary');
  });

  test.each(Object.entries(fetching))('inherits no secret but the proxy: %s', async (_name, run) => {
    const seen = await run();
    for (const secret of Object.values(secrets)) expect(seen).not.toContain(secret);
    expect(seen).toContain(`HTTPS_PROXY=${proxies.HTTPS_PROXY}`);
  });

  test('inherits everything else, with the proxies without credentials', async () => {
    const seen = await children.PAGER?.();
    expect(seen).toContain('KEPT=yes\n');
    expect(seen).toContain('HTTPS_PROXY=http://proxy.example:8080\n');
    expect(seen).toContain('http_proxy=proxy.example:3128\n');
    expect(seen).toContain('ALL_PROXY=socks5://proxy.example\n');
  });

  test('gets the password that it needs, and finds the files of this program', async () => {
    const env = { ...secrets, CLOUDCTL_STATE_DIR: '/state', CLOUDCTL_CONFIG_DIR: '/config', NO_PROXY: 'a.example' };
    expect(childEnvironment({ env, given: { PGPASSWORD: 'mine', CLOUDCTL_SOURCE_NAME: 'db1' } })).toEqual({
      CLOUDCTL_STATE_DIR: '/state',
      CLOUDCTL_CONFIG_DIR: '/config',
      NO_PROXY: 'a.example',
      PGPASSWORD: 'mine',
      CLOUDCTL_SOURCE_NAME: 'db1',
    });
  });
});
