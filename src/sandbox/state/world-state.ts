import { addSandboxDroplet, createSandboxDropletStore, type SandboxDropletStore } from '../droplet-store.ts';
import { createSandboxGrantStore, type SandboxGrantStore } from '../grant-store.ts';
import { createSandboxMigrationStore, type SandboxMigrationStore } from '../migration-store.ts';
import type { AuthorizationConsentMode } from '../records.ts';
import type { SandboxSeedData } from '../seed-data.ts';
import { VIRTUAL_CLOCK_AT_SYSTEM_TIME, type VirtualClockState } from '../virtual-clock.ts';
import {
  createSandboxStateTables,
  EMPTY_SANDBOX_STATE_ROWS,
  listSandboxStateRows,
  type SandboxState,
  type SandboxStateTableName,
  type SandboxStateTables,
} from './sandbox-state.ts';
import type { SandboxStateRowKey } from './state-table.ts';

/** Everything that changes while a sandbox runs: the tables, and the stores that index the tables. */
export interface MutableSandboxState {
  clock: VirtualClockState;
  consent: AuthorizationConsentMode;
  readonly tables: SandboxStateTables;
  readonly grantStore: SandboxGrantStore;
  readonly dropletStore: SandboxDropletStore;
  readonly migrationStore: SandboxMigrationStore;
}

/** The part of the state that changed: a table, a single value, or everything at once. */
export type ChangedSandboxStatePart = SandboxStateTableName | 'clock' | 'consent' | 'everything';

/** Called at every change. If `part` is a table, `key` is the key of the changed row. */
export type SandboxStateChangeListener = (part: ChangedSandboxStatePart, key?: SandboxStateRowKey) => void;

export function createRunningSandboxState(
  image: SandboxState,
  onChange: SandboxStateChangeListener,
): MutableSandboxState {
  const tables = createSandboxStateTables(image, onChange);
  return {
    clock: image.clock,
    consent: image.consent,
    tables,
    grantStore: createSandboxGrantStore(tables),
    dropletStore: createSandboxDropletStore(tables, image.nextId),
    migrationStore: createSandboxMigrationStore(tables.migrations),
  };
}

export function captureRunningSandboxState({
  clock,
  consent,
  tables,
  dropletStore,
}: Readonly<MutableSandboxState>): SandboxState {
  return { clock, consent, nextId: dropletStore.nextId, ...listSandboxStateRows(tables) };
}

/** The state of a new sandbox, and of a sandbox after a reset. */
export function initialSandboxState(seed: SandboxSeedData, now: number): SandboxState {
  const empty: SandboxState = {
    clock: VIRTUAL_CLOCK_AT_SYSTEM_TIME,
    consent: { mode: 'ask' },
    nextId: seed.firstId,
    ...EMPTY_SANDBOX_STATE_ROWS,
  };
  const state = createRunningSandboxState(empty, () => {});
  for (const { account, name, age, ...spec } of seed.droplets) {
    addSandboxDroplet(state.dropletStore, account, name, { ...spec, features: [] }, now - age);
  }
  return captureRunningSandboxState(state);
}
