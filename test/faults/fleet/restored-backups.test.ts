import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lacks } from '../../fixtures/needs.ts';
import type { PostgresOptions } from '../../fixtures/postgres.ts';
import { createFleet, type Fleet } from './fleet.ts';
import { fleetAmount, reportFleetFigures } from './fleet-figures.ts';
import { beginRound, type FleetRound, listActions, type RoundEnd, settleRound } from './fleet-round.ts';
import { type FleetStore, type FleetStoreKind, type FleetStoreOptions, startFleetStore } from './fleet-store.ts';
import { type MakeBackup, readBackupToolMajor, storeBackups } from './store-backups.ts';

/** Refreshes that the store loses, all by the first machine: the others know only what the backup has. */
async function refreshAfter(fleet: Fleet, refreshes: number): Promise<FleetRound> {
  for (let left = refreshes; ; left -= 1) {
    const round = await beginRound(fleet);
    expect(await round.end(fleet.machines[0]!.run(listActions), 'free')).toBe('usable');
    if (left === 1) return round;
  }
}

/** Which machines run first after the restore. */
type Order = 'the machine that saw the record' | 'the others' | 'all at the same time';
const orders: readonly Order[] = ['the others', 'all at the same time', 'the machine that saw the record'];

async function runInOrder(fleet: Fleet, round: FleetRound, order: Order): Promise<void> {
  const [first, ...others] = fleet.machines;
  if (order === 'all at the same time') return;
  const chosen = order === 'the others' ? others : [first!];
  const ends = await Promise.all(chosen.map((machine) => round.end(machine.run(listActions), 'free')));
  // Those that know only the backup are refused, and wait for nobody, because nobody has begun a refresh.
  expect(ends).toEqual(chosen.map(() => (order === 'the others' ? 'needs_login' : 'usable')));
}

/** Three machines, each with a copy of the record. */
async function createUsedFleet(store: FleetStore): Promise<Fleet> {
  const fleet = await createFleet({ store, machines: 3 });
  expect(await settleRound(fleet, await beginRound(fleet))).toBe('usable');
  return fleet;
}

function describeRestores(
  kind: FleetStoreKind,
  options: FleetStoreOptions,
  backups: Readonly<Record<string, MakeBackup>>,
): void {
  let store: FleetStore | undefined;
  beforeAll(async () => {
    store = await startFleetStore(kind, options);
  });
  afterAll(() => store?.stop());
  test.for(Object.keys(backups))(
    '%s: nothing is lost while the machine that saw the record lives',
    { timeout: 3_600_000 },
    async (name) => {
      const fleet = await createUsedFleet(store!);
      const counts: Record<string, number> = { restored: 0, usable: 0 };
      for (let at = 0; at < fleetAmount.faults; at += 1) {
        const restore = await backups[name]!(store!);
        const round = await refreshAfter(fleet, 1 + (at % 2));
        await restore();
        await runInOrder(fleet, round, orders[at % orders.length]!);
        const end = await settleRound(fleet, round, { isStoreOlder: true, window: 'free' });
        counts.restored! += 1;
        counts[end] = (counts[end] ?? 0) + 1;
      }
      reportFleetFigures(`restored from ${name}`, kind, counts);
      expect(counts.usable).toBe(counts.restored);
    },
  );

  test.runIf(fleetAmount.isFull).for(Object.keys(backups))(
    '%s: the session is lost if that machine is destroyed (W4)',
    { timeout: 600_000 },
    async (name) => {
      const fleet = await createUsedFleet(store!);
      const restore = await backups[name]!(store!);
      const round = await refreshAfter(fleet, 1);
      await restore();
      fleet.replace(fleet.machines[0]!);
      expect(await settleRound(fleet, round, { isStoreOlder: true, window: 'free' })).toBe<RoundEnd>('W4');
    },
  );
}

const tools = ['pg_basebackup', 'pg_dump', 'pg_restore'];
describe.skipIf(lacks(...tools))('a PostgreSQL restored from a backup', () => {
  const version = lacks(...tools) ? undefined : (readBackupToolMajor() as PostgresOptions['version']);
  describeRestores('postgresql', { version }, storeBackups.postgresql);
});

describe.skipIf(lacks('redis-server'))('a Redis restored from a backup', () => {
  describeRestores('redis', {}, storeBackups.redis);
});

describe.skipIf(lacks('redis-server'))('a Redis without an append-only file that is killed', () => {
  // `SAVE` is what `save 3600 1` does once in an hour; the second server never does it.
  const dump: MakeBackup = async (store) => {
    store.redis?.cli('SAVE');
    return restart(store);
  };
  const nothing: MakeBackup = async (store) => restart(store);
  const restart = (store: FleetStore) => async (): Promise<void> => {
    await store.end('crash');
    await store.start();
  };
  describeRestores('redis', { redis: ['appendonly no'] }, { 'an older dump': dump, nothing });
});
