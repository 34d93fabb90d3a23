import type { DropletStore } from './droplet-store.ts';
import type { SandboxGrantStore } from './grant-store.ts';
import type { MigrationStore } from './migration-store.ts';
import { type Random, randomUuid } from './random.ts';
import type { AuthorizationConsentMode } from './records.ts';
import { createSandboxSeedDataIndex, type SandboxSeedData, type SandboxSeedDataIndex } from './seed.ts';
import type { SessionStore } from './session-store.ts';
import type { SandboxState } from './state/tables.ts';
import {
  createRunningSandboxState,
  initialSandboxState,
  type MutableSandboxState,
  type SandboxStateChangeListener,
} from './state/world-state.ts';
import { readVirtualTime, resumeVirtualClock, type VirtualClockState } from './virtual-clock.ts';

/**
 * The state of the sandbox: its clock and consent script, and the stores that own the rest. Every method is synchronous, so no
 * request can see a partial change. A reset or a restored snapshot replaces the stores, so nobody keeps them.
 */
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

  get sessions(): SessionStore {
    return this.#state.sessions;
  }

  get grants(): SandboxGrantStore {
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

  #createState(image: SandboxState): MutableSandboxState {
    return createRunningSandboxState(image, { random: this.#random, now: () => this.now() }, (part, key) =>
      this.#notify(part, key),
    );
  }
}
