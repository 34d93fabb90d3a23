import { expect } from 'vitest';
import { refreshClaimTiming } from '../../../src/session/claim-token-refresh.ts';
import type { Ran } from '../../fixtures/cli.ts';
import { errorOf } from '../session/assertions.ts';
import type { Fleet } from './fleet.ts';
import type { Machine } from './fleet-machine.ts';

/** A command that needs a valid access token. */
export const listActions: readonly string[] = ['actions', 'list', '-o', 'json'];

/** What the error `needs_login` tells the user to run elsewhere. It reads the store also when the copy is valid. */
const checkStatus: readonly string[] = ['auth', 'status', '--check', '-o', 'json'];

const { leaseMs, waitMs, commitMs } = refreshClaimTiming;
/** Programs start slowly while many others do. */
const marginMs = 30_000;

/** The longest time that a command may take which was not interrupted, in milliseconds. */
export const commandWindows = {
  /** No other machine is in the way. */
  free: marginMs,
  /** The lease of a machine that does not report must end. */
  lease: leaseMs + marginMs,
  /** After that, the refresh token is refused, and the machine that does not report may still publish. */
  refusal: leaseMs + waitMs + marginMs,
  /** The command has the new record, and the store is away. */
  commit: commitMs + marginMs,
} as const;

export type CommandWindow = keyof typeof commandWindows;

/** Where a session was lost, by docs/guides/fleet.md; `other` is a fault of the program. */
export type LossWindow = 'W1' | 'W2' | 'W3' | 'W4' | 'other';

export type RoundEnd = 'usable' | LossWindow;

/** What has happened since the access token expired. */
export interface FleetRound {
  /** The generation that has expired. */
  readonly startGen: number;
  /** Refreshes that the authorization server has carried out. */
  commits(): number;
  /** The points that each command has reached. */
  traces(): readonly RoundTrace[];
  /** The duration of the longest command that was not interrupted, in milliseconds. */
  longestMs(): number;
  /** Waits until a command has ended, which must be inside the window; returns how. */
  end(ran: Promise<Ran>, window: CommandWindow): Promise<CommandEnd>;
}

/** `not_logged_in`: the store has no session. */
export type CommandEnd = 'usable' | 'needs_login' | 'not_logged_in' | 'unreachable' | 'busy';

interface RoundTrace {
  readonly isDestroyed: boolean;
  readonly points: readonly string[];
}

/** Lets the access token expire everywhere. */
export async function beginRound(fleet: Fleet): Promise<FleetRound> {
  await fleet.expire();
  const before = fleet.commits();
  const first = new Map<Machine, number>(fleet.machines.map((machine) => [machine, machine.traces.length]));
  const { gen: startGen } = await fleet.row();
  let longest = 0;
  return {
    startGen,
    commits: () => fleet.commits() - before,
    traces: () =>
      [...fleet.destroyed, ...fleet.machines].flatMap((machine) =>
        machine.isDestroyed() && !first.has(machine)
          ? []
          : machine.traces
              .slice(first.get(machine) ?? 0)
              .map((trace) => ({ isDestroyed: machine.isDestroyed(), points: trace.points() })),
      ),
    longestMs: () => Math.round(longest),
    async end(ran, window) {
      const start = performance.now();
      const ended = await ran;
      const ms = performance.now() - start;
      longest = Math.max(longest, ms);
      if (ms > commandWindows[window])
        throw new Error(`a command took ${Math.round(ms)} ms, longer than the window ${window}: ${ended.stderr}`);
      return endOfCommand(ended);
    },
  };
}

function endOfCommand(ran: Ran): CommandEnd {
  if (ran.code === 0) return 'usable';
  const code = errorOf(ran);
  if ((code === 'needs_login' || code === 'not_logged_in') && ran.code === 4) return code;
  if (code === 'unreachable' && ran.code === 6) return code;
  if (code === 'busy' && ran.code === 1) return code;
  throw new Error(`exit ${ran.code ?? ran.signal}: ${ran.stderr}`);
}

export interface SettleOptions {
  /** The store has lost a commit that it had acknowledged. */
  readonly isStoreOlder?: boolean;
  /** Within which each command must end. */
  readonly window?: CommandWindow;
}

/**
 * Lets every machine that lives run again. A loss counts only when all of them report it after that: the first commands may
 * report one that a later command of another machine repairs. After a loss, the fleet is logged in again.
 */
export async function settleRound(
  fleet: Fleet,
  round: FleetRound,
  { isStoreOlder = false, window = 'refusal' }: SettleOptions = {},
): Promise<RoundEnd> {
  const runAll = (words: readonly string[]): Promise<readonly CommandEnd[]> =>
    Promise.all(fleet.machines.map((machine) => round.end(machine.run(words), window)));
  const first = await runAll(isStoreOlder ? checkStatus : listActions);
  const isFirstEnough = !isStoreOlder && first.every((end) => end === 'usable');
  const ends = isFirstEnough ? first : await runAll(listActions);
  const isUsable = ends.every((end) => end === 'usable');
  if (!isUsable && !ends.every((end) => end === 'needs_login'))
    throw new Error(`${first.join(', ')}; then ${ends.join(', ')}${describeTraces(round)}`);
  if (isUsable) {
    // Each commit of the server is one generation in the store.
    expect([round.commits(), (await fleet.row()).gen - round.startGen]).toEqual([1, 1]);
    return 'usable';
  }
  const loss = classifyLoss(round, isStoreOlder);
  if (loss === 'other') throw new Error(`a session was lost outside the windows${describeTraces(round)}`);
  await fleet.login();
  return loss;
}

/** By where the newest grant of the server was last seen. A round has one: before it, the refresh token was used by none. */
function classifyLoss(round: FleetRound, isStoreOlder: boolean): LossWindow {
  const readers = round.traces().filter(({ points }) => points.includes('K7-read'));
  const [reader] = readers;
  if (round.commits() !== 1 || readers.length > 1) return 'other';
  if (reader === undefined) return 'W1';
  const { points, isDestroyed } = reader;
  if (!points.includes('K7-written')) return 'W2';
  if (!points.includes('K10-stored')) return isDestroyed ? 'W3' : 'other';
  return isStoreOlder && isDestroyed ? 'W4' : 'other';
}

function describeTraces(round: FleetRound): string {
  const lines = round
    .traces()
    .map(({ isDestroyed, points }) => `${isDestroyed ? 'destroyed: ' : ''}${points.join(' ')}`);
  return `; ${round.commits()} commits\n${lines.join('\n')}`;
}
