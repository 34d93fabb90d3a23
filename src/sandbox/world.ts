import { addCsrfToken, consumeCsrfToken } from './csrf-tokens.ts';
import {
  actionsOf,
  addDroplet,
  type CreatedDroplet,
  type DropletSpec,
  dropletsOf,
  removeDroplet,
} from './droplet-store.ts';
import {
  addCode,
  addTokenPair,
  type CodeState,
  deleteAuthorization,
  findAuthorization,
  getCodeState,
  getTokenPairState,
  latestSuccessor,
  saveAuthorization,
  type TokenPairState,
} from './grant-store.ts';
import type { MigrationStore } from './migration-store.ts';
import { type Random, randomString, randomUuid } from './random.ts';
import type {
  Authorization,
  AuthorizationCode,
  BrowserSession,
  ConsentScript,
  SandboxAction,
  SandboxDroplet,
  SandboxGrant,
  TokenPair,
} from './records.ts';
import { createRegistry, type Registry } from './registry.ts';
import type { SeedData } from './seed-data.ts';
import type { WorldImage } from './state/world-image.ts';
import { type ChangeListener, createWorldState, initialWorldImage, type WorldState } from './state/world-state.ts';
import { readVirtualTime, resumeClock, type VirtualClock } from './virtual-clock.ts';

/** All state of the sandbox and every transition of it; each method is one step that either happens whole or not at all. */
export class World {
  readonly #machine: () => number;
  readonly #chance: Random;
  #seed: SeedData;
  #directory: Registry;
  #state: WorldState;
  /** What a reset comes back to. */
  firstConsent: ConsentScript = { mode: 'ask' };
  #tell: ChangeListener = () => {};

  constructor(seed: SeedData, chance: Random, machine: () => number, image?: WorldImage) {
    this.#seed = seed;
    this.#machine = machine;
    this.#chance = chance;
    this.#directory = createRegistry(seed);
    this.#state = this.#stateOf(image ?? initialWorldImage(seed, machine()));
  }

  get seed(): SeedData {
    return this.#seed;
  }

  get registry(): Registry {
    return this.#directory;
  }

  /** To be read; changed by the methods below alone. */
  get state(): Readonly<WorldState> {
    return this.#state;
  }

  /** Is told of every change from now on, at the moment it happens. */
  onChange(tell: ChangeListener): void {
    this.#tell = tell;
  }

