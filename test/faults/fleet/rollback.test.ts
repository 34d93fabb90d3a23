import { expect, test } from 'vitest';
import { createFleet, type Fleet } from './fleet.ts';
import { reportFleetFigures } from './fleet-figures.ts';
import { describeFleetStores, type FleetStore } from './fleet-store.ts';

const list = ['actions', 'list', '-o', 'json'];

/** Copies the data of the store inside the server, and puts the copy back. */
async function backup(store: FleetStore, fleet: Fleet): Promise<() => Promise<void>> {
  const { postgres, redis } = store;
  if (postgres !== undefined) {
    await postgres.query('CREATE TABLE IF NOT EXISTS session_backup (LIKE cloudctl_share.session)');
    await postgres.query('TRUNCATE session_backup; INSERT INTO session_backup SELECT * FROM cloudctl_share.session');
    return async () => {
      await postgres.query(
        'BEGIN; DELETE FROM cloudctl_share.session; INSERT INTO cloudctl_share.session SELECT * FROM session_backup; COMMIT',
      );
    };
  }
  const key = `cloudctl:{${fleet.keys.share}}:default`;
  redis?.cli('COPY', key, 'backup', 'REPLACE');
  return async () => void redis?.cli('COPY', 'backup', key, 'REPLACE');
}

async function empty({ postgres, redis }: FleetStore): Promise<void> {
  await postgres?.query('DELETE FROM cloudctl_share.session');
  redis?.cli('FLUSHALL');
}

describeFleetStores(
  'a store that has lost commits',
  (store) => {
    test('yesterday’s backup: 0 sessions are lost while a machine that saw the newer record lives', async () => {
      const fleet = await createFleet({ store: store(), machines: 3 });
      const [first, second, third] = fleet.machines;
      let lost = 0;
      for (const rounds of [1, 2]) {
        const restore = await backup(store(), fleet);
        for (let round = 0; round < rounds; round += 1) {
          await fleet.expire();
          expect((await first!.run(list)).code).toBe(0);
        }
        const { gen } = await fleet.row();
        await restore();
        expect((await fleet.row()).gen).toBe(gen - rounds);
        // The first command of the machine that saw the record publishes it; the others need no login.
        expect((await first!.run(['auth', 'token'])).code).toBe(0);
        expect((await fleet.row()).gen).toBe(gen);
        for (const machine of [second!, third!]) lost += (await machine.run(list)).code === 0 ? 0 : 1;
      }
      reportFleetFigures('restored backups', store().kind, { restored: 2, lost });
      expect(lost).toBe(0);
    });

    test('an empty store gets the record of a machine', async () => {
      const fleet = await createFleet({ store: store(), machines: 2 });
      const [first, second] = fleet.machines;
      await fleet.expire();
      expect((await first!.run(list)).code).toBe(0);
      await empty(store());
      expect((await second!.run(['auth', 'token', '-o', 'json'])).code).toBe(4);
      expect((await first!.run(['auth', 'token'])).code).toBe(0);
      expect((await second!.run(list)).code).toBe(0);
    });
  },
  ['postgresql', 'redis'],
);
