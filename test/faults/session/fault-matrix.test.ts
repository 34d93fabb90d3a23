import { expect, test } from 'vitest';
import { lacks } from '../../fixtures/needs.ts';
import { list } from './assertions.ts';
import type { FaultFixture } from './fault-fixture.ts';
import { faultSample, tell } from './figures.ts';
import { describeStores } from './stores.ts';
import { type Fault, faultsAt, runWithFault, tracePlaces } from './strace.ts';

describeStores('the fault matrix', ({ store, make }) => {
  test.skipIf(lacks('strace'))(
    'no system call on the state folder that fails, once or from then on, loses the session',
    async (context) => {
      let fixture = await make(context);
      // The first run creates files that later ones find.
      await fixture.run(list);
      await fixture.expire();
      const places = await tracePlaces(fixture, list);
      expect(places.length).toBeGreaterThan(20);
      const faults = faultSample(faultsAt(places));
      const lost: string[] = [];
      let hits = 0;
      for (const fault of faults) {
        await fixture.expire();
        const { isHit } = await runWithFault(fixture, list, fault);
        if (isHit) hits++;
        // A later command without a fault must find the session.
        const next = await fixture.run(list);
        if (next.code === 0 && (await isConsistent(fixture))) continue;
        lost.push(`${describeFault(fault)}: exit ${next.code} ${next.stderr}`);
        fixture = await make(context);
      }
      tell({
        what: 'faults',
        store,
        values: { places: places.length, faults: faults.length, hits, lost: lost.length },
      });
      expect(lost).toEqual([]);
      expect(hits).toBeGreaterThan(faults.length / 2);
    },
    90 * 60_000,
  );
});

/** What is stored is what the server takes at the next refresh. */
async function isConsistent(fixture: FaultFixture): Promise<boolean> {
  const { world } = fixture.sandbox;
  const pair = world.grants.pairByRefreshToken((await fixture.item())?.refreshToken?.reveal() ?? '');
  return pair !== undefined && ['valid', 'expired'].includes(world.grants.pairState(pair));
}

function describeFault({ call, at, error, isPermanent }: Fault): string {
  return `${call} ${at} ${error} ${isPermanent ? 'always' : 'once'}`;
}
