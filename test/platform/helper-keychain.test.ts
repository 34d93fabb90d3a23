import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { helperKeychain } from '../../src/platform/helper-keychain.ts';
import type { KeychainOptions, ProcessEnvironment } from '../../src/platform/host.ts';
import { tryAcquire } from '../../src/platform/locks.ts';
import { canStartSecretService, type SecretService, startSecretService } from '../fixtures/secret-service.ts';
import { type Bundle, bundleProgram } from './bundle.ts';

/** Another for every test, so that none sees what one before it has left. */
let account = '';
let accounts = 0;
const patient = { timeoutMs: 3000 };
let script = '';
let bundle: Bundle;

beforeAll(async () => {
  bundle = await bundleProgram({ file: 'src/platform/keychain-child.ts' }, 'cjs');
  script = bundle.script;
});

afterAll(() => bundle.remove());

beforeEach(() => {
  accounts += 1;
  account = `default#k3yb0x${accounts}`;
});

const open = (env: ProcessEnvironment, options: KeychainOptions = patient) =>
  helperKeychain({ env, script }).open(options);

async function timed<T>(work: () => Promise<T>): Promise<readonly [T, number]> {
  const start = performance.now();
  return [await work(), performance.now() - start];
}

describe.skipIf(!canStartSecretService())('a running Secret Service', () => {
  let service: SecretService;
  beforeAll(async () => {
    service = await startSecretService();
  });
  afterAll(() => service.stop());

  it('tells an absent item from a found one, and one helper serves several operations', async () => {
    const session = open(service.env);
    expect(await session.read(account)).toEqual({ kind: 'absent' });
    expect(await session.write(account, 'first')).toEqual({ kind: 'done' });
    expect(await session.write(account, 'second ✓ "quoted"\nline')).toEqual({ kind: 'done' });
    expect(await session.read(account)).toEqual({ kind: 'found', value: 'second ✓ "quoted"\nline' });
    await session.close();
  });

  it('keeps what was written for another process and for a service that was restarted', async () => {
    const writer = open(service.env);
    await writer.write(account, 'kept');
    await writer.close();
    await service.restart();
    const reader = open(service.env);
    expect(await reader.read(account)).toEqual({ kind: 'found', value: 'kept' });
    await reader.close();
  });

  it('never reaches into the kernel keyring', async () => {
    const session = open({ ...service.env, DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nonexistent/bus' });
    expect(await session.write(account, 'x')).toMatchObject({ kind: 'unavailable', why: 'missing' });
    expect(await session.read(account)).toMatchObject({ kind: 'unavailable', why: 'missing' });
    await session.close();
  });

  it('removes an item, and one that is not there is removed as well', async () => {
    const session = open(service.env);
    await session.write(account, 'to go');
    expect(await session.remove(account)).toEqual({ kind: 'done' });
    expect(await session.read(account)).toEqual({ kind: 'absent' });
    expect(await session.remove(account)).toEqual({ kind: 'done' });
    await session.close();
  });

  it('a locked keychain is unavailable and never absent', async () => {
    const session = open(service.env);
    await session.write(account, 'behind a lock');
    await service.lock();
    expect(await session.read(account)).toMatchObject({ kind: 'unavailable', why: 'locked' });
    expect(await session.write(account, 'other')).toMatchObject({ kind: 'unavailable', why: 'locked' });
    expect(await session.remove(account)).toMatchObject({ kind: 'unavailable', why: 'locked' });
    await session.close();
    await service.restart();
    const later = open(service.env);
    expect(await later.read(account)).toEqual({ kind: 'found', value: 'behind a lock' });
    await later.close();
  });

  it('a hung service is given up at the limit, its helper is killed, and the wait is told once', async () => {
    let told = 0;
    const session = open(service.env, { timeoutMs: 1400, onWaiting: () => told++ });
    await session.write(account, 'there');
    service.pause();
    try {
      const [reply, ms] = await timed(() => session.read(account));
      expect(reply).toMatchObject({ kind: 'unavailable', why: 'hung' });
      expect(ms).toBeGreaterThan(1300);
      expect(ms).toBeLessThan(3000);
      expect(told).toBe(1);
      expect(await helpers(script)).toEqual([]);
    } finally {
      service.resume();
    }
    expect((await session.read(account)).kind).toBe('found');
    await session.close();
    expect(await helpers(script)).toEqual([]);
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    '%s to the whole process group does not end a write half-way',
    async (signal) => {
      const writer = await bundleProgram({ text: writing }, 'esm');
      service.pause();
      try {
        const child = spawn(process.execPath, [writer.script, script], {
          env: service.env,
          stdio: ['ignore', 'pipe', 'inherit'],
          detached: true,
        });
        await once(child.stdout, 'data');
        await sleep(200);
        // As a terminal does it at Ctrl-C, and the timeout program.
        process.kill(-Number(child.pid), signal);
        await sleep(100);
        service.resume();
        const [text] = await once(child.stdout, 'data');
        expect(JSON.parse(String(text))).toEqual({ kind: 'done' });
        await once(child, 'close');
      } finally {
        service.resume();
        writer.remove();
      }
    },
  );

  it('a service that ended is missing', async () => {
    await service.end();
    const session = open(service.env);
    const [reply, ms] = await timed(() => session.read(account));
    expect(reply).toMatchObject({ kind: 'unavailable', why: 'missing' });
    expect(ms).toBeLessThan(2500);
    await session.close();
    await service.restart();
  });
});

const writing = `
  import { helperKeychain } from './src/platform/helper-keychain.ts';
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});
  const session = helperKeychain({ env: process.env, script: process.argv[2] }).open({ timeoutMs: 3000 });
  console.log('writing');
  session.write('default#1nt3rrup', 'written').then(async (outcome) => {
    console.log(JSON.stringify(outcome));
    await session.close();
  });
`;

describe.skipIf(!canStartSecretService())('a Secret Service nobody has logged in to', () => {
  it('has nothing, and cannot keep anything', async () => {
    const service = await startSecretService({ unlocked: false });
    const session = open(service.env);
    expect(await session.read(account)).toEqual({ kind: 'absent' });
    expect(await session.write(account, 'x')).toMatchObject({ kind: 'unavailable', why: 'missing' });
    await session.close();
    await service.stop();
  });
});

describe('a helper that was given a lock', () => {
  it('holds it for as long as it lives, though the program has freed it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'cloudctl-helper-'));
    try {
      const [silent, path] = [join(folder, 'silent.cjs'), join(folder, 'lock')];
      const here = join(folder, 'here');
      const signs = `require('node:fs').writeFileSync(${JSON.stringify(here)}, ''); console.log('begun');`;
      writeFileSync(silent, `${signs} process.stdin.resume();`);
      const lock = tryAcquire(path);
      const helper = helperKeychain({ env: {}, script: silent }).open({
        timeoutMs: 5_000,
        lockDescriptor: lock?.descriptor,
      });
      const reading = helper.read(account);
      while (!existsSync(here)) await sleep(10);
      // As the death of this process would free it.
      lock?.release();
      expect(tryAcquire(path)).toBeUndefined();
      expect(await reading).toMatchObject({ why: 'hung' });
      const freed = tryAcquire(path);
      expect(freed).toBeDefined();
      freed?.release();
      await helper.close();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

it('a helper that starts slowly is not taken for a keychain that does not answer', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cloudctl-helper-'));
  try {
    const slow = join(folder, 'slow.cjs');
    const answer = `console.log('begun'); console.log('{"kind":"absent"}');`;
    writeFileSync(slow, `setTimeout(() => process.stdin.on('data', () => { ${answer} }), 700);`);
    const helper = helperKeychain({ env: {}, script: slow }).open({ timeoutMs: 300 });
    expect(await helper.read(account)).toEqual({ kind: 'absent' });
    await helper.close();
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it('a keychain is not given up sooner because this process hardly comes to run', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cloudctl-helper-'));
  let isBusy = true;
  const rest = (): void => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    if (isBusy) setTimeout(rest, 0);
  };
  try {
    const late = join(folder, 'late.cjs');
    const answer = `console.log('begun'); setTimeout(() => console.log('{"kind":"absent"}'), 600);`;
    writeFileSync(late, `process.stdin.on('data', () => { ${answer} });`);
    const helper = helperKeychain({ env: {}, script: late }).open({ timeoutMs: 300 });
    rest();
    expect(await helper.read(account)).toEqual({ kind: 'absent' });
    await helper.close();
  } finally {
    isBusy = false;
    rmSync(folder, { recursive: true });
  }
});

describe('without any keychain', () => {
  const bare = { PATH: process.env.PATH, HOME: '/nonexistent' };

  it.skipIf(process.platform !== 'linux')('no D-Bus at all is missing', async () => {
    const session = open(bare);
    expect(await session.read(account)).toMatchObject({ kind: 'unavailable', why: 'missing' });
    await session.close();
  });

  it('a helper that cannot start says so', async () => {
    const session = helperKeychain({ env: bare, script: `${script}.nowhere` }).open(patient);
    const reply = await session.read(account);
    expect(reply).toMatchObject({ kind: 'unavailable', why: 'failed' });
    expect(reply).toHaveProperty('reason', expect.stringContaining('Cannot find module'));
    await session.close();
    const nodeless = helperKeychain({ env: bare, script, node: '/nonexistent/node' }).open(patient);
    expect(await nodeless.read(account)).toMatchObject({ kind: 'unavailable', why: 'failed' });
    await nodeless.close();
  });

  it('a helper that never comes to ask the keychain is given up, and killed', async () => {
    const silent = scriptOf('setInterval(() => {}, 1000);');
    const session = helperKeychain({ env: bare, script: silent, starting: 300 }).open({ timeoutMs: 100 });
    const reason = 'the keychain helper did not start in time';
    expect(await session.read(account)).toEqual({ kind: 'unavailable', why: 'hung', reason });
    expect(await helpers(silent)).toEqual([]);
    await session.close();
  });

  it('a helper that was killed says by what', async () => {
    const killed = scriptOf("process.kill(process.pid, 'SIGKILL');");
    const session = helperKeychain({ env: bare, script: killed }).open(patient);
    const reply = await session.read(account);
    expect(reply).toMatchObject({ why: 'failed', reason: expect.stringContaining('SIGKILL') });
    await session.close();
  });

  it('nothing is started before the first operation', async () => {
    const session = open(bare);
    expect(await helpers(script)).toEqual([]);
    await session.close();
  });

  it('no secret is in the arguments of the helper', async () => {
    const session = open(bare);
    const writing = session.write(account, 'a-value-nobody-should-see');
    const { stdout } = await promisify(execFile)('ps', ['-eo', 'args']);
    expect(stdout).not.toContain('a-value-nobody-should-see');
    await writing;
    await session.close();
  });
});

/** A helper of the test's own. */
function scriptOf(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'helper-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'helper.cjs');
  writeFileSync(path, text);
  return path;
}

async function helpers(path: string): Promise<readonly string[]> {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'stat,args']);
  return stdout.split('\n').filter((line) => line.includes(path) && !line.trim().startsWith('Z'));
}
