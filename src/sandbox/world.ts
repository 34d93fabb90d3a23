import { type Chance, letters, uuid } from './chance.ts';
import { type ClockState, REAL_TIME, readClock } from './clock.ts';
import { createDirectory, type Directory } from './directory.ts';
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
import { closeForm, openForm } from './forms.ts';
import type { Migrations } from './migrations.ts';
import type {
  Action,
  Authorization,
  AuthorizationCode,
  ConsentScript,
  Droplet,
  Mandate,
  Session,
  TokenPair,
} from './records.ts';
import type { Seed } from './seed.ts';
import {
  type CodeFate,
  codeFate,
  dropAuthorization,
  emptyVault,
  findAuthorization,
  lastDescendant,
  type PairFate,
  pairFate,
  putAuthorization,
  putPair,
  type Vault,
} from './vault.ts';

const CODE_LIFETIME_MS = 10 * 60_000;
const ACCESS_TOKEN_LIFETIME_MS = 30 * 86_400_000;

/** Everything that changes, as one value of plain records. */
interface WorldState {
  clock: ClockState;
  consent: ConsentScript;
  readonly sessions: Map<string, Session>;
  readonly vault: Vault;
  readonly fleet: Fleet;
  readonly migrations: Migrations;
}

/** All state of the sandbox and every transition of it; each method is one step that either happens whole or not at all. */
export class World {
  readonly seed: Seed;
  readonly directory: Directory;
  readonly #machine: () => number;
  readonly #chance: Chance;
  #state: WorldState;

  constructor(seed: Seed, chance: Chance, machine: () => number) {
    this.seed = seed;
    this.#machine = machine;
    this.#chance = chance;
    this.directory = createDirectory(seed);
    this.#state = grown(seed, machine());
  }

  reset(): void {
    this.#state = grown(this.seed, this.#machine());
  }

  now(): number {
    return readClock(this.#state.clock, this.#machine());
  }

  get clock(): ClockState {
    return this.#state.clock;
  }

  /** Moves, freezes or resumes the clock. */
  setClock(change: (clock: ClockState, machine: number) => ClockState): void {
    this.#state.clock = change(this.#state.clock, this.#machine());
  }

  get consent(): ConsentScript {
    return this.#state.consent;
  }

  set consent(script: ConsentScript) {
    this.#state.consent = script;
  }

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

  openForm(session: Session, form: string): string {
    return openForm(session, form, letters(this.#chance, 32));
  }

  closeForm(session: Session, form: string, token: string): boolean {
    return closeForm(session, form, token);
  }

  authorization(person: string, clientId: string): Authorization | undefined {
    return findAuthorization(this.#state.vault, person, clientId);
  }

  authorizationsOf(person: string): readonly Authorization[] {
    return this.seed.applications.flatMap(({ clientId }) => this.authorization(person, clientId) ?? []);
  }

  authorize(wanted: Omit<Mandate, 'authorization'>): Authorization {
    return putAuthorization(this.#state.vault, this.#chance, wanted, this.now());
  }

  withdraw(authorization: Authorization): void {
    dropAuthorization(this.#state.vault, authorization);
  }

  issueCode(mandate: Mandate, redirectUri: string, challenge: string | undefined): AuthorizationCode {
    const code: AuthorizationCode = {
      ...mandate,
      code: letters(this.#chance, 43),
      redirectUri,
      ...(challenge === undefined ? {} : { challenge }),
      expiresAt: this.now() + CODE_LIFETIME_MS,
    };
    this.#state.vault.codes.set(code.code, code);
    return code;
  }

  code(value: string): AuthorizationCode | undefined {
    return this.#state.vault.codes.get(value);
  }

  codeFate(code: AuthorizationCode): CodeFate {
    return codeFate(this.#state.vault, code, this.now());
  }

  exchange(code: AuthorizationCode): TokenPair {
    const pair = this.issuePair(code, true);
    this.#state.vault.codes.set(code.code, { ...code, usedFor: pair.accessToken });
    return pair;
  }

  issuePair(mandate: Mandate, isRefreshable: boolean): TokenPair {
    const issuedAt = this.now();
    const times = { issuedAt, expiresAt: issuedAt + ACCESS_TOKEN_LIFETIME_MS };
    return putPair(this.#state.vault, this.#chance, mandate, times, isRefreshable);
  }

  pair(accessToken: string): TokenPair | undefined {
    return this.#state.vault.pairs.get(accessToken);
  }

  pairByRefreshToken(refreshToken: string): TokenPair | undefined {
    return this.pair(this.#state.vault.refreshTokens.get(refreshToken) ?? '');
  }

  pairFate(pair: TokenPair): PairFate {
    return pairFate(this.#state.vault, pair, this.now());
  }

  refresh(pair: TokenPair): TokenPair {
    const successor = this.issuePair(pair, true);
    this.#replace(pair, { end: 'refreshed', successor: successor.accessToken });
    return successor;
  }

  revoke(pair: TokenPair): void {
    if (pair.end === undefined) this.#replace(pair, { end: 'revoked' });
  }

  revokeDescendants(accessToken: string): void {
    const pair = lastDescendant(this.#state.vault, accessToken);
    if (pair !== undefined) this.revoke(pair);
  }

  expire(pair: TokenPair): void {
    this.#replace(pair, { expiresAt: Math.min(pair.expiresAt, this.now()) });
  }

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

  /** Changed by the functions of migrations.ts alone. */
  get migrations(): Migrations {
    return this.#state.migrations;
  }

  newId(): string {
    return uuid(this.#chance);
  }

  #replace(pair: TokenPair, change: Partial<TokenPair>): void {
    this.#state.vault.pairs.set(pair.accessToken, { ...pair, ...change });
  }
}

function grown(seed: Seed, now: number): WorldState {
  const fleet = emptyFleet(seed.firstId);
  for (const { account, name, age, ...blueprint } of seed.droplets) {
    addDroplet(fleet, account, name, { ...blueprint, features: [] }, now - age);
  }
  return {
    clock: REAL_TIME,
    consent: { mode: 'ask' },
    sessions: new Map(),
    vault: emptyVault(),
    fleet,
    migrations: new Map(),
  };
}
