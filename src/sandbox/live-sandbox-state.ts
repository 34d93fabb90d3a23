import { addCsrfTokenToSession, consumeCsrfToken } from './csrf-token.ts';
import {
  addSandboxDroplet,
  type CreatedSandboxDroplet,
  type DropletSpec,
  listSandboxActionsOfAccount,
  listSandboxDropletsOfAccount,
  removeSandboxDroplet,
} from './droplet-store.ts';
import {
  type AuthorizationCodeStatus,
  addAuthorizationCode,
  addTokenPair,
  authorizationsOfPerson,
  findLatestAuthorizationOfPerson,
  findLatestTokenPairSuccessor,
  getAuthorizationCodeStatus,
  getIssuedTokenPairState,
  issueTokensForAuthorizationCode,
  replaceTokenPair,
  revokeApplicationAuthorizationInStore,
  saveApplicationAuthorization,
  type TokenPairState,
} from './grant-store.ts';
import { type Random, randomString, randomUuid } from './random.ts';
import type {
  ApplicationAuthorization,
  AuthorizationCode,
  AuthorizationConsentMode,
  IssuedTokenPair,
  SandboxBrowserSession,
  SandboxDroplet,
  SandboxDropletAction,
  SandboxGrant,
  TokenIssuance,
} from './records.ts';
import type { SandboxSeedData } from './seed-data.ts';
import { createSandboxSeedDataIndex, type SandboxSeedDataIndex } from './seed-data-index.ts';
import type { SandboxState } from './state/sandbox-state.ts';
import {
  createRunningSandboxState,
  initialSandboxState,
  type MutableSandboxState,
  type SandboxStateChangeListener,
} from './state/world-state.ts';
import { readVirtualTime, resumeVirtualClock, type VirtualClockState } from './virtual-clock.ts';

/** The state of the sandbox and all changes of the state. Every method is synchronous, so no request can see a partial change. */
export class LiveSandboxState {
  readonly #systemTime: () => number;
  readonly #random: Random;
  #seed: SandboxSeedData;
  #registry: SandboxSeedDataIndex;
  #state: MutableSandboxState;
  /** The consent script that applies after a reset. */
  firstConsent: AuthorizationConsentMode = { mode: 'ask' };
  #notify: SandboxStateChangeListener = () => {};

  constructor(seed: SandboxSeedData, random: Random, systemTime: () => number, image?: SandboxState) {
    this.#seed = seed;
    this.#systemTime = systemTime;
    this.#random = random;
    this.#registry = createSandboxSeedDataIndex(seed);
    this.#state = this.#createState(image ?? initialSandboxState(seed, systemTime()));
  }

  get seed(): SandboxSeedData {
    return this.#seed;
  }

  get registry(): SandboxSeedDataIndex {
    return this.#registry;
  }

  /** The state of the sandbox. Callers only read it: only the methods of this class and of the stores change the state. */
  get state(): Readonly<MutableSandboxState> {
    return this.#state;
  }

  /** Registers the function that is called synchronously at every change of the state, in place of the previous one. */
  onChange(listener: SandboxStateChangeListener): void {
    this.#notify = listener;
  }

  /** Replaces the whole state of the sandbox. After the replacement the virtual clock continues from `takenAt`, in milliseconds. */
  restore(seed: SandboxSeedData, image: SandboxState, takenAt: number): void {
    this.#seed = seed;
    this.#registry = createSandboxSeedDataIndex(seed);
    const clock = resumeVirtualClock({ offset: 0, frozenAt: takenAt }, this.#systemTime());
    this.#state = this.#createState({ ...image, clock: image.clock.frozenAt === null ? clock : image.clock });
    this.#notify('everything');
  }

  reset(): void {
    this.#state = this.#createState({
      ...initialSandboxState(this.seed, this.#systemTime()),
      consent: this.firstConsent,
    });
    this.#notify('everything');
  }

