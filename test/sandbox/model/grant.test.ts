import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type SandboxServers, startServers } from '../../../src/sandbox/sandbox.ts';
import { admin, sandboxFor } from '../requests.ts';
import { makeFolder } from '../state/state-folders.ts';
import { EMPTY, findViolation, type Model, predict, type Step } from './model.ts';
import { acts, completeStep, type PlannedAct } from './plan.ts';
import { createReal, type Real } from './real-sandbox.ts';

const runs = Number(process.env.CLOUDCTL_TEST_RUNS ?? 150);

describe('the grant', { timeout: 60_000 + runs * 500 }, () => {
  it('follows the specification for any requests in any order, single and concurrent', async () => {
    const sandbox = await sandboxFor();
    await fc.assert(
      fc.asyncProperty(acts, (plan) => follow(plan, sandbox, () => undefined)),
      { numRuns: runs },
    );
  });

  it('follows the specification across restarts', async () => {
    const state = makeFolder();
    let sandbox = await startServers({ state });
    onTestFinished(() => sandbox.close());
    const again = async (): Promise<void> => {
      await sandbox.close();
      sandbox = await startServers({ state });
    };
    await fc.assert(
      fc.asyncProperty(acts, fc.integer({ min: 2, max: 5 }), (plan, every) =>
        follow(plan, sandbox, (at) => (at % every === 0 ? again() : undefined)),
      ),
      { numRuns: Math.ceil(runs / 15) },
    );
  });
});

/** Addresses and ids do not change at a restart, so the remaining steps stay valid. */
async function follow(
  plan: readonly PlannedAct[],
  sandbox: SandboxServers,
  between: (at: number) => Promise<void> | undefined,
): Promise<void> {
  await admin(sandbox, 'POST', '/_sandbox/reset');
  await admin(sandbox, 'POST', '/_sandbox/clock', { freeze: true });
  const real = createReal(sandbox);
  let models: readonly Model[] = [EMPTY];
  for (const [at, act] of plan.entries()) {
    models = await play(stepsOf(act, `s${at}`, models[0] ?? EMPTY), models, real);
    await between(at);
  }
  for (const step of auditOf(models[0] ?? EMPTY)) models = await play([step], models, real);
}

function stepsOf(act: PlannedAct, name: string, model: Model): readonly Step[] {
  if (act.at === 'once') return [completeStep(act.one, model, name)];
  return [completeStep(act.both[0], model, `${name}a`), completeStep(act.both[1], model, `${name}b`)];
}

/** Sends the steps together and keeps the model states that explain the responses. If there is none, a response was wrong. */
async function play(steps: readonly Step[], models: readonly Model[], real: Real): Promise<readonly Model[]> {
  const ready: (() => Promise<string>)[] = [];
  for (const step of steps) ready.push(await real.prepare(step));
  const answers = await Promise.all(ready.map((go) => go()));
  const orders = steps.length === 1 ? [[0]] : FORTH_AND_BACK;
  const outcomes = models.flatMap((model) => orders.map((order) => inOrder(model, steps, order)));
  const fitting = outcomes.filter((outcome) => outcome.answers.join() === answers.join());
  if (fitting.length === 0) expect({ steps, answers }).toEqual({ steps, answers: outcomes.map((one) => one.answers) });
  for (const { next } of fitting) expect(findViolation(next)).toBeUndefined();
  return distinct(fitting.map(({ next }) => next));
}

const FORTH_AND_BACK = [
  [0, 1],
  [1, 0],
];

function inOrder(
  model: Model,
  steps: readonly Step[],
  order: readonly number[],
): { readonly answers: readonly string[]; readonly next: Model } {
  const answers: string[] = [];
  let next = model;
  for (const at of order) {
    const step = steps[at];
    if (step === undefined) continue;
    const outcome = predict(next, step);
    answers[at] = outcome.answer;
    next = outcome.next;
  }
  return { answers, next };
}

/** Uses every token ever issued at the API, for a refresh, and at the API again. */
function auditOf({ pairs }: Model): readonly Step[] {
  const names = Object.keys(pairs);
  const calls = names.map((pair): Step => ({ kind: 'call', pair, token: 'access', method: 'GET' }));
  const refreshes = names.map(
    (pair): Step => ({ kind: 'refresh', step: `${pair}+`, pair, token: 'refresh', client: 'nobody' }),
  );
  return [...calls, ...refreshes, ...calls];
}

function distinct(models: readonly Model[]): readonly Model[] {
  return [...new Map(models.map((model) => [canonical(model), model])).values()];
}

/** Independent of the order of names, which depends on the order of the steps. */
function canonical(model: Model): string {
  return JSON.stringify(model, (_key, value) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)))
      : value,
  );
}
