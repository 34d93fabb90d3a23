import { setTimeout as after } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createFleet, type Fleet } from './fleet.ts';
import { fleetAmount, fleetStoreKinds, reportFleetFigures } from './fleet-figures.ts';
import { startStopped } from './fleet-machine.ts';
import { beginRound, type CommandEnd, listActions, settleRound } from './fleet-round.ts';
import { describeFleetStores, type FleetStore } from './fleet-store.ts';

/** Where the refresh of one machine is when the server of the store ends. */
const points = ['K2-reserved', 'K2-claimed', 'K6-answering', 'K8-sealed', 'K10-stored', 'K3-sending', 'K9-storing'];

/** How the server ends, and whether the refresh goes on before the server is there again. */
const outages = [
  { how: 'shutdown', isAway: true },
  { how: 'crash', isAway: false },
  { how: 'crash', isAway: true },
  { how: 'shutdown', isAway: false },
] as const;

interface Outage {
  readonly point: string;
  readonly how: 'crash' | 'shutdown';
  readonly isAway: boolean;
}

/** One machine refreshes when the server ends; the others begin while it is away. */
async function restartOnce(store: FleetStore, fleet: Fleet, { point, how, isAway }: Outage): Promise<Ends> {
  const round = await beginRound(fleet);
  const [first, ...others] = fleet.machines;
  const running = await startStopped(first!, point, listActions);
  await store.end(how);
  if (isAway) running.kill('SIGCONT');
  const waiting = others.map((machine) => round.end(machine.run(listActions), 'commit'));
  await after(500);
  await store.start();
  if (!isAway) running.kill('SIGCONT');
  const holder = await round.end(running.ended, 'commit');
  const ends = await Promise.all(waiting);
  await untilReachable(fleet);
  // Nobody was killed, so nothing may be lost.
  expect(await settleRound(fleet, round, { window: 'lease' })).toBe('usable');
  return { holder, others: ends };
}

interface Ends {
  readonly holder: CommandEnd;
  readonly others: readonly CommandEnd[];
}

/** pgbouncer waits 15 s before it connects again to a server that was away. */
async function untilReachable(fleet: Fleet): Promise<void> {
  for (const end = Date.now() + 30_000; ; ) {
    try {
      await fleet.row();
      return;
    } catch (error) {
      if (Date.now() > end) throw error;
    }
    await after(100);
  }
}

describeFleetStores(
  'a store whose server ends during a refresh',
  (store) => {
    test('by a restart and by kill -9: no session is lost', { timeout: 3_600_000 }, async () => {
      const fleet = await createFleet({ store: store(), machines: 3 });
      const counts = { rounds: 0, usable: 0, unreachable: 0, lost: 0 };
      for (let at = 0; at < 2 * fleetAmount.faults; at += 1) {
        const outage = { point: points[(3 + at) % points.length]!, ...outages[at % outages.length]! };
        const { holder, others } = await restartOnce(store(), fleet, outage);
        // A command that has no acknowledged intent sends nothing, and one with a grant is usable.
        if (outage.point !== 'K2-reserved') expect([outage, holder]).toEqual([outage, 'usable']);
        expect([holder, ...others].filter((end) => end !== 'usable' && end !== 'unreachable')).toEqual([]);
        counts.rounds += 1;
        for (const end of [holder, ...others]) counts[end === 'usable' ? 'usable' : 'unreachable'] += 1;
      }
      reportFleetFigures('store restarted or killed', store().kind, counts);
    });
  },
  fleetStoreKinds(['postgresql', 'redis', 'pgbouncer'], ['postgresql']),
);
