import { DropletStore } from '../droplet-store.ts';
import { SandboxGrantStore } from '../grant-store.ts';
import { MigrationStore } from '../migration-store.ts';
import { type Random, systemRandom } from '../random.ts';
import type { AuthorizationConsentMode } from '../records.ts';
import type { SandboxSeedData } from '../seed.ts';
import { SessionStore } from '../session-store.ts';
import type { VirtualClockState } from '../virtual-clock.ts';
import {
  createSandboxStateTables,
  EMPTY_SANDBOX_STATE_ROWS,
  listSandboxStateRows,
  type SandboxState,
  type SandboxStateRowKey,
  type SandboxStateTableName,
  type SandboxStateTables,
} from './tables.ts';

/** Everything that changes while a sandbox runs: the tables, and the stores that index the tables. */
export interface MutableSandboxState {
  clock: VirtualClockState;
  consent: AuthorizationConsentMode;
  readonly tables: SandboxStateTables;
  readonly sessions: SessionStore;
  readonly grants: SandboxGrantStore;
  readonly droplets: DropletStore;
  readonly migrations: MigrationStore;
}

/** The part of the state that changed: a table, a single value, or everything at once. */
export type ChangedSandboxStatePart = SandboxStateTableName | 'clock' | 'consent' | 'everything';

/** Called at every change. If `part` is a table, `key` is the key of the changed row. */
export type SandboxStateChangeListener = (part: ChangedSandboxStatePart, key?: SandboxStateRowKey) => void;

export function createRunningSandboxState(
  image: SandboxState,
  { random, now }: { readonly random: Random; readonly now: () => number },
  onChange: SandboxStateChangeListener,
): MutableSandboxState {
  const tables = createSandboxStateTables(image, onChange);
  return {
    clock: image.clock,
    consent: image.consent,
    tables,
    sessions: new SessionStore(tables.sessions, random),
    grants: new SandboxGrantStore(tables, random, now),
    droplets: new DropletStore(tables, image.nextId, now),
    migrations: new MigrationStore(tables.migrations, now),
  };
}

export function captureRunningSandboxState({
  clock,
  consent,
  tables,
  droplets,
}: Readonly<MutableSandboxState>): SandboxState {
  return { clock, consent, nextId: droplets.nextId, ...listSandboxStateRows(tables) };
}

/** The state of a new sandbox, and of a sandbox after a reset. */
export function initialSandboxState(seed: SandboxSeedData, systemTime: number): SandboxState {
  const { startAt, isFrozen = false } = seed.clock ?? {};
  const now = startAt === undefined ? systemTime : Date.parse(startAt);
  const empty: SandboxState = {
    clock: { offset: now - systemTime, frozenAt: isFrozen ? now : null },
    consent: { mode: 'ask' },
    nextId: seed.firstId,
    ...EMPTY_SANDBOX_STATE_ROWS,
  };
  const state = createRunningSandboxState(empty, { random: systemRandom(), now: () => now }, () => {});
  for (const { account, name, age, id, ...spec } of seed.droplets)
    state.droplets.add(account, name, { ...spec, features: [] }, now - age, id);
  return captureRunningSandboxState(state);
}
