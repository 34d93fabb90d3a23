import { setTimeout as after } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { until } from '../session/assertions.ts';
import { createFleet, type Fleet } from './fleet.ts';
import { fleetAmount, fleetStoreKinds, reportFleetFigures } from './fleet-figures.ts';
import { startStopped } from './fleet-machine.ts';
import { beginRound, type CommandEnd, type FleetRound, listActions, settleRound } from './fleet-round.ts';
import { describeFleetStores } from './fleet-store.ts';

/** Before the request is sent, another machine refreshes; after it, only this machine can have the answer. */
const points = {
  'before sending': ['K2-claimed', 'K3-sending'],
  'after sending': ['K6-answering', 'K7-read', 'K8-sealed', 'K9-storing'],
} as const;

interface Stop {
  readonly when: keyof typeof points;
  readonly point: string;
  /** It goes on while the others wait for it; otherwise after they have given up. */
  readonly isAwaited: boolean;
}

interface StopEnds {
  readonly stopped: CommandEnd;
  readonly others: readonly CommandEnd[];
}

async function stopOnce(fleet: Fleet, { point, isAwaited }: Stop): Promise<StopEnds> {
  const round = await beginRound(fleet);
  const [first, ...rest] = fleet.machines;
  const running = await startStopped(first!, point, listActions);
  const others = rest.map((machine) => round.end(machine.run(listActions), 'refusal'));
  if (isAwaited) await untilLeaseEnded(fleet, round);
  else await Promise.all(others);
  running.kill('SIGCONT');
  const stopped = await round.end(running.ended, 'free');
  const ends = await Promise.all(others);
  expect(await settleRound(fleet, round, { window: 'free' })).toBe('usable');
  return { stopped, others: ends };
}

/** Until another machine has taken the lease, and has used it or was refused. */
async function untilLeaseEnded(fleet: Fleet, round: FleetRound): Promise<void> {
  const before = fleet.refreshes().length;
  await until(() => fleet.refreshes().length > before, 'the request of another machine');
  await after(round.commits() === 0 ? 0 : 500);
}

describeFleetStores(
  'a machine that is stopped for longer than its lease',
  (store) => {
    const stops: readonly Stop[] = [
      ...points['before sending'].map((point) => ({ when: 'before sending' as const, point, isAwaited: false })),
      ...points['after sending'].map((point) => ({ when: 'after sending' as const, point, isAwaited: true })),
      ...points['after sending'].map((point) => ({ when: 'after sending' as const, point, isAwaited: false })),
    ];
    // Those in which the others wait until they give up take a minute.
    const chosen = fleetAmount.isFull
      ? stops
      : stops.filter(({ point }) => ['K3-sending', 'K8-sealed'].includes(point)).slice(0, 2);

    test('before sending and after it: no session is lost', { timeout: 3_600_000 }, async () => {
      const counts = { stopped: 0, usable: 0, needs_login: 0, lost: 0 };
      const stopInFleet = async (stop: Stop): Promise<void> => {
        const fleet = await createFleet({ store: store(), machines: 3 });
        for (let round = 0; round < fleetAmount.faults; round += 1) {
          const { stopped, others } = await stopOnce(fleet, stop);
          const isRepaired = stop.when === 'before sending' || stop.isAwaited;
          expect([stop, stopped, others]).toEqual([
            stop,
            'usable',
            others.map(() => (isRepaired ? 'usable' : 'needs_login')),
          ]);
          counts.stopped += 1;
          counts[isRepaired ? 'usable' : 'needs_login'] += others.length;
          counts.usable += 1;
        }
      };
      await Promise.all(chosen.map(stopInFleet));
      reportFleetFigures('machines stopped beyond the lease', store().kind, counts);
    });
  },
  fleetStoreKinds(['postgresql', 'redis', 'pgbouncer'], ['redis']),
);
