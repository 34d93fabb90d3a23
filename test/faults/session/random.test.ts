import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { endOf, expectInvariants, list, refreshCommits, runNextCommand } from './assertions.ts';
import type { FaultFixture } from './fault-fixture.ts';
import { amount, tell } from './figures.ts';
import { describeStores } from './stores.ts';

interface Tally {
  usable: number;
  busy: number;
  /** The server has committed, and its answer never left it whole. */
  undelivered: number;
  /** The answer left the server, and nothing of it was written. */
  unkept: number;
  /** A session that ended although no commit was lost. */
  unexplained: number;
  /** Commands that ended before they were killed; they are not among the kills. */
  survived: number;
}

/** Kills of one fixture at a time; two grounds keep two processors at work. */
const lanes = 2;

describeStores('killed at any time', ({ store, make }) => {
  test(
    `K19: ${amount.kills} times killed at a random moment: usable, or a commit was lost on the way`,
    async (context) => {
      const tally: Tally = { usable: 0, busy: 0, undelivered: 0, unkept: 0, unexplained: 0, survived: 0 };
      const each = Math.ceil(amount.kills / lanes);
      const durations = await Promise.all(
        Array.from({ length: lanes }, async () => {
          let fixture = await make(context);
          let span = await duration(fixture);
          let longest = span;
          for (let kills = 0, tries = 0; kills < each && tries < 4 * each; tries++) {
            const { killed, ended, lasted } = await killOnce(fixture, span, tally);
            if (killed) kills += 1;
            if (ended) fixture = await make(context);
            // The load of the machine comes and goes, and the moments are to fall into the command.
            span = lasted;
            longest = Math.max(longest, span);
          }
          return longest;
        }),
      );
      expect(tally.unexplained).toBe(0);
      expect(tally.usable + tally.busy + tally.undelivered + tally.unkept).toBeGreaterThan((each * lanes) / 2);
      tell({ what: 'kills', store, values: { ...tally, duration: Math.round(Math.max(...durations)) } });
    },
    30 * 60_000,
  );

  test(
    'K7: both widths are measured at each refresh',
    async (context) => {
      const fixture = await make(context);
      const widths = join(fixture.folders.work, 'widths');
      for (let time = 0; time < amount.refreshes; time++) {
        const ran = await fixture.run(['auth', 'refresh', '-o', 'json'], { env: { CLOUDCTL_TEST_WIDTHS: widths } });
        expect(ran.code).toBe(0);
      }
      const lines = readFileSync(widths, 'utf8').trim().split('\n');
      const seen = lines.map((line): Width => JSON.parse(line));
      expect(seen).toHaveLength(amount.refreshes);
      for (const { written_ms, synced_ms } of seen) {
        expect(written_ms).toBeGreaterThan(0);
        expect(synced_ms).toBeGreaterThan(written_ms);
      }
      tell({
        what: 'widths',
        store,
        values: { written: seen.map((one) => one.written_ms), synced: seen.map((one) => one.synced_ms) },
      });
    },
    20 * 60_000,
  );
});

interface Width {
  readonly written_ms: number;
  readonly synced_ms: number;
}

/** Milliseconds of a command that renews the session, the longer of two. */
async function duration(fixture: FaultFixture): Promise<number> {
  let longest = 0;
  for (let time = 0; time < 2; time++) {
    await ready(fixture);
    const started = performance.now();
    expect(await runNextCommand(fixture)).toBe('usable');
    longest = Math.max(longest, performance.now() - started);
  }
  return longest;
}

/** A session that has expired, at the server as well, which tells of each answer whether it has left. */
async function ready(fixture: FaultFixture): Promise<void> {
  await fixture.expire(true);
  fixture.sandbox.faults.clear();
  const match = { method: 'POST', path: '/v1/oauth/token' };
  fixture.sandbox.faults.add({ match, action: 'delay', delay: 0, times: 1_000 });
}

interface Killed {
  /** It had not ended before. */
  readonly killed: boolean;
  /** The session has. */
  readonly ended: boolean;
  /** Milliseconds of a command that nobody kills. */
  readonly lasted: number;
}

async function killOnce(fixture: FaultFixture, span: number, tally: Tally): Promise<Killed> {
  await ready(fixture);
  const wait = Math.random() * span;
  const begun = performance.now();
  const running = fixture.start(list);
  await Promise.race([after(wait), running.ended]);
  running.kill('SIGKILL');
  const ran = await running.ended;
  const killed = ran.signal === 'SIGKILL';
  if (!killed) {
    tally.survived += 1;
    expect(endOf(ran)).toBe('usable');
    return { killed, ended: false, lasted: performance.now() - begun };
  }
  const started = performance.now();
  const end = await runNextCommand(fixture);
  const lasted = performance.now() - started;
  if (end !== 'needs_login') {
    tally[end] += 1;
    await expectInvariants(fixture);
    fixture.printed.length = 0;
    return { killed, ended: false, lasted };
  }
  const { gen = 0 } = (await fixture.item()) ?? {};
  const isLost = refreshCommits(fixture).length === gen;
  const last = refreshCommits(fixture).at(-1);
  if (!isLost) tally.unexplained += 1;
  else if (last?.delivered === false) tally.undelivered += 1;
  else tally.unkept += 1;
  if (isLost) await expectInvariants(fixture, { lost: 1 });
  return { killed, ended: true, lasted };
}
