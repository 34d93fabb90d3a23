import fc from 'fast-check';
import { approvalsOf, CODE_LIFETIME, MINUTE, type Model, type Scope, type Step, TOKEN_LIFETIME } from './model.ts';
import { PEOPLE } from './real-sandbox.ts';

/** A step whose parameters are still random numbers, because the available codes and tokens are not known yet. */
export interface StepDraft {
  readonly kind: Step['kind'];
  readonly pick: number;
  readonly variant: number;
}

export type PlannedAct =
  | { readonly at: 'once'; readonly one: StepDraft }
  | { readonly at: 'together'; readonly both: readonly [StepDraft, StepDraft] };

function draftOf(...kinds: readonly Step['kind'][]): fc.Arbitrary<StepDraft> {
  return fc.record({ kind: fc.constantFrom(...kinds), pick: fc.noBias(fc.nat(30)), variant: fc.noBias(fc.nat(255)) });
}

const single = fc.oneof(
  { weight: 5, arbitrary: draftOf('authorize') },
  { weight: 5, arbitrary: draftOf('exchange') },
  { weight: 8, arbitrary: draftOf('refresh') },
  { weight: 6, arbitrary: draftOf('call') },
  { weight: 3, arbitrary: draftOf('advance') },
  { weight: 2, arbitrary: draftOf('silent', 'revoke') },
  { weight: 1, arbitrary: draftOf('withdraw') },
);
const concurrent = fc.oneof(
  { weight: 8, arbitrary: draftOf('refresh') },
  { weight: 4, arbitrary: draftOf('exchange', 'call') },
  { weight: 2, arbitrary: draftOf('revoke') },
  { weight: 1, arbitrary: draftOf('withdraw') },
);

/** Every run begins with a login, so that most steps have a token to use. */
export const acts: fc.Arbitrary<readonly PlannedAct[]> = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: single.map((one): PlannedAct => ({ at: 'once', one })) },
      { weight: 2, arbitrary: fc.tuple(concurrent, concurrent).map((both): PlannedAct => ({ at: 'together', both })) },
      // Two equal concurrent requests are the critical case of token rotation.
      { weight: 1, arbitrary: concurrent.map((one): PlannedAct => ({ at: 'together', both: [one, one] })) },
    ),
    { minLength: 1, maxLength: 24, size: 'max' },
  )
  .map((rest) => [
    { at: 'once', one: { kind: 'authorize', pick: 0, variant: 4 } },
    { at: 'once', one: { kind: 'exchange', pick: 0, variant: 0 } },
    ...rest,
  ]);

/** Selects codes and tokens of the model. Prefers the latest, which are valid most often. */
export function completeStep({ kind, pick, variant }: StepDraft, model: Model, step: string): Step {
  const bits = (from: number, count: number): number => (variant >> from) % count;
  const person = PEOPLE[bits(0, 2)] ?? PEOPLE[0];
  const client = bits(1, 2);
  const scope: Scope = bits(2, 2) === 0 ? 'read' : 'read write';
  const code = latest(model.codes, ({ used }) => !used, pick);
  const pair = latest(model.pairs, ({ end }) => end === undefined, pick);
  const token = bits(0, 8) === 7 ? other(kind) : usual(kind);
  switch (kind) {
    case 'authorize':
      return {
        kind,
        step,
        person,
        client,
        scope,
        team: bits(3, 2) === 1 && person === PEOPLE[1],
        flow: bits(4, 6) === 5 ? 'token' : 'code',
      };
    case 'silent':
      return { kind, step, person, client, scope };
    case 'exchange': {
      const own = model.codes[code]?.client ?? 0;
      const spoil = (['nothing', 'secret', 'redirect'] as const)[bits(3, 8)] ?? 'nothing';
      return { kind, step, code, client: bits(0, 8) === 7 ? 1 - own : own, spoil };
    }
    case 'refresh':
      return {
        kind,
        step,
        pair,
        token,
        client: (['nobody', 'own', 'other', 'wrong'] as const)[bits(3, 12)] ?? 'nobody',
      };
    case 'revoke':
      return { kind, pair, token };
    case 'withdraw':
      return { kind, person, client, approval: approvalsOf(model, { person, client })[0]?.[0] ?? '' };
    case 'call':
      return { kind, pair, token, method: bits(3, 3) === 0 ? 'POST' : 'GET' };
    case 'advance':
      return { kind, by: span(model, pick, variant) };
    default:
      return kind satisfies never;
  }
}

/** Advances to the last valid instant of a code or token, to its expiry, or by some time. */
function span(model: Model, pick: number, variant: number): number {
  const ends = [
    ...Object.values(model.codes).map(({ at }) => at + CODE_LIFETIME),
    ...Object.values(model.pairs).map(({ at }) => at + TOKEN_LIFETIME),
  ].filter((end) => end - 1000 > model.now);
  const end = ends[pick % Math.max(1, ends.length)];
  const choices = [1, 1000, 9 * MINUTE + 59_000, 10 * MINUTE, 15 * 24 * 60 * MINUTE];
  if (end === undefined || variant % 4 === 3) return choices[pick % choices.length] ?? 1;
  return end - model.now - ([0, 1, 1000][variant % 3] ?? 0);
}

function usual(kind: Step['kind']): 'refresh' | 'access' {
  return kind === 'refresh' ? 'refresh' : 'access';
}

function other(kind: Step['kind']): 'refresh' | 'access' {
  return kind === 'refresh' ? 'access' : 'refresh';
}

/** Mostly a usable one, often the latest; an unknown name when there is none. */
function latest<T>(all: Readonly<Record<string, T>>, isGood: (one: T) => boolean, pick: number): string {
  const names = Object.keys(all);
  const good = Object.entries(all).flatMap(([name, one]) => (isGood(one) ? [name] : []));
  const among = pick < 20 && good.length > 0 ? good : names;
  const back = pick % 3 === 0 ? 0 : pick % Math.max(1, among.length);
  return among[among.length - 1 - back] ?? 'none';
}
