import { appendFileSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { logIn as logInCommand } from '../../fixtures/login.ts';
import type { Ready } from '../../fixtures/sandbox.ts';
import { callWith, createSandboxMachine, logIn, refresh, type Tokens } from './sandbox-machine.ts';

const APPROVE = ['--consent', 'approve maya@example.com'];

/** Somebody who refreshes as fast as answers come, and remembers every pair that was answered. */
interface Walker {
  readonly answered: Tokens[];
  isWaiting: boolean;
}

async function walk(ready: Ready, walker: Walker): Promise<void> {
  for (;;) {
    const current = walker.answered.at(-1);
    if (current === undefined) return;
    walker.isWaiting = true;
    const answer = await refresh(ready, current).catch(() => undefined);
    if (answer === undefined) return;
    expect(answer.status).toBe(200);
    walker.answered.push(answer.body);
    walker.isWaiting = false;
  }
}

/** What was answered before the last is dead; of the last and what may have come of it exactly one lives. */
async function expectTruth(ready: Ready, { answered, isWaiting }: Walker): Promise<Tokens | undefined> {
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

/** Pairs that nothing has ended; the sandbox tells. */
async function openPairs({ admin_url: url, admin_token: token }: Ready): Promise<number> {
  const answer = await fetch(`${url}/_sandbox/snapshot`, { headers: { 'x-admin-token': token } });
  const { world } = JSON.parse(await answer.text());
  return world.pairs.filter((pair: { end?: string }) => pair.end === undefined).length;
}

describe('a sandbox with --state that is killed', () => {
  test('in the middle of a storm of refreshes forgets none that was answered', { timeout: 110_000 }, async () => {
    const ground = createSandboxMachine();
    let begun = await ground.startSandbox(APPROVE);
    const first = begun.ready;
    let grants = await Promise.all(Array.from({ length: 6 }, () => logIn(first)));
    let [waiting, refreshed, orphans] = [0, 0, 0];
    for (let round = 0; round < 5; round += 1) {
      const walkers = grants.map((grant): Walker => ({ answered: [grant], isWaiting: false }));
      const walks = walkers.map((walker) => walk(first, walker));
      await sleep(40 + Math.random() * 160);
      await begun.kill();
      await Promise.all(walks);
      begun = await ground.startSandbox(APPROVE);
      expect(begun.ready).toEqual(first);
      expect(await openPairs(first)).toBe(walkers.length + orphans);
      waiting += walkers.filter(({ isWaiting }) => isWaiting).length;
      refreshed += walkers.reduce((sum, { answered }) => sum + answered.length - 1, 0);
      const living = await Promise.all(walkers.map((walker) => expectTruth(first, walker)));
      // What was committed and never answered lives on without an owner.
      orphans += living.filter((tokens) => tokens === undefined).length;
      grants = await Promise.all(living.map(async (tokens) => tokens ?? logIn(first)));
    }
    expect(waiting).toBeGreaterThan(0);
    expect(refreshed).toBeGreaterThan(20);
  });

  test('leaves profile and session of a person as they were', async () => {
    const ground = createSandboxMachine();
    let begun = await ground.startSandbox(APPROVE);
    const login = await logInCommand({ folders: ground.folders }, ['--profile', 'sandbox']);
    expect(login.code).toBe(0);
    for (const word of ['list', 'refresh']) {
      await begun.kill();
      begun = await ground.startSandbox();
      const words = word === 'list' ? ['actions', 'list'] : ['auth', 'refresh'];
      const ran = await ground.run('--profile', 'sandbox', ...words);
      expect([ran.code, ran.stderr.includes('error')]).toEqual([0, false]);
    }
    await begun.kill();
    begun = await ground.startSandbox();
    expect((await ground.run('--profile', 'sandbox', 'actions', 'list')).code).toBe(0);
    begun.running.kill('SIGTERM');
    expect((await begun.running.ended).code).toBe(0);
    begun = await ground.startSandbox();
    expect((await ground.run('--profile', 'sandbox', 'actions', 'list')).code).toBe(0);
  });

  test('frees its folder, which no second one can have before', async () => {
    const ground = createSandboxMachine();
    const begun = await ground.startSandbox();
    const second = await ground.run('sandbox', 'start', '--state', ground.state, '--port', '0', '--api-port', '0');
    expect([second.code, second.stdout]).toEqual([1, '']);
    expect(second.stderr).toContain(`error: another sandbox runs in ${ground.state}`);
    await begun.kill();
    expect((await ground.startSandbox()).ready).toEqual(begun.ready);
  });

  test('tells of a torn end and goes on, and of damage with path and line and does not', async () => {
    const ground = createSandboxMachine();
    const begun = await ground.startSandbox(APPROVE);
    const tokens = await logIn(begun.ready);
    await begun.kill();
    const path = join(ground.state, 'journal.1');
    const bytes = readFileSync(path);
    appendFileSync(path, bytes.subarray(0, 40));
    const again = await ground.startSandbox();
    expect(await callWith(again.ready, tokens)).toBe(200);
    await again.running.waitFor('stderr', /warning: .*journal\.1 ended in half a line of 40 bytes/, 5_000);
    await again.kill();
    expect(readFileSync(path).equals(bytes)).toBe(true);

    const spoiled = Buffer.from(readFileSync(path, 'latin1').replace('"record":1', '"record":7'), 'latin1');
    writeFileSync(path, spoiled);
    const refused = await ground.run('sandbox', 'start', '--state', ground.state);
    expect([refused.code, refused.stdout]).toEqual([2, '']);
    expect(refused.stderr).toContain('error: the state of the sandbox is damaged');
    expect(refused.stderr).toContain(`detail: ${path}, line 1: its checksum does not fit`);
    expect(readFileSync(path).equals(spoiled)).toBe(true);
  });

  test('has its secrets in files of mode 0600 in a folder of mode 0700', async () => {
    const ground = createSandboxMachine();
    await ground.startSandbox();
    const modes = readdirSync(ground.state).map((name) => statSync(join(ground.state, name)).mode & 0o777);
    expect([statSync(ground.state).mode & 0o777, ...new Set(modes)]).toEqual([0o700, 0o600]);
  });
});