  /** Everything becomes as it was when the image was taken, the virtual time included. */
  restore(seed: SeedData, image: WorldImage, takenAt: number): void {
    this.#seed = seed;
    this.#directory = createRegistry(seed);
    const clock = resumeClock({ offset: 0, frozenAt: takenAt }, this.#machine());
    this.#state = this.#stateOf({ ...image, clock: image.clock.frozenAt === null ? clock : image.clock });
    this.#tell('everything');
  }

  reset(): void {
    this.#state = this.#stateOf({ ...initialWorldImage(this.seed, this.#machine()), consent: this.firstConsent });
    this.#tell('everything');
  }

  now(): number {
    return readVirtualTime(this.#state.clock, this.#machine());
  }

  get clock(): VirtualClock {
    return this.#state.clock;
  }

  /** Moves, freezes or resumes the clock. */
  setClock(change: (clock: VirtualClock, machine: number) => VirtualClock): void {
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

  signIn(person: string): BrowserSession {
    const session: BrowserSession = { id: randomString(this.#chance, 43), person, forms: [] };
    this.#state.sessions.put(session);
    return session;
  }

  session(id: string): BrowserSession | undefined {
    return this.#state.sessions.get(id);
  }

  signOut(id: string): void {
    this.#state.sessions.drop(id);
  }

  /** Makes the CSRF token of a form that is about to be shown. */
  issueCsrfToken({ id }: BrowserSession, form: string): string {
    const token = randomString(this.#chance, 32);
    const session = this.session(id);
    if (session !== undefined) this.#state.sessions.put(addCsrfToken(session, form, token));
    return token;
  }

  /** True once for each token, and only for the form it was made for. */
  consumeCsrfToken({ id }: BrowserSession, form: string, token: string): boolean {
    const session = this.session(id);
    const without = session === undefined ? undefined : consumeCsrfToken(session, form, token);
    if (without !== undefined) this.#state.sessions.put(without);
    return without !== undefined;
  }

  authorization(person: string, clientId: string): Authorization | undefined {
    return findAuthorization(this.#state.grants, person, clientId);
  }

  authorizationsOf(person: string): readonly Authorization[] {
    return this.seed.applications.flatMap(({ clientId }) => this.authorization(person, clientId) ?? []);
  }

  authorize(wanted: Omit<SandboxGrant, 'authorization'>): Authorization {
    return saveAuthorization(this.#state.grants, this.#chance, wanted, this.now());
  }

  revokeAuthorization(authorization: Authorization): void {
    deleteAuthorization(this.#state.grants, authorization);
  }

  issueCode(mandate: SandboxGrant, redirectUri: string, challenge: string | undefined): AuthorizationCode {
    return addCode(this.#state.grants, this.#chance, mandate, { redirectUri, challenge, now: this.now() });
  }

  code(value: string): AuthorizationCode | undefined {
    return this.#state.grants.codes.get(value);
  }

  codeState(code: AuthorizationCode): CodeState {
    return getCodeState(this.#state.grants, code, this.now());
  }

  exchange(code: AuthorizationCode): TokenPair {
    const pair = this.issuePair(code, true);
    this.#state.grants.codes.put({ ...code, usedFor: pair.accessToken });
    return pair;
  }

  issuePair(mandate: SandboxGrant, isRefreshable: boolean): TokenPair {
    return addTokenPair(this.#state.grants, this.#chance, mandate, { isRefreshable, now: this.now() });
  }

  pair(accessToken: string): TokenPair | undefined {
    return this.#state.grants.pairs.get(accessToken);
  }

  pairByRefreshToken(refreshToken: string): TokenPair | undefined {
    return this.pair(this.#state.grants.refreshTokens.get(refreshToken) ?? '');
  }

  pairState(pair: TokenPair): TokenPairState {
    return getTokenPairState(this.#state.grants, pair, this.now());
  }

  refresh(pair: TokenPair): TokenPair {
    const successor = this.issuePair(pair, true);
    this.#replace(pair, { end: 'refreshed', successor: successor.accessToken });
    return successor;
  }

  revoke(pair: TokenPair): void {
    if (pair.end === undefined) this.#replace(pair, { end: 'revoked' });
  }

  revokeSuccessors(accessToken: string): void {
    const pair = latestSuccessor(this.#state.grants, accessToken);
    if (pair !== undefined) this.revoke(pair);
  }

  expire(pair: TokenPair): void {
    this.#replace(pair, { expiresAt: Math.min(pair.expiresAt, this.now()) });
  }

  createDroplets(account: string, names: readonly string[], blueprint: DropletSpec): readonly CreatedDroplet[] {
    const at = this.now();
    return names.map((name) => addDroplet(this.#state.fleet, account, name, blueprint, at));
  }

  deleteDroplet(droplet: SandboxDroplet): void {
    removeDroplet(this.#state.fleet, droplet, this.now());
  }

  droplet(id: number): SandboxDroplet | undefined {
    return this.#state.fleet.droplets.get(id);
  }

  droplets(account: string): readonly SandboxDroplet[] {
    return dropletsOf(this.#state.fleet, account);
  }

  action(id: number): SandboxAction | undefined {
    return this.#state.fleet.actions.get(id);
  }

  /** Oldest first. */
  actions(account: string): readonly SandboxAction[] {
    return actionsOf(this.#state.fleet, account);
  }

  /** Changed by the functions of migrations.ts alone. */
  get migrations(): MigrationStore {
    return this.#state.migrations;
  }

  newId(): string {
    return randomUuid(this.#chance);
  }

  #replace(pair: TokenPair, change: Partial<TokenPair>): void {
    this.#state.grants.pairs.put({ ...pair, ...change });
  }

  #stateOf(image: WorldImage): WorldState {
    return createWorldState(image, (part, key) => this.#tell(part, key));
  }
}
