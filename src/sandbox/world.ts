import type { DropletStore } from './droplet-store.ts';
import type { GrantStore } from './grant-store.ts';
import type { MigrationStore } from './migration-store.ts';
import { type Random, randomUuid } from './random.ts';
import type { ConsentMode } from './records.ts';
import { indexSeed, type Seed, type SeedIndex } from './seed.ts';
import type { SessionStore } from './session-store.ts';
import type { State } from './state/tables.ts';
import { type ChangeListener, createState, initialState, type RunningState } from './state/world-state.ts';
import { type ClockState, readClock, resumeClock } from './virtual-clock.ts';

/**
 * The state of the sandbox: its clock and consent script, and the stores that own the rest. Every method is synchronous, so no
 * request can see a partial change. A reset or a restored snapshot replaces the stores, so no caller keeps a reference to them.
 */
export class World {
  readonly #systemTime: () => number;
  readonly #random: Random;
  #seed: Seed;
  #registry: SeedIndex;
  #state: RunningState;
  /** The consent script that applies after a reset. */
  firstConsent: ConsentMode = { mode: 'ask' };
  #notify: ChangeListener = () => {};

  constructor(seed: Seed, random: Random, systemTime: () => number, image?: State) {
    this.#seed = seed;
    this.#systemTime = systemTime;
    this.#random = random;
    this.#registry = indexSeed(seed);
    this.#state = this.#createState(image ?? initialState(seed, systemTime()));
  }

  get seed(): Seed {
    return this.#seed;
  }

  get registry(): SeedIndex {
    return this.#registry;
  }

  /** The state of the sandbox. Callers only read it: only the methods of this class and of the stores change the state. */
  get state(): Readonly<RunningState> {
    return this.#state;
  }

  /** Registers the function that is called synchronously at every change of the state, in place of the previous one. */
  onChange(listener: ChangeListener): void {
    this.#notify = listener;
  }

  /** Replaces the whole state of the sandbox. After the replacement the virtual clock continues from `takenAt`, in milliseconds. */
  restore(seed: Seed, image: State, takenAt: number): void {
    this.#seed = seed;
    this.#registry = indexSeed(seed);
    const clock = resumeClock({ offset: 0, frozenAt: takenAt }, this.#systemTime());
    this.#state = this.#createState({ ...image, clock: image.clock.frozenAt === null ? clock : image.clock });
    this.#notify('everything');
  }

  reset(): void {
    this.#state = this.#createState({
      ...initialState(this.seed, this.#systemTime()),
      consent: this.firstConsent,
    });
    this.#notify('everything');
  }

  now(): number {
    return readClock(this.#state.clock, this.#systemTime());
  }

  get clock(): ClockState {
    return this.#state.clock;
  }

  /** Advances, freezes or resumes the virtual clock. */
  setClock(change: (clock: ClockState, systemTime: number) => ClockState): void {
    this.#state.clock = change(this.#state.clock, this.#systemTime());
    this.#notify('clock');
  }

  get consent(): ConsentMode {
    return this.#state.consent;
  }

  set consent(script: ConsentMode) {
    this.#state.consent = script;
    this.#notify('consent');
  }

  get sessions(): SessionStore {
    return this.#state.sessions;
  }

  get grants(): GrantStore {
    return this.#state.grants;
  }

  get droplets(): DropletStore {
    return this.#state.droplets;
  }

  get migrations(): MigrationStore {
    return this.#state.migrations;
  }

  newId(): string {
    return randomUuid(this.#random);
  }

  #createState(image: State): RunningState {
    return createState(image, { random: this.#random, now: () => this.now() }, (part, key) => this.#notify(part, key));
  }
}
