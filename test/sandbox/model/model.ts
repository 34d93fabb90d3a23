/**
 * A model of sections 3, 4.2 to 4.5 and 5 of the specification. It names codes and tokens by the step that issued them and
 * does not know their values.
 */
export interface Model {
  /** Milliseconds since the start of the run. */
  readonly now: number;
  /** By `person client`. */
  readonly approvals: Readonly<Record<string, Approval>>;
  readonly codes: Readonly<Record<string, Code>>;
  readonly pairs: Readonly<Record<string, Pair>>;
}

export type Scope = 'read' | 'read write';

interface Approval {
  /** The step that created it. Tokens of an earlier approval stay invalid. */
  readonly since: string;
  readonly scope: Scope;
  readonly team: boolean;
}

/** What a code or token pair authorizes. */
export interface Bound {
  readonly person: string;
  readonly client: number;
  readonly scope: Scope;
  readonly team: boolean;
  readonly approval: string;
  readonly at: number;
}

interface Code extends Bound {
  readonly used: boolean;
}

export interface Pair extends Bound {
  readonly end?: 'refreshed' | 'revoked';
  readonly refreshable: boolean;
  /** The step that issued the first pair, and the number of refreshes since. */
  readonly root: string;
  readonly generation: number;
}

/** One request with all parameters. `step` names the code or tokens that it issues. */
export type Step =
  | {
      readonly kind: 'authorize';
      readonly step: string;
      readonly person: string;
      readonly team: boolean;
      readonly client: number;
      readonly scope: Scope;
      readonly flow: 'code' | 'token';
    }
  | {
      readonly kind: 'silent';
      readonly step: string;
      readonly person: string;
      readonly client: number;
      readonly scope: Scope;
    }
  | {
      readonly kind: 'exchange';
      readonly step: string;
      readonly code: string;
      readonly client: number;
      readonly spoil: 'nothing' | 'secret' | 'redirect';
    }
  | {
      readonly kind: 'refresh';
      readonly step: string;
      readonly pair: string;
      readonly token: 'refresh' | 'access';
      readonly client: 'nobody' | 'own' | 'other' | 'wrong';
    }
  | { readonly kind: 'revoke'; readonly pair: string; readonly token: 'refresh' | 'access' }
  | {
      readonly kind: 'withdraw';
      readonly person: string;
      readonly client: number;
      /** The one that the page showed first when it was opened: two that withdraw together withdraw the same. */
      readonly approval: string;
    }
  | {
      readonly kind: 'call';
      readonly pair: string;
      readonly token: 'refresh' | 'access';
      readonly method: 'GET' | 'POST';
    }
  | { readonly kind: 'advance'; readonly by: number };

export interface Outcome {
  /** A short text of the expected response. */
  readonly answer: string;
  readonly next: Model;
}

export const MINUTE = 60_000;
export const CODE_LIFETIME = 10 * MINUTE;
export const TOKEN_LIFETIME = 30 * 24 * 60 * MINUTE;

export const EMPTY: Model = { now: 0, approvals: {}, codes: {}, pairs: {} };

