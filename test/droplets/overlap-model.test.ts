import { expect, test } from 'vitest';

// A model of runs of one machine that create a droplet of the same name at the same time (src/droplets/running.ts and existing.ts):
// every order of their steps, of the server's and of kills is tried. A rule that is left out must be missed, or it is not needed.

type Mode = 'fail' | 'skip';

/** What a run does next; `sent` waits for its response. */
type Phase = 'start' | 'registered' | 'settled' | 'looked' | 'doubting' | 'cleared' | 'sent' | 'ended' | 'dead';

interface RunState {
  readonly mode: Mode;
  readonly phase: Phase;
  /** Its number; 0 before it is registered. */
  readonly number: number;
  /** The request of this run: on its way, carried out, or lost with its connection. */
  readonly request: 'none' | 'flying' | 'done' | 'lost';
  /** Whether its ledger names the droplet it created. */
  readonly knows: boolean;
}

interface World {
  readonly runs: readonly RunState[];
  readonly droplets: number;
  /** Whether lists show the droplets. */
  readonly isVisible: boolean;
}

interface Rules {
  /** A run waits for runs with a lower number, or ends as busy. */
  readonly waits: boolean;
  /** Ids that ended or dead runs created count as existing. */
  readonly readsCreated: boolean;
  /** Names that a dead run may have sent are looked up again when its request cannot arrive any more. */
  readonly doubts: boolean;
  /** The number is given under a lock together with the entry. */
  readonly isAtomic: boolean;
}

const all: Rules = { waits: true, readsCreated: true, doubts: true, isAtomic: true };

/** The worlds after one step of somebody. */
function next(world: World, rules: Rules): readonly World[] {
  const steps: World[] = [];
  const change = (at: number, run: Partial<RunState>, more: Partial<World> = {}): void => {
    const runs = world.runs.map((one, place) => (place === at ? { ...one, ...run } : one));
    steps.push({ ...world, ...more, runs });
  };
  if (world.droplets > 0 && !world.isVisible) steps.push({ ...world, isVisible: true });
  for (const [at, run] of world.runs.entries()) {
    const others = world.runs.filter((_, place) => place !== at);
    const isLive = ({ phase }: RunState): boolean => !['start', 'ended', 'dead'].includes(phase);
    const earlier = others.filter(({ number }) => number > 0 && number < run.number);
    if (!['start', 'ended', 'dead'].includes(run.phase)) {
      // A kill leaves a request on its way, or loses it.
      if (run.request === 'flying') change(at, { phase: 'dead', request: 'lost' });
      change(at, { phase: 'dead' });
    }
    if (run.request === 'flying') {
      // The server carries the request out, also after its process was killed.
      change(at, { request: 'done' }, { droplets: world.droplets + 1, isVisible: false });
    }
    switch (run.phase) {
      case 'start': {
        const most = Math.max(0, ...world.runs.map(({ number }) => number));
        change(at, { phase: 'registered', number: rules.isAtomic ? most + 1 : 1 });
        break;
      }
      case 'registered':
        if (!rules.waits || !earlier.some(isLive)) change(at, { phase: 'settled' });
        else if (run.mode === 'fail') change(at, { phase: 'ended' });
        break;
      case 'settled': {
        const isKnown = rules.readsCreated && earlier.some((one) => one.knows && one.request === 'done');
        if ((world.droplets > 0 && world.isVisible) || isKnown) change(at, { phase: 'ended' });
        else change(at, { phase: 'looked' });
        break;
      }
      case 'looked': {
        // A dead run whose ledger says that it sent something, and not what came of it.
        const isDoubtful = earlier.some((one) => one.phase === 'dead' && one.request !== 'none' && !one.knows);
        change(at, { phase: rules.doubts && isDoubtful ? 'doubting' : 'cleared' });
        break;
      }
      case 'doubting':
        // The wait is longer than a request of a dead run can be on its way and than lists lag.
        if (
          earlier.some((one) => one.phase === 'dead' && one.request === 'flying') ||
          !(world.isVisible || world.droplets === 0)
        )
          break;
        change(at, { phase: world.droplets > 0 ? 'ended' : 'cleared' });
        break;
      case 'cleared':
        change(at, { phase: 'sent', request: 'flying' });
        break;
      case 'sent':
        if (run.request === 'done') change(at, { phase: 'ended', knows: true });
        break;
      default:
        break;
    }
  }
  return steps;
}

/** All worlds that can be reached, and the first one with two droplets. */
function explore(modes: readonly Mode[], rules: Rules): { readonly worlds: number; readonly twice: World | undefined } {
  const run = (mode: Mode): RunState => ({ mode, phase: 'start', number: 0, request: 'none', knows: false });
  const first: World = { runs: modes.map(run), droplets: 0, isVisible: true };
  const seen = new Set([JSON.stringify(first)]);
  const waiting = [first];
  for (let world = waiting.pop(); world !== undefined; world = waiting.pop()) {
    if (world.droplets > 1) return { worlds: seen.size, twice: world };
    for (const one of next(world, rules)) {
      const key = JSON.stringify(one);
      if (seen.has(key)) continue;
      seen.add(key);
      waiting.push(one);
    }
  }
  return { worlds: seen.size, twice: undefined };
}

const modes: readonly (readonly Mode[])[] = [
  ['fail', 'fail'],
  ['fail', 'skip'],
  ['skip', 'skip'],
  ['skip', 'skip', 'skip'],
  ['fail', 'skip', 'skip'],
];

test.each(modes.map((some) => [some] as const))('no order of steps and kills creates a droplet twice: %j', (some) => {
  const { worlds, twice } = explore(some, all);
  expect(twice).toBeUndefined();
  expect(worlds).toBeGreaterThan(100);
});

test.each(['waits', 'readsCreated', 'doubts', 'isAtomic'] as const)(
  'without the rule %s one is created twice',
  (rule) => {
    expect(explore(['skip', 'skip'], { ...all, [rule]: false }).twice).toBeDefined();
  },
);
