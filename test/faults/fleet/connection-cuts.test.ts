import { setTimeout as after } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { until } from '../session/assertions.ts';
import { createFleet, type Fleet } from './fleet.ts';
import { fleetAmount, fleetStoreKinds, reportFleetFigures } from './fleet-figures.ts';
import { beginRound, type CommandEnd, listActions, settleRound } from './fleet-round.ts';
import { describeFleetStores } from './fleet-store.ts';
import { type CutPlace, type StoreRelay, startStoreRelay } from './store-relay.ts';

const places: readonly CutPlace[] = [
  { operation: 'claim', side: 'before' },
  { operation: 'claim', side: 'after' },
  { operation: 'commit', side: 'before' },
  { operation: 'commit', side: 'after' },
];

/** One connection is cut, or each of them for some seconds. */
const amounts = [1, 1_000];

interface Cut {
  readonly place: CutPlace;
  readonly times: number;
}

async function cutOnce(fleet: Fleet, relay: StoreRelay, { place, times }: Cut): Promise<readonly CommandEnd[]> {
  const round = await beginRound(fleet);
  relay.cut(place, times);
  const running = fleet.machines.map((machine) => round.end(machine.run(listActions), 'commit'));
  await until(() => relay.cuts() > 0, 'a cut connection');
  if (times > 1) await after(fleetAmount.isFull ? 3_000 : 1_000);
  relay.mend();
  const ends = await Promise.all(running);
  // Nobody was killed, so nothing may be lost.
  expect(await settleRound(fleet, round, { window: 'lease' })).toBe('usable');
  return ends;
}

describeFleetStores(
  'connections to the store that are cut',
  (store) => {
    test('before and after the claim, before and after the commit: no session is lost', {
      timeout: 3_600_000,
    }, async () => {
      const relay = await startStoreRelay(store().url);
      const fleet = await createFleet({ store: store(), machines: 3, storeUrl: relay.url });
      const counts = { rounds: 0, usable: 0, unreachable: 0, lost: 0 };
      for (let round = 0; round < fleetAmount.faults; round += 1) {
        for (const place of places) {
          const times = amounts[(round + places.indexOf(place)) % amounts.length]!;
          const ends = await cutOnce(fleet, relay, { place, times });
          // Without its acknowledged intent a command sends nothing; with a grant, it is usable.
          const isIntentLost = place.operation === 'claim' && times > 1;
          expect(ends.filter((end) => end !== 'usable' && !(isIntentLost && end === 'unreachable'))).toEqual([]);
          counts.rounds += 1;
          for (const end of ends) counts[end === 'usable' ? 'usable' : 'unreachable'] += 1;
        }
      }
      reportFleetFigures('cut connections', store().kind, counts);
    });
  },
  fleetStoreKinds(['postgresql', 'redis', 'pgbouncer'], ['redis']),
);