export function predict(model: Model, step: Step): Outcome {
  switch (step.kind) {
    case 'authorize': {
      const key = approvalKey(step);
      const { [key]: known, ...others } = model.approvals;
      const keepsWider = known?.scope === 'read write';
      const approval: Approval = {
        since: known?.since ?? step.step,
        scope: keepsWider ? 'read write' : step.scope,
        team: step.team,
      };
      const approved = { ...model, approvals: { ...others, [key]: approval } };
      const { person, client, scope, team } = step;
      return issue(
        approved,
        step.step,
        { person, client, scope, team, approval: approval.since, at: model.now },
        step.flow,
      );
    }
    case 'silent': {
      const known = approvalsOf(model, step).at(-1)?.[1];
      if (known === undefined || (step.scope === 'read write' && known.scope === 'read'))
        return unchanged(model, 'consent_required');
      const { person, client, scope } = step;
      return issue(
        model,
        step.step,
        { person, client, scope, team: known.team, approval: known.since, at: model.now },
        'code',
      );
    }
    case 'exchange': {
      const code = model.codes[step.code];
      if (step.spoil === 'secret') return unchanged(model, '401 invalid_client');
      const isGood =
        code !== undefined &&
        !code.used &&
        code.client === step.client &&
        step.spoil !== 'redirect' &&
        isApproved(model, code) &&
        model.now < code.at + CODE_LIFETIME;
      if (!isGood) return unchanged(model, '400 invalid_grant');
      const { used: _, ...bound } = code;
      const spent = { ...model, codes: { ...model.codes, [step.code]: { ...code, used: true } } };
      return grant(spent, step.step, { ...bound, at: model.now }, { root: step.step, generation: 0 });
    }
    case 'refresh': {
      const pair = model.pairs[step.pair];
      if (step.client === 'wrong') return unchanged(model, '401 invalid_client');
      const isGood =
        pair !== undefined &&
        step.token === 'refresh' &&
        pair.refreshable &&
        step.client !== 'other' &&
        pair.end === undefined &&
        isApproved(model, pair);
      if (!isGood) return unchanged(model, '400 invalid_grant');
      const { person, client, scope, team, approval, root, generation } = pair;
      const spent = withEnd(model, step.pair, 'refreshed');
      const bound = { person, client, scope, team, approval, at: model.now };
      return grant(spent, step.step, bound, { root, generation: generation + 1 });
    }
    case 'revoke': {
      const pair = model.pairs[step.pair];
      const isHit = pair?.end === undefined && (step.token === 'access' || pair?.refreshable === true);
      return { answer: '200 {}', next: isHit ? withEnd(model, step.pair, 'revoked') : model };
    }
    case 'withdraw': {
      const { [step.approval]: _, ...approvals } = model.approvals;
      return { answer: 'withdrawn', next: { ...model, approvals } };
    }
    case 'call': {
      const pair = model.pairs[step.pair];
      const isGood = pair !== undefined && step.token === 'access' && isLive(model, pair);
      if (!isGood) return unchanged(model, '404 not_found');
      if (step.method === 'GET') return unchanged(model, '200');
      return unchanged(model, pair.scope === 'read write' ? '202' : '403 forbidden');
    }
    case 'advance':
      return { answer: 'later', next: { ...model, now: model.now + step.by } };
    default:
      return step satisfies never;
  }
}

/** Checks invariants of the model; returns the violated one. */
export function findViolation(model: Model): string | undefined {
  const rows = new Map<string, Pair[]>();
  for (const pair of Object.values(model.pairs)) rows.set(pair.root, [...(rows.get(pair.root) ?? []), pair]);
  for (const [root, row] of rows) {
    const open = row.filter(({ end }) => end === undefined);
    const newest = row.reduce((left, right) => (right.generation > left.generation ? right : left));
    if (open.length > 1) return `${open.length} pairs of ${root} are alive at once`;
    if (open[0] !== undefined && open[0] !== newest) return `an old pair of ${root} is alive`;
    if (new Set(row.map(({ generation }) => generation)).size !== row.length)
      return `${root} was refreshed twice from one pair`;
    if (new Set(row.map(({ scope, person, team }) => `${scope} ${person} ${team}`)).size !== 1)
      return `${root} has changed`;
  }
  return undefined;
}

function approvalKey({ person, client, team }: Pick<Bound, 'person' | 'client' | 'team'>): string {
  return `${person} ${client} ${team}`;
}

/** In the order of the last approvals. */
export function approvalsOf(model: Model, { person, client }: Pick<Bound, 'person' | 'client'>): [string, Approval][] {
  return Object.entries(model.approvals).filter(([key]) => key.startsWith(`${person} ${client} `));
}

export function grantWords({ scope, person, team }: Bound): string {
  return `${scope}, ${person}${team ? ' in the team' : ''}`;
}

function isApproved(model: Model, bound: Bound): boolean {
  return model.approvals[approvalKey(bound)]?.since === bound.approval;
}

function isLive(model: Model, pair: Pair): boolean {
  return pair.end === undefined && isApproved(model, pair) && model.now < pair.at + TOKEN_LIFETIME;
}

function issue(model: Model, step: string, bound: Bound, flow: 'code' | 'token'): Outcome {
  if (flow === 'code')
    return { answer: 'code', next: { ...model, codes: { ...model.codes, [step]: { ...bound, used: false } } } };
  const pair: Pair = { ...bound, refreshable: false, root: step, generation: 0 };
  return { answer: 'token', next: { ...model, pairs: { ...model.pairs, [step]: pair } } };
}

function grant(model: Model, step: string, bound: Bound, place: Pick<Pair, 'root' | 'generation'>): Outcome {
  const pair: Pair = { ...bound, ...place, refreshable: true };
  return { answer: `200 grant: ${grantWords(bound)}`, next: { ...model, pairs: { ...model.pairs, [step]: pair } } };
}

function withEnd(model: Model, step: string, end: 'refreshed' | 'revoked'): Model {
  const pair = model.pairs[step];
  return pair === undefined ? model : { ...model, pairs: { ...model.pairs, [step]: { ...pair, end } } };
}

function unchanged(model: Model, answer: string): Outcome {
  return { answer, next: model };
}
