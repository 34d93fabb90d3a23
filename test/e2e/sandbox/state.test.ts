import { appendFileSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { expectGolden } from '../../fixtures/golden.ts';
import { logIn as logInCommand } from '../../fixtures/login.ts';
import type { Ready } from '../../fixtures/sandbox.ts';
import { callWith, createSandboxMachine, logIn, openPairs, refresh, type Tokens } from './sandbox-machine.ts';

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
    const path = join(machine.state, 'journal.1');
    const bytes = readFileSync(path);
    appendFileSync(path, bytes.subarray(0, 40));
    const again = await machine.startSandbox();
    expect(await callWith(again.ready, tokens)).toBe(200);
    const [warning] = await again.running.waitFor('stderr', /^warning: .*40 bytes.*$/m, 5_000);
    expectGolden('sandbox', warning.replaceAll(machine.state, 'STATE'), 'torn');
    await again.kill();
    expect(readFileSync(path).equals(bytes)).toBe(true);

    const damaged = Buffer.from(readFileSync(path, 'latin1').replace('"record":1', '"record":7'), 'latin1');
    writeFileSync(path, damaged);
    const refused = await machine.run('sandbox', 'start', '--state', machine.state);
    expect([refused.code, refused.stdout]).toEqual([2, '']);
    expect(refused.stderr).toContain(`${path}, line 1:`);
    expectGolden('sandbox', refused.stderr.replaceAll(machine.state, 'STATE'), 'damaged');
    expect(readFileSync(path).equals(damaged)).toBe(true);
  });

  test('has its secrets in files of mode 0600 in a folder of mode 0700', async () => {
    const machine = createSandboxMachine();
    await machine.startSandbox();
    const modes = readdirSync(machine.state).map((name) => statSync(join(machine.state, name)).mode & 0o777);
    expect([statSync(machine.state).mode & 0o777, ...new Set(modes)]).toEqual([0o700, 0o600]);
  });
});
