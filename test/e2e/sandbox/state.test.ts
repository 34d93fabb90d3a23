import { spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { expectGolden } from '../../fixtures/golden.ts';
import { logIn as logInCommand } from '../../fixtures/login.ts';
import { lacks } from '../../fixtures/needs.ts';
import type { Ready } from '../../fixtures/sandbox.ts';
import {
  callWith,
  createDroplet,
  createSandboxMachine,
  dropletNames,
  logIn,
  openPairs,
  refresh,
  type Tokens,
} from './sandbox-machine.ts';

const APPROVE = ['--consent', 'approve maya@example.com'];

/** A client that refreshes continuously and keeps every token pair it received. */
interface RefreshingClient {
  readonly answered: Tokens[];
  isWaiting: boolean;
}

async function refreshContinuously(ready: Ready, client: RefreshingClient): Promise<void> {
  for (;;) {
    const current = client.answered.at(-1);
    if (current === undefined) return;
    client.isWaiting = true;
    const answer = await refresh(ready, current).catch(() => undefined);
    if (answer === undefined) return;
    expect(answer.status).toBe(200);
    client.answered.push(answer.body);
    client.isWaiting = false;
  }
}

/** Pairs before the last one must be invalid; of the last pair and a possible successor exactly one must be valid. */
async function expectOneValidPair(
  ready: Ready,
  { answered, isWaiting }: RefreshingClient,
): Promise<Tokens | undefined> {
  const current = answered.at(-1);
  if (current === undefined) throw new Error('nothing was answered');
  for (const old of answered.slice(-4, -1)) {
    expect(await callWith(ready, old)).toBe(404);
    expect((await refresh(ready, old)).body.error).toBe('invalid_grant');
  }
  const status = await callWith(ready, current);
  const again = await refresh(ready, current);
  if (!isWaiting) expect(status).toBe(200);
  expect([status, again.status]).toEqual(status === 200 ? [200, 200] : [404, 400]);
  return again.status === 200 ? again.body : undefined;
}

describe('a sandbox with --state that is killed', () => {
  test('keeps every answered refresh when it is killed under load', { timeout: 110_000 }, async () => {
    const machine = createSandboxMachine();
    let started = await machine.startSandbox(APPROVE);
    const first = started.ready;
    let grants = await Promise.all(Array.from({ length: 6 }, () => logIn(first)));
    let [waiting, refreshed, orphans] = [0, 0, 0];
    for (let round = 0; round < 5; round += 1) {
      const clients = grants.map((grant): RefreshingClient => ({ answered: [grant], isWaiting: false }));
      const runs = clients.map((client) => refreshContinuously(first, client));
      await sleep(40 + Math.random() * 160);
      await started.kill();
      await Promise.all(runs);
      started = await machine.startSandbox(APPROVE);
      expect(started.ready).toEqual(first);
      expect(await openPairs(first)).toBe(clients.length + orphans);
      waiting += clients.filter(({ isWaiting }) => isWaiting).length;
      refreshed += clients.reduce((sum, { answered }) => sum + answered.length - 1, 0);
      const living = await Promise.all(clients.map((client) => expectOneValidPair(first, client)));
      // What was committed and never answered lives on without an owner.
      orphans += living.filter((tokens) => tokens === undefined).length;
      grants = await Promise.all(living.map(async (tokens) => tokens ?? logIn(first)));
    }
    expect(waiting).toBeGreaterThan(0);
    expect(refreshed).toBeGreaterThan(20);
  });

  test('keeps every droplet that it answered, each once', { timeout: 110_000 }, async () => {
    const machine = createSandboxMachine();
    let started = await machine.startSandbox(APPROVE);
    const { ready } = started;
    const tokens = await logIn(ready, 'read write');
    const answered: string[] = [];
    const unanswered = new Set<string>();
    let count = 0;
    for (let round = 0; round < 10; round += 1) {
      const client = async () => {
        for (;;) {
          const name = `round-${round}-${count++}`;
          const status = await createDroplet(ready, tokens, name).catch(() => undefined);
          if (status === undefined) return unanswered.add(name);
          expect(status).toBe(202);
          answered.push(name);
        }
      };
      const clients = Promise.all(Array.from({ length: 8 }, client));
      await vi.waitFor(() => expect(answered.length).toBeGreaterThan(6 * round + 5), { timeout: 10_000 });
      await sleep(Math.random() * 200);
      await started.kill();
      await clients;
      started = await machine.startSandbox(APPROVE);
      const names = await dropletNames(ready, tokens);
      expect(new Set(names).size).toBe(names.length);
      expect(answered.filter((name) => !names.includes(name))).toEqual([]);
      const others = names.filter((name) => name.startsWith('round-') && !answered.includes(name));
      expect(others.filter((name) => !unanswered.has(name))).toEqual([]);
    }
    expect(unanswered.size).toBe(80);
  });

  test('keeps the profile and the session of its users', async () => {
    const machine = createSandboxMachine();
    let started = await machine.startSandbox(APPROVE);
    const login = await logInCommand({ folders: machine.folders }, ['--profile', 'sandbox']);
    expect(login.code).toBe(0);
    for (const word of ['list', 'refresh']) {
      await started.kill();
      started = await machine.startSandbox();
      const words = word === 'list' ? ['actions', 'list'] : ['auth', 'refresh'];
      const ran = await machine.run('--profile', 'sandbox', ...words);
      expect([ran.code, ran.stderr.includes('error')]).toEqual([0, false]);
    }
    await started.kill();
    started = await machine.startSandbox();
    expect((await machine.run('--profile', 'sandbox', 'actions', 'list')).code).toBe(0);
    started.running.kill('SIGTERM');
    expect((await started.running.ended).code).toBe(0);
    started = await machine.startSandbox();
    expect((await machine.run('--profile', 'sandbox', 'actions', 'list')).code).toBe(0);
  });

  test('excludes a second sandbox from its folder until it ends', async () => {
    const machine = createSandboxMachine();
    const started = await machine.startSandbox();
    const second = await machine.run('sandbox', 'start', '--state', machine.state, '--port', '0', '--api-port', '0');
    expect([second.code, second.stdout]).toEqual([1, '']);
    expectGolden('sandbox', second.stderr.replaceAll(machine.state, 'STATE'));
    await started.kill();
    expect((await machine.startSandbox()).ready).toEqual(started.ready);
  });

  test('starts with a warning after a torn write, and reports other damage with path and line', async () => {
    const machine = createSandboxMachine();
    const started = await machine.startSandbox(APPROVE);
    const tokens = await logIn(started.ready);
    await started.kill();
    const path = join(machine.state, 'journal');
    appendFileSync(path, readFileSync(path).subarray(0, 40));
    const again = await machine.startSandbox();
    expect(await callWith(again.ready, tokens)).toBe(200);
    const [warning] = await again.running.waitFor('stderr', /^warning: .*40 bytes.*$/m, 5_000);
    expectGolden('sandbox', warning.replaceAll(machine.state, 'STATE'), 'torn');
    await again.kill();

    const damaged = readFileSync(path, 'utf8').replace('"put":', '"put"');
    writeFileSync(path, damaged);
    const refused = await machine.run('sandbox', 'start', '--state', machine.state);
    expect([refused.code, refused.stdout]).toEqual([2, '']);
    expect(refused.stderr).toContain(`${path}, line 2:`);
    expectGolden('sandbox', refused.stderr.replaceAll(machine.state, 'STATE'), 'damaged');
    expect(readFileSync(path, 'utf8')).toBe(damaged);
  });

  test.skipIf(lacks('strace'))('answers 500 and ends when a sync of the disk fails', async () => {
    const machine = createSandboxMachine();
    const first = await machine.startSandbox(APPROVE);
    const tokens = await logIn(first.ready, 'read write');
    await first.kill();
    const inject = ['strace', '-f', '-qq', '-o', '/dev/null', '-e', 'trace=fdatasync'];
    // Calls through io_uring are not system calls of their own. strace counts the calls of each thread, so there is one: its
    // first call is for the option --consent.
    const env = { UV_USE_IO_URING: '0', UV_THREADPOOL_SIZE: '1' };
    const under = [...inject, '-e', 'inject=fdatasync:error=EIO:when=3+'];
    const failing = await machine.startSandbox(APPROVE, { under, env });
    const statuses = [];
    for (const name of ['one', 'two', 'three'])
      statuses.push(await createDroplet(first.ready, tokens, name).catch(() => 'closed'));
    expect(statuses.slice(0, 2)).toEqual([202, 500]);
    expect(['closed', 500]).toContain(statuses[2]);
    expect(await failing.running.ended).toMatchObject({ code: 7, stderr: expect.stringContaining('EIO') });
    await machine.startSandbox(APPROVE);
    expect(await dropletNames(first.ready, tokens)).toEqual(expect.arrayContaining(['one']));
  });

  test.skipIf(!canMount())('answers 500 and ends when the disk is full, and keeps what it answered', async () => {
    const machine = createSandboxMachine();
    const first = await machine.startSandbox(APPROVE);
    const tokens = await logIn(first.ready, 'read write');
    await first.kill();
    // In a mount namespace of its own: the full disk is gone with the program, and its content is copied back before.
    const script = `
      state=$1; shift
      mkdir "$state.disk" && mount -t tmpfs -o size=64k,mode=700 small "$state.disk" || exit 9
      cp -a "$state/." "$state.disk" && mount --bind "$state.disk" "$state" || exit 9
      "$@"; code=$?
      cp -a "$state" "$state.copy"; exit $code`;
    const failing = await machine.startSandbox(APPROVE, {
      under: ['unshare', '-rm', 'sh', '-c', script, 'sh', machine.state],
    });
    const answered: string[] = [];
    for (let at = 0; at < 500; at += 1) {
      const status = await createDroplet(first.ready, tokens, `full-${at}`);
      if (status !== 202) {
        expect(status).toBe(500);
        break;
      }
      answered.push(`full-${at}`);
    }
    expect([answered.length > 10, answered.length < 500]).toEqual([true, true]);
    expect(await failing.running.ended).toMatchObject({ code: 7, stderr: expect.stringContaining('ENOSPC') });
    rmSync(machine.state, { recursive: true });
    cpSync(`${machine.state}.copy`, machine.state, { recursive: true });
    await machine.startSandbox(APPROVE);
    expect(await dropletNames(first.ready, tokens)).toEqual(expect.arrayContaining(answered));
  });

  test('has its secrets in files of mode 0600 in a folder of mode 0700', async () => {
    const machine = createSandboxMachine();
    await machine.startSandbox();
    const modes = readdirSync(machine.state).map((name) => statSync(join(machine.state, name)).mode & 0o777);
    expect([statSync(machine.state).mode & 0o777, ...new Set(modes)]).toEqual([0o700, 0o600]);
  });
});

function canMount(): boolean {
  return spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'tmpfs', tmpdir()]).status === 0;
}
