import { type Chance, letters } from './chance.ts';
import { advanceClock, type ClockState, freezeClock, REAL_TIME, readClock, resumeClock } from './clock.ts';
import {
  actionsOf,
  addDroplet,
  type Birth,
  type Blueprint,
  dropletsOf,
  emptyFleet,
  type Fleet,
  removeDroplet,
} from './fleet.ts';
import type {
  Action,
  Application,
  Authorization,
  AuthorizationCode,
  ConsentScript,
  Droplet,
  Mandate,
  Person,
  Scope,
  Session,
  Team,
  TokenPair,
} from './records.ts';
import type { Seed } from './seed.ts';

export const CODE_LIFETIME_MS = 10 * 60_000;
export const ACCESS_TOKEN_LIFETIME_MS = 30 * 86_400_000;

/** Everything that changes, as one value of plain records. */
interface WorldState {
  clock: ClockState;
  consent: ConsentScript;
  readonly sessions: Map<string, Session>;
  readonly authorizations: Map<string, Authorization>;
  /** Authorization ids by `person client`. */
  readonly authorizationIds: Map<string, string>;
  readonly codes: Map<string, AuthorizationCode>;
  /** By access token. */
  readonly pairs: Map<string, TokenPair>;
  /** Access tokens by the refresh token issued with them. */
  readonly refreshTokens: Map<string, string>;
  readonly fleet: Fleet;
}

/** All state of the sandbox and every transition of it; each method is one step that either happens whole or not at all. */
export class World {
  readonly seed: Seed;
  readonly #machine: () => number;
  readonly #chance: Chance;
  readonly #people: ReadonlyMap<string, Person>;
  readonly #peopleByEmail: ReadonlyMap<string, Person>;
  readonly #teams: ReadonlyMap<string, Team>;
  readonly #applications: ReadonlyMap<string, Application>;
  #state: WorldState;

  constructor(seed: Seed, chance: Chance, machine: () => number) {
    this.seed = seed;
    this.#machine = machine;
    this.#chance = chance;
    this.#people = new Map(seed.people.map((person) => [person.uuid, person]));
    this.#peopleByEmail = new Map(seed.people.map((person) => [person.email, person]));
    this.#teams = new Map(seed.teams.map((team) => [team.uuid, team]));
    this.#applications = new Map(seed.applications.map((application) => [application.clientId, application]));
    this.#state = grown(seed, machine());
  }

  reset(): void {
    this.#state = grown(this.seed, this.#machine());
  }

  // Time

