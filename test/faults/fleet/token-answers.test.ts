import { expect, test } from 'vitest';
import type { FaultSpec } from '../../../src/sandbox/faults/fault.ts';
import { createFleet, type Fleet } from './fleet.ts';
import { fleetAmount, fleetStoreKinds, reportFleetFigures } from './fleet-figures.ts';
import { beginRound, type CommandEnd, listActions, type RoundEnd, settleRound } from './fleet-round.ts';
import { describeFleetStores } from './fleet-store.ts';

/** What the token endpoint does to the first refresh request of a round. */
interface Answer {
  readonly fault: Omit<FaultSpec, 'match'>;
  /** What is left of the session when all machines have run again. */
  readonly ends: readonly RoundEnd[];
  /** Takes too long for the normal suite. */
  readonly isLong?: true;
}

const answers: readonly Answer[] = [
  // Late: the lease is extended, and the other machines wait.
  { fault: { action: 'delay', delay: 3_000 }, ends: ['usable'] },
  { fault: { action: 'delay', delay: 20_000 }, ends: ['usable'], isLong: true },
  { fault: { action: 'slow_drip', delay: 20 }, ends: ['usable'], isLong: true },
  // Later than the time limit of a request, which is sent once more.
  { fault: { action: 'delay', delay: 32_000 }, ends: ['usable'], isLong: true },
  // The client sends the request again; the server processes whichever it gets to first.
  { fault: { action: 'commit_late', delay: 2_000 }, ends: ['usable', 'W1'] },
  // Lost, and the request was not processed.
  { fault: { action: 'drop_before_commit' }, ends: ['usable'] },
  { fault: { action: 'reset' }, ends: ['usable'], isLong: true },
  { fault: { action: 'html_502' }, ends: ['usable'], isLong: true },
  { fault: { action: 'rate_limit' }, ends: ['usable'], isLong: true },
  // Each request of three machines, twice.
  { fault: { action: 'drop_before_commit', times: 6 }, ends: ['usable'], isLong: true },
  // Lost, and the request was processed: the server has no grace period.
  { fault: { action: 'commit_then_drop' }, ends: ['W1'], isLong: true },
  { fault: { action: 'half_body' }, ends: ['W1'], isLong: true },
];

interface AnswerResult {
  readonly session: RoundEnd;
  readonly commands: readonly CommandEnd[];
}

async function answerOnce(fleet: Fleet, { fault, ends }: Answer): Promise<AnswerResult> {
  const round = await beginRound(fleet);
  const match = { method: 'POST', path: '/v1/oauth/token', grant_type: 'refresh_token' };
  fleet.sandbox.faults.add({ match, ...fault });
  const running = fleet.machines.map((machine) => round.end(machine.run(listActions), 'refusal'));
  const commands = await Promise.all(running);
  expect(fleet.sandbox.faults.list()[0]?.applied).toBeGreaterThan(0);
  fleet.sandbox.faults.clear();
  const session = await settleRound(fleet, round);
  expect(ends, fault.action).toContain(session);
  return { session, commands };
}

describeFleetStores(
  'answers of the token endpoint',
  (store) => {
    test('late and lost ones: a session is lost only if the answer reaches nobody (W1)', {
      timeout: 3_600_000,
    }, async () => {
      const counts: Record<string, number> = { rounds: 0, W1: 0, usable: 0, needs_login: 0, unreachable: 0 };
      const answerInFleet = async (answer: Answer): Promise<void> => {
        const fleet = await createFleet({ store: store(), machines: 3 });
        for (let round = 0; round < fleetAmount.faults; round += 1) {
          const { session, commands } = await answerOnce(fleet, answer);
          for (const end of commands) counts[end] = (counts[end] ?? 0) + 1;
          // Without an answer to both requests, nobody knows more than that.
          const isCut = (answer.fault.times ?? 1) > 1;
          const usual = session === 'W1' ? 'needs_login' : 'usable';
          const unusual = commands.filter((end) => end !== usual && !(isCut && end === 'unreachable'));
          expect(unusual, answer.fault.action).toEqual([]);
          counts.rounds! += 1;
          if (session === 'W1') counts.W1! += 1;
        }
      };
      await Promise.all(answers.filter(({ isLong }) => fleetAmount.isFull || isLong !== true).map(answerInFleet));
      reportFleetFigures('late and lost answers', store().kind, counts);
    });
  },
  fleetStoreKinds(['postgresql', 'redis'], ['redis']),
);