  now(): number {
    return readVirtualTime(this.#state.clock, this.#systemTime());
  }

  get clock(): VirtualClockState {
    return this.#state.clock;
  }

  /** Advances, freezes or resumes the virtual clock. */
  setClock(change: (clock: VirtualClockState, systemTime: number) => VirtualClockState): void {
    this.#state.clock = change(this.#state.clock, this.#systemTime());
    this.#notify('clock');
  }

  get consent(): AuthorizationConsentMode {
    return this.#state.consent;
  }

  set consent(script: AuthorizationConsentMode) {
    this.#state.consent = script;
    this.#notify('consent');
  }

  signIn(person: string): SandboxBrowserSession {
    const session: SandboxBrowserSession = { id: randomString(this.#random, 43), person, forms: [] };
    this.#state.tables.sessions.put(session);
    return session;
  }

  session(id: string): SandboxBrowserSession | undefined {
    return this.#state.tables.sessions.get(id);
  }

  signOut(id: string): void {
    this.#state.tables.sessions.drop(id);
  }

  /** Creates a CSRF token for one submission of the form. */
  issueCsrfToken({ id }: SandboxBrowserSession, form: string): string {
    const token = randomString(this.#random, 32);
    const session = this.session(id);
    if (session !== undefined) this.#state.tables.sessions.put(addCsrfTokenToSession(session, form, token));
    return token;
  }

  /** Whether the CSRF token is unused and was issued for this form; the call consumes the token. */
  consumeCsrfToken({ id }: SandboxBrowserSession, form: string, token: string): boolean {
    const session = this.session(id);
    const updated = session === undefined ? undefined : consumeCsrfToken(session, form, token);
    if (updated !== undefined) this.#state.tables.sessions.put(updated);
    return updated !== undefined;
  }

  latestAuthorization(person: string, clientId: string): ApplicationAuthorization | undefined {
    return findLatestAuthorizationOfPerson(this.#state.grantStore, person, clientId);
  }

  authorizationsOf(person: string): readonly ApplicationAuthorization[] {
    return authorizationsOfPerson(this.#state.grantStore, person);
  }

  authorize(grant: Omit<SandboxGrant, 'authorization'>): ApplicationAuthorization {
    return saveApplicationAuthorization(this.#state.grantStore, this.#random, grant, this.now());
  }

  revokeAuthorization(authorization: ApplicationAuthorization): void {
    revokeApplicationAuthorizationInStore(this.#state.grantStore, authorization);
  }

  issueCode(grant: SandboxGrant, redirectUri: string, challenge: string | undefined): AuthorizationCode {
    const request = { redirectUri, challenge, now: this.now() };
    return addAuthorizationCode(this.#state.grantStore, this.#random, grant, request);
  }

  code(value: string): AuthorizationCode | undefined {
    return this.#state.tables.codes.get(value);
  }

  codeState(code: AuthorizationCode): AuthorizationCodeStatus {
    return getAuthorizationCodeStatus(this.#state.grantStore, code, this.now());
  }

  exchange(code: AuthorizationCode): IssuedTokenPair {
    return issueTokensForAuthorizationCode(this.#state.grantStore, this.#random, code, this.now());
  }

  issuePair(grant: SandboxGrant, by: 'implicit' | 'admin_issue'): IssuedTokenPair {
    return addTokenPair(this.#state.grantStore, this.#random, grant, { issue: { by }, now: this.now() });
  }

  pair(accessToken: string): IssuedTokenPair | undefined {
    return this.#state.tables.pairs.get(accessToken);
  }

  pairByRefreshToken(refreshToken: string): IssuedTokenPair | undefined {
    return this.pair(this.#state.grantStore.refreshTokens.get(refreshToken) ?? '');
  }

  pairState(pair: IssuedTokenPair): TokenPairState {
    return getIssuedTokenPairState(this.#state.grantStore, pair, this.now());
  }

  refresh(pair: IssuedTokenPair, issue: Omit<TokenIssuance, 'chain'>): IssuedTokenPair {
    return replaceTokenPair(this.#state.grantStore, this.#random, pair, { issue, now: this.now() });
  }

  revoke(pair: IssuedTokenPair): void {
    if (pair.end === undefined) this.#state.tables.pairs.put({ ...pair, end: 'revoked' });
  }

  revokeSuccessors(accessToken: string): void {
    const pair = findLatestTokenPairSuccessor(this.#state.grantStore, accessToken);
    if (pair !== undefined) this.revoke(pair);
  }

  expire(pair: IssuedTokenPair): void {
    this.#state.tables.pairs.put({ ...pair, expiresAt: Math.min(pair.expiresAt, this.now()) });
  }

  createDroplets(account: string, names: readonly string[], spec: DropletSpec): readonly CreatedSandboxDroplet[] {
    const at = this.now();
    return names.map((name) => addSandboxDroplet(this.#state.dropletStore, account, name, spec, at));
  }

  deleteDroplet(droplet: SandboxDroplet): void {
    removeSandboxDroplet(this.#state.dropletStore, droplet, this.now());
  }
  droplet(id: number): SandboxDroplet | undefined {
    return this.#state.tables.droplets.get(id);
  }
  droplets(account: string): readonly SandboxDroplet[] {
    return listSandboxDropletsOfAccount(this.#state.dropletStore, account);
  }
  action(id: number): SandboxDropletAction | undefined {
    return this.#state.tables.actions.get(id);
  }

  /** Oldest first. */
  actions(account: string): readonly SandboxDropletAction[] {
    return listSandboxActionsOfAccount(this.#state.dropletStore, account);
  }
  newId(): string {
    return randomUuid(this.#random);
  }

  #createState(image: SandboxState): MutableSandboxState {
    return createRunningSandboxState(image, (part, key) => this.#notify(part, key));
  }
}
