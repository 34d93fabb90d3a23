import { expect, test } from 'vitest';
import { compareSharedSessionVersions } from '../../../src/shared-store/shared-session.ts';
import {
  type FaultBudget,
  hasNewestGrant,
  initialModelState,
  listModelSteps,
  type ModelMutant,
  type ModelState,
  stepMachine,
} from './fleet-model.ts';

const none: FaultBudget = {
  kills: 0,
  lostAnswers: 0,
  restores: 0,
  destroyed: 0,
  logins: 0,
  logouts: 0,
  refreshes: 3,
};

interface Violation {
  readonly reason: string;
  readonly path: readonly string[];
}

/** Visits every reachable state, breadth first, so that the path of a violation is a shortest one. */
function explore(
  first: ModelState,
  mutant: ModelMutant = {},
): { readonly states: number; readonly violation?: Violation } {
  const keyOf = (state: ModelState): string => JSON.stringify(state);
  const seen = new Map<string, { readonly before: string | undefined; readonly name: string }>();
  const pathOf = (key: string): readonly string[] => {
    const names: string[] = [];
    for (let at: string | undefined = key; at !== undefined; at = seen.get(at)?.before) {
      const name = seen.get(at)?.name ?? '';
      if (name !== '') names.unshift(name);
    }
    return names;
  };
  seen.set(keyOf(first), { before: undefined, name: '' });
  let level: ModelState[] = [first];
  while (level.length > 0) {
    const next: ModelState[] = [];
    for (const state of level) {
      const key = keyOf(state);
      const reason = violationOf(state, mutant);
      if (reason !== undefined) return { states: seen.size, violation: { reason, path: pathOf(key) } };
      for (const step of listModelSteps(state, mutant)) {
        const nextKey = keyOf(step.state);
        if (seen.has(nextKey)) continue;
        seen.set(nextKey, { before: key, name: step.name });
        const isOlder =
          step.name !== 'restore' &&
          state.row !== undefined &&
          step.state.row !== undefined &&
          compareSharedSessionVersions(step.state.row, state.row) === 'older';
        if (isOlder)
          return { states: seen.size, violation: { reason: 'the store got an older record', path: pathOf(nextKey) } };
        next.push(step.state);
      }
    }
    level = next;
  }
  return { states: seen.size };
}

function violationOf(state: ModelState, mutant: ModelMutant): string | undefined {
  const { current, lost } = state;
  if (current === undefined || lost[current] !== undefined) return undefined;
  if (!hasNewestGrant(state, current)) return 'the newest grant is nowhere';
  if (state.orphans.some(({ sid }) => sid === current)) return undefined;
  const end = settle(state, mutant);
  const { row } = end;
  if (row?.sid !== current || row.gen !== end.server[current]?.gen) return 'the store does not have the newest grant';
  return row.refusedGen === row.gen ? 'nobody may refresh the newest grant' : undefined;
}

/** Every machine runs its process to the end, then two more commands up to their request, without faults. */
function settle(state: ModelState, mutant: ModelMutant): ModelState {
  let next: ModelState = { ...state, left: { ...state.left, lostAnswers: 0, refreshes: 0 } };
  for (let command = 0; command < 3; command += 1) {
    for (let at = 0; at < next.machines.length; at += 1) {
      if (command > 0) next = stepMachine(next, at, mutant)[0]?.state ?? next;
      for (let [step] = stepsOf(next, at, mutant); step !== undefined; [step] = stepsOf(next, at, mutant))
        next = step.state;
      const machines = next.machines.map((one, other) => (other === at ? { ...one, process: undefined } : one));
      next = { ...next, machines };
    }
  }
  return next;
}

/** The steps of a process that runs; a process that has read the session ends without a request. */
function stepsOf(state: ModelState, at: number, mutant: ModelMutant) {
  return state.machines[at]?.process === undefined ? [] : stepMachine(state, at, mutant);
}

const runs = Number(process.env.CLOUDCTL_TEST_RUNS ?? '1');
const isFull = runs >= 1000;

const cases: readonly (readonly [string, number, Partial<FaultBudget>])[] = [
  ['kills and lost answers', 2, { kills: 2, lostAnswers: 1 }],
  ['a restored store and a kill', 2, { kills: 1, restores: 1 }],
  ['a login, a restored store', 2, { logins: 1, restores: 1, refreshes: 2 }],
  ['a logout, a login, a kill', 2, { logouts: 1, logins: 1, kills: 1, refreshes: 2 }],
  ['a destroyed machine, a restored store', 2, { destroyed: 1, restores: 1, refreshes: 2 }],
];
const fullCases: typeof cases = [
  ['three machines, kills and lost answers', 3, { kills: 2, lostAnswers: 1, refreshes: 3 }],
  ['three machines, a restored store', 3, { restores: 1, refreshes: 2 }],
  ['two machines, all faults', 2, { kills: 1, lostAnswers: 1, restores: 1, destroyed: 1, logins: 1, refreshes: 1 }],
];

test.each([...cases, ...(isFull ? fullCases : [])])(
  'no session is lost outside of the windows: %s',
  (_name, machines, faults) => {
    const { states, violation } = explore(initialModelState(machines, { ...none, ...faults }));
    expect(violation).toBeUndefined();
    if (isFull) console.log(`${_name}: ${states} states`);
    expect(states).toBeGreaterThan(100);
  },
  600_000,
);

const mutants: readonly (readonly [string, ModelMutant, Partial<FaultBudget>])[] = [
  ['a commit that is fenced by the lease', { isCommitFencedByLease: true }, {}],
  ['machines without a copy', { hasNoCopy: true }, { restores: 1 }],
  ['a refusal that a commit does not clear', { isRefusalKept: true }, {}],
];

test.each(mutants)('the model finds the fault of %s', (_name, mutant, faults) => {
  const { violation } = explore(initialModelState(2, { ...none, ...faults }), mutant);
  expect(violation?.path.length).toBeGreaterThan(0);
  if (isFull) console.log(`${_name}: ${violation?.reason}: ${violation?.path.join(', ')}`);
});
