import { setTimeout as after } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { until } from '../session/assertions.ts';
import { createFleet, type Fleet } from './fleet.ts';
import { fleetAmount, reportFleetFigures } from './fleet-figures.ts';
import { isStopped, type Machine } from './fleet-machine.ts';
import {
  beginRound,
  type CommandEnd,
  type FleetRound,
  listActions,
  type RoundEnd,
  settleRound,
} from './fleet-round.ts';
import { describeFleetStores, type FleetStore } from './fleet-store.ts';

/** The steps of a refresh at which a process is killed, in their order; at the last two, a moment after the step. */
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
  'K3-sending later',
  'K9-storing later',
] as const;

type KillPoint = (typeof points)[number];

/** Where the others need not wait for the end of a lease, or for a record that never comes. */
const cheapWhenDestroyed: readonly KillPoint[] = ['K10-stored', 'K2-reserved', 'K10-cleared'];

interface Kill {
  readonly victim: Machine;
  readonly point: KillPoint;
  /** The other machines run only after the kill. */
  readonly isAlone: boolean;
  /** The victim never runs again. */
  readonly isDestroyed: boolean;
  readonly laterMs: number;
}

interface KillResult {
  readonly end: RoundEnd;
  readonly isKilled: boolean;
  readonly longestMs: number;
}

/** Kills a process of a machine at a point, lets every machine run again, and classifies what is left by a trace. */
async function killOnce(fleet: Fleet, kill: Kill): Promise<KillResult> {
  const { victim } = kill;
  const round = await beginRound(fleet);
  const killed = killAt(kill);
  const others = kill.isAlone ? Promise.resolve([]) : runOthers(fleet, round, victim);
  const isKilled = await killed;
  if (kill.isDestroyed) fleet.replace(victim);
  const ends = await others;
  expect(ends.filter((end) => end !== 'usable' && end !== 'needs_login')).toEqual([]);
  const end = await settleRound(fleet, round);
  return { end, isKilled, longestMs: round.longestMs() };
}

/** Returns whether the process was killed; another machine may have been faster. */
async function killAt({ victim, point, laterMs }: Kill): Promise<boolean> {
  if (!point.endsWith(' later'))
    return (await victim.run(listActions, { CLOUDCTL_TEST_KILL_AT: point })).signal === 'SIGKILL';
  const running = victim.start(listActions, { CLOUDCTL_TEST_STOP_AT: point.replace(' later', '') });
  await until(() => running.child.exitCode !== null || isStopped(running.pid), 'the program to stop or to end');
  running.kill('SIGCONT');
  await after(laterMs);
  running.kill('SIGKILL');
  return (await running.ended).signal === 'SIGKILL';
}

async function runOthers(fleet: Fleet, round: FleetRound, victim: Machine): Promise<readonly CommandEnd[]> {
  const others = fleet.machines.filter((machine) => machine !== victim);
  await after(100);
  return Promise.all(others.map((machine) => round.end(machine.run(listActions), 'refusal')));
}

interface KillFigures {
  readonly counts: Readonly<Record<RoundEnd, number>>;
  /** Of the kills that are counted as `other`. */
  readonly errors: readonly unknown[];
  readonly longestMs: number;
}

/** Several fleets at the same time, because most of the time goes by in waiting for leases to end. */
async function killMany(store: FleetStore, isDestroyed: boolean): Promise<KillFigures> {
  const counts: Record<RoundEnd, number> = { usable: 0, W1: 0, W2: 0, W3: 0, W4: 0, other: 0 };
  const errors: unknown[] = [];
  const order = isDestroyed
    ? [...cheapWhenDestroyed, ...points.filter((one) => !cheapWhenDestroyed.includes(one))]
    : points;
  let [started, expected, longestMs] = [0, 0, 0];
  const killNext = async (fleet: Fleet): Promise<void> => {
    const at = started;
    started += 1;
    expected += 1;
    const point = order[(isDestroyed ? at : 1 + at * 6) % order.length]!;
    const isAlone = Math.floor(at / points.length) % 2 === 0;
    const kill = { victim: fleet.machines[at % 3]!, point, isAlone, isDestroyed, laterMs: (at % 10) / 2 };
    const result = await killOnce(fleet, kill);
    longestMs = Math.max(longestMs, result.longestMs);
    if (result.isKilled) counts[result.end] += 1;
    else expected -= 1;
  };
  const killInFleet = async (lane: number): Promise<void> => {
    await after(lane * 500);
    for (let fleet: Fleet | undefined; expected < fleetAmount.kills; ) {
      try {
        fleet ??= await createFleet({ store, machines: 3 });
        await killNext(fleet);
      } catch (error) {
        counts.other += 1;
        errors.push(error);
        fleet = undefined;
      }
    }
  };
  const lanes = Math.min(fleetAmount.kills, fleetAmount.fleets);
  await Promise.all(Array.from({ length: lanes }, (_, lane) => killInFleet(lane)));
  return { counts, errors, longestMs };
}

describeFleetStores(
  'processes that are killed during a refresh',
  (store) => {
    for (const isDestroyed of [false, true]) {
      const title = isDestroyed
        ? 'the machine is destroyed, and a session is lost only in the windows W1 to W3'
        : 'the state is kept, and a session is lost only in the windows W1 and W2';
      test(`${fleetAmount.kills} kills aimed at the request: ${title}`, { timeout: 7_200_000 }, async () => {
        const { counts, errors, longestMs } = await killMany(store(), isDestroyed);
        const name = isDestroyed ? 'kills, machines destroyed' : 'kills, state kept';
        const seconds = Math.round(longestMs / 1000);
        reportFleetFigures(name, store().kind, { ...counts, 'seconds of the longest command': seconds });
        expect([errors, counts.W4]).toEqual([[], 0]);
        if (!isDestroyed) expect(counts.W3).toBe(0);
      });
    }
  },
  ['postgresql', 'redis'],
);
