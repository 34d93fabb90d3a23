import {
  addSandboxDroplet,
  type CreatedSandboxDroplet,
  type DropletSpec,
  listSandboxActionsOfAccount,
  listSandboxDropletsOfAccount,
  removeSandboxDroplet,
} from './droplet-store.ts';
import type { SandboxGrantStore } from './grant-store.ts';
import { type Random, randomString, randomUuid } from './random.ts';
import type {
  AuthorizationConsentMode,
  SandboxBrowserSession,
  SandboxDroplet,
  SandboxDropletAction,
} from './records.ts';
import { createSandboxSeedDataIndex, type SandboxSeedData, type SandboxSeedDataIndex } from './seed.ts';
import type { SandboxState } from './state/tables.ts';
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

  get grants(): SandboxGrantStore {
    return this.#state.grantStore;
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
    return createRunningSandboxState(image, { random: this.#random, now: () => this.now() }, (part, key) =>
      this.#notify(part, key),
    );
  }
}

/** Adds a CSRF token that is valid for one submission of the form. A browser session keeps its latest 64 CSRF tokens. */
export function addCsrfTokenToSession(
  session: SandboxBrowserSession,
  form: string,
  token: string,
): SandboxBrowserSession {
  return { ...session, forms: [...session.forms, { token, form }].slice(-MAX_TOKENS) };
}

/** Returns the browser session without the CSRF token; undefined when the token is unknown or belongs to another form. */
export function consumeCsrfToken(
  session: SandboxBrowserSession,
  form: string,
  token: string,
): SandboxBrowserSession | undefined {
  const forms = session.forms.filter((one) => one.token !== token || one.form !== form);
  return forms.length === session.forms.length ? undefined : { ...session, forms };
}

const MAX_TOKENS = 64;
