import { type Chance, letters, uuid } from './chance.ts';
import { type ClockState, readClock, resumeClock } from './clock.ts';
import { createDirectory, type Directory } from './directory.ts';
import { actionsOf, addDroplet, type Birth, type Blueprint, dropletsOf, removeDroplet } from './fleet.ts';
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
import type { WorldImage } from './state/image.ts';
import { firstImage, type OnChange, stateOf, type WorldState } from './state/world-state.ts';
import {
  type CodeFate,
  codeFate,
  dropAuthorization,
  findAuthorization,
  lastDescendant,
  type PairFate,
  pairFate,
  putAuthorization,
  putCode,
  putPair,
} from './vault.ts';

/** All state of the sandbox and every transition of it; each method is one step that either happens whole or not at all. */
export class World {
  readonly #machine: () => number;
  readonly #chance: Chance;
  #seed: Seed;
  #directory: Directory;
  #state: WorldState;
  /** What a reset comes back to. */
  firstConsent: ConsentScript = { mode: 'ask' };
  #tell: OnChange = () => {};

  constructor(seed: Seed, chance: Chance, machine: () => number, image?: WorldImage) {
    this.#seed = seed;
    this.#machine = machine;
    this.#chance = chance;
    this.#directory = createDirectory(seed);
    this.#state = this.#stateOf(image ?? firstImage(seed, machine()));
  }

  get seed(): Seed {
    return this.#seed;
  }

  get directory(): Directory {
    return this.#directory;
  }

  /** To be read; changed by the methods below alone. */
  get state(): Readonly<WorldState> {
    return this.#state;
  }

  /** Is told of every change from now on, at the moment it happens. */
  watch(tell: OnChange): void {
    this.#tell = tell;
  }

  /** Everything becomes as it was when the image was taken, the virtual time included. */
  replace(seed: Seed, image: WorldImage, takenAt: number): void {
    this.#seed = seed;
    this.#directory = createDirectory(seed);
    const clock = resumeClock({ offset: 0, frozenAt: takenAt }, this.#machine());
    this.#state = this.#stateOf({ ...image, clock: image.clock.frozenAt === null ? clock : image.clock });
    this.#tell('everything');
  }

  reset(): void {
    this.#state = this.#stateOf({ ...firstImage(this.seed, this.#machine()), consent: this.firstConsent });
    this.#tell('everything');
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
    this.#tell('clock');
  }

  get consent(): ConsentScript {
    return this.#state.consent;
  }

  set consent(script: ConsentScript) {
    this.#state.consent = script;
    this.#tell('consent');
  }

  signIn(person: string): Session {
    const session: Session = { id: letters(this.#chance, 43), person, forms: [] };
    this.#state.sessions.put(session);
    return session;
  }

  session(id: string): Session | undefined {
    return this.#state.sessions.get(id);
  }

  signOut(id: string): void {
    this.#state.sessions.drop(id);
  }

  /** Makes the CSRF token of a form that is about to be shown. */
  openForm({ id }: Session, form: string): string {
    const token = letters(this.#chance, 32);
    const session = this.session(id);
    if (session !== undefined) this.#state.sessions.put(openForm(session, form, token));
    return token;
  }

  /** True once for each token, and only for the form it was made for. */
  closeForm({ id }: Session, form: string, token: string): boolean {
    const session = this.session(id);
    const without = session === undefined ? undefined : closeForm(session, form, token);
    if (without !== undefined) this.#state.sessions.put(without);
    return without !== undefined;
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
    return putCode(this.#state.vault, this.#chance, mandate, { redirectUri, challenge, now: this.now() });
  }

  code(value: string): AuthorizationCode | undefined {
    return this.#state.vault.codes.get(value);
  }

  codeFate(code: AuthorizationCode): CodeFate {
    return codeFate(this.#state.vault, code, this.now());
  }

  exchange(code: AuthorizationCode): TokenPair {
    const pair = this.issuePair(code, true);
    this.#state.vault.codes.put({ ...code, usedFor: pair.accessToken });
    return pair;
  }

  issuePair(mandate: Mandate, isRefreshable: boolean): TokenPair {
    return putPair(this.#state.vault, this.#chance, mandate, { isRefreshable, now: this.now() });
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
    this.#state.vault.pairs.put({ ...pair, ...change });
  }

  #stateOf(image: WorldImage): WorldState {
    return stateOf(image, (part, key) => this.#tell(part, key));
  }
}