  now(): number {
    return readClock(this.#state.clock, this.#machine());
  }

  get clock(): ClockState {
    return this.#state.clock;
  }

  advance(milliseconds: number): void {
    this.#state.clock = advanceClock(this.#state.clock, milliseconds);
  }

  freeze(): void {
    this.#state.clock = freezeClock(this.#state.clock, this.#machine());
  }

  resume(): void {
    this.#state.clock = resumeClock(this.#state.clock, this.#machine());
  }

  // People and applications

  application(clientId: string): Application | undefined {
    return this.#applications.get(clientId);
  }

  person(uuid: string): Person | undefined {
    return this.#people.get(uuid);
  }

  personByEmail(email: string): Person | undefined {
    return this.#peopleByEmail.get(email.trim().toLowerCase());
  }

  team(uuid: string): Team | undefined {
    return this.#teams.get(uuid);
  }

  get consent(): ConsentScript {
    return this.#state.consent;
  }

  set consent(script: ConsentScript) {
    this.#state.consent = script;
  }

  // Browser sessions

  signIn(person: string): Session {
    const session: Session = { id: letters(this.#chance, 43), person, forms: new Map() };
    this.#state.sessions.set(session.id, session);
    return session;
  }

  session(id: string): Session | undefined {
    return this.#state.sessions.get(id);
  }

  signOut(id: string): void {
    this.#state.sessions.delete(id);
  }

  /** A CSRF token for one showing of one form; of many open tabs the oldest are forgotten. */
  openForm(session: Session, form: string): string {
    const token = letters(this.#chance, 32);
    session.forms.set(token, form);
    for (const oldest of session.forms.keys()) {
      if (session.forms.size <= OPEN_FORMS) break;
      session.forms.delete(oldest);
    }
    return token;
  }

  /** True once for each token, and only for the form it was made for. */
  closeForm(session: Session, form: string, token: string): boolean {
    if (session.forms.get(token) !== form) return false;
    return session.forms.delete(token);
  }

  // Authorizations

  authorization(person: string, clientId: string): Authorization | undefined {
    return this.#state.authorizations.get(this.#state.authorizationIds.get(`${person} ${clientId}`) ?? '');
  }

  authorizationsOf(person: string): readonly Authorization[] {
    return this.seed.applications.flatMap(({ clientId }) => this.authorization(person, clientId) ?? []);
  }

  /** Remembers an approval; in the same context a narrower one does not take back a wider one. */
  authorize(person: string, clientId: string, scope: Scope, team: string | undefined): Authorization {
    const known = this.authorization(person, clientId);
    const keepsWider = known !== undefined && known.team === team && known.scope === 'read write';
    const authorization: Authorization = {
      id: known?.id ?? letters(this.#chance, 24),
      person,
      clientId,
      scope: keepsWider ? 'read write' : scope,
      ...(team === undefined ? {} : { team }),
      since: known?.since ?? this.now(),
    };
    this.#state.authorizations.set(authorization.id, authorization);
    this.#state.authorizationIds.set(`${person} ${clientId}`, authorization.id);
    return authorization;
  }

  /** Everything that was issued under the authorization dies with it. */
  withdraw(authorization: Authorization): void {
    this.#state.authorizations.delete(authorization.id);
    this.#state.authorizationIds.delete(`${authorization.person} ${authorization.clientId}`);
  }

  // Codes and tokens

  issueCode(mandate: Mandate, redirectUri: string, challenge: string | undefined): AuthorizationCode {
    const code: AuthorizationCode = {
      ...mandate,
      code: letters(this.#chance, 43),
      redirectUri,
      ...(challenge === undefined ? {} : { challenge }),
      expiresAt: this.now() + CODE_LIFETIME_MS,
    };
    this.#state.codes.set(code.code, code);
    return code;
  }

  code(value: string): AuthorizationCode | undefined {
    return this.#state.codes.get(value);
  }

  codeFate(code: AuthorizationCode): 'valid' | 'used' | 'revoked' | 'expired' {
    if (code.usedFor !== undefined) return 'used';
    if (!this.#state.authorizations.has(code.authorization)) return 'revoked';
    return this.now() < code.expiresAt ? 'valid' : 'expired';
  }

  exchange(code: AuthorizationCode): TokenPair {
    const pair = this.issuePair(code, true);
    this.#state.codes.set(code.code, { ...code, usedFor: pair.accessToken });
    return pair;
  }

  issuePair(mandate: Mandate, refreshable: boolean): TokenPair {
    const { authorization, person, clientId, scope, team } = mandate;
    const issuedAt = this.now();
    const pair: TokenPair = {
      authorization,
      person,
      clientId,
      scope,
      ...(team === undefined ? {} : { team }),
      accessToken: this.#token(),
      ...(refreshable ? { refreshToken: this.#token() } : {}),
      issuedAt,
      expiresAt: issuedAt + ACCESS_TOKEN_LIFETIME_MS,
    };
    this.#state.pairs.set(pair.accessToken, pair);
    if (pair.refreshToken !== undefined) this.#state.refreshTokens.set(pair.refreshToken, pair.accessToken);
    return pair;
  }

  pair(accessToken: string): TokenPair | undefined {
    return this.#state.pairs.get(accessToken);
  }

  pairByRefreshToken(refreshToken: string): TokenPair | undefined {
    return this.pair(this.#state.refreshTokens.get(refreshToken) ?? '');
  }

  pairFate(pair: TokenPair): 'valid' | 'expired' | 'revoked' | 'refreshed' {
    if (pair.end !== undefined) return pair.end;
    if (!this.#state.authorizations.has(pair.authorization)) return 'revoked';
    return this.now() < pair.expiresAt ? 'valid' : 'expired';
  }

  refresh(pair: TokenPair): TokenPair {
    const successor = this.issuePair(pair, true);
    this.#state.pairs.set(pair.accessToken, { ...pair, end: 'refreshed', successor: successor.accessToken });
    return successor;
  }

  revoke(pair: TokenPair): void {
    if (pair.end === undefined) this.#state.pairs.set(pair.accessToken, { ...pair, end: 'revoked' });
  }

  /** Revokes what a pair has become by refreshing, however often. */
  revokeDescendants(accessToken: string): void {
    let pair = this.pair(accessToken);
    while (pair?.successor !== undefined) pair = this.pair(pair.successor);
    if (pair !== undefined) this.revoke(pair);
  }

  expire(pair: TokenPair): void {
    this.#state.pairs.set(pair.accessToken, { ...pair, expiresAt: Math.min(pair.expiresAt, this.now()) });
  }

  // Droplets

  createDroplets(account: string, names: readonly string[], blueprint: Blueprint): readonly Birth[] {
    const at = this.now();
    return names.map((name) => addDroplet(this.#state.fleet, account, name, blueprint, at));
  }

  deleteDroplet(droplet: Droplet): void {
    removeDroplet(this.#state.fleet, droplet, this.now());
  }

  droplet(id: number): Droplet | undefined {
    return this.#state.fleet.droplets.get(id);
  }

  droplets(account: string): readonly Droplet[] {
    return dropletsOf(this.#state.fleet, account);
  }

  action(id: number): Action | undefined {
    return this.#state.fleet.actions.get(id);
  }

  /** Oldest first. */
  actions(account: string): readonly Action[] {
    return actionsOf(this.#state.fleet, account);
  }

  #token(): string {
    return `sandbox_${letters(this.#chance, 48)}`;
  }
}

const OPEN_FORMS = 64;

function grown(seed: Seed, now: number): WorldState {
  const fleet = emptyFleet(seed.firstId);
  for (const { account, name, age, ...blueprint } of seed.droplets) {
    addDroplet(fleet, account, name, { ...blueprint, features: [] }, now - age);
  }
  return {
    clock: REAL_TIME,
    consent: { mode: 'ask' },
    sessions: new Map(),
    authorizations: new Map(),
    authorizationIds: new Map(),
    codes: new Map(),
    pairs: new Map(),
    refreshTokens: new Map(),
    fleet,
  };
}
