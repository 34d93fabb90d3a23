import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { errorOf } from '../session/assertions.ts';
import { createFleet, type Fleet, type Machine } from './fleet.ts';
import { fleetAmount, reportFleetFigures } from './fleet-figures.ts';
import { describeFleetStores } from './fleet-store.ts';

/** The steps of a refresh at which a process is killed, in their order. */
const points = [
  'K2-reserved',
  'K2-claimed',
  'K3-sending',
  'K6-answering',
  'K6-partial',
  'K7-read',
  'K7-written',
  'K8-sealed',
  'K9-storing',
  'K10-stored',
  'K10-cleared',
] as const;

type End = 'usable' | 'W1' | 'W2' | 'W3' | 'unexplained' | 'not killed';
const list = ['actions', 'list', '-o', 'json'];

/** Kills a process of a machine at a point, lets every machine run again, and classifies what is left by a trace. */
async function killOnce(fleet: Fleet, victim: Machine, point: string, isDestroyed: boolean): Promise<End> {
  await fleet.expire();
  const trace = join(victim.folders.work, 'points');
  rmSync(trace, { force: true });
  const before = commitsOf(fleet);
  const ran = await victim.run(list, { CLOUDCTL_TEST_KILL_AT: point, CLOUDCTL_TEST_POINTS: trace });
  if (ran.signal !== 'SIGKILL') return 'not killed';
  const reached = existsSync(trace) ? readFileSync(trace, 'utf8').trim().split('\n') : [];
  const hasCommitted = commitsOf(fleet) > before;
  const isStored = hasCommitted && reached.includes('K10-stored');
  if (isDestroyed) rmSync(victim.folders.state, { recursive: true });
  const others = fleet.machines.filter((machine) => machine !== victim);
  const again = isDestroyed ? others : [victim, ...others];
  const ends: (string | undefined)[] = [];
  for (const machine of again) {
    const next = await machine.run(list);
    ends.push(next.code === 0 ? 'usable' : errorOf(next));
  }
  if (ends.every((end) => end === 'usable')) return 'usable';
  const isLost = ends.every((end) => end === 'needs_login') && hasCommitted && !isStored;
  if (!isLost) throw new Error(`${point}: ${ends.join(', ')} after ${reached.join(', ')}`);
  await fleet.login();
  if (!reached.includes('K7-read')) return 'W1';
  if (!reached.includes('K7-written')) return 'W2';
  return isDestroyed ? 'W3' : 'unexplained';
}

function commitsOf(fleet: Fleet): number {
  return fleet.refreshes().filter(({ status, committed }) => status === 200 && committed !== false).length;
}

describeFleetStores(
  'processes that are killed during a refresh',
  (store) => {
    test(`${fleetAmount.kills} kills aimed at the request: a session is lost only in the windows W1 and W2`, async () => {
      const fleet = await createFleet({ store: store(), machines: 3 });
      const counts: Record<End, number> = { usable: 0, W1: 0, W2: 0, W3: 0, unexplained: 0, 'not killed': 0 };
      for (let round = 0; round < fleetAmount.kills; round += 1) {
        const victim = fleet.machines[round % 3]!;
        const point = points[(1 + round * 6) % points.length]!;
        counts[await killOnce(fleet, victim, point, false)] += 1;
        // The generation never falls, and what the store has is what the server accepts.
        expect((await fleet.row()).record).not.toBe('');
      }
      reportFleetFigures('kills', store().kind, counts);
      expect([counts.unexplained, counts.W3]).toEqual([0, 0]);
    }, 3_600_000);

    // A machine that never runs again costs the others a minute.
    test.runIf(fleetAmount.kills >= 10)(
      'a machine that is destroyed before the store has its grant loses the session, and only then (W3)',
      async () => {
        const fleet = await createFleet({ store: store(), machines: 2 });
        const counts: Record<string, number> = {};
        for (const point of ['K2-claimed', 'K8-sealed', 'K10-stored']) {
          const end = await killOnce(fleet, fleet.machines[0]!, point, true);
          counts[`${point} ${end}`] = 1;
        }
        reportFleetFigures('destroyed', store().kind, counts);
        expect(counts).toEqual({ 'K2-claimed usable': 1, 'K8-sealed W3': 1, 'K10-stored usable': 1 });
      },
      600_000,
    );
  },
  ['postgresql', 'redis'],
);
