import { expect, test } from 'vitest';
import { createFleet } from './fleet.ts';
import { fleetAmount, reportFleetFigures } from './fleet-figures.ts';
import { describeFleetStores } from './fleet-store.ts';

const { machines: count, expiries } = fleetAmount;

describeFleetStores('machines that share a session', (store) => {
  test(
    `${count} machines meet an expired token ${expiries} times: one refresh each time, and every command succeeds`,
    async () => {
      const fleet = await createFleet({ store: store(), machines: count });
      let succeeded = 0;
      for (let round = 1; round <= expiries; round += 1) {
        await fleet.expire();
        const ran = await Promise.all(fleet.machines.map((machine) => machine.run(['actions', 'list', '-o', 'json'])));
        expect(ran.map(({ code, stderr }) => [code, stderr])).toEqual(ran.map(() => [0, '']));
        succeeded += ran.length;
        expect([round, fleet.refreshes().length]).toEqual([round, round]);
        expect((await fleet.row()).gen).toBe(1 + round);
      }
      const values = { machines: count, expiries, succeeded, refreshes: fleet.refreshes().length };
      reportFleetFigures('expiries', store().kind, values);
    },
    30 * 60_000,
  );
});
