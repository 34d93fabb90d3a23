import { addDroplet, createDropletStore, type DropletStore } from '../droplet-store.ts';
import { createGrantStore, type GrantStore } from '../grant-store.ts';
import { createMigrationStore, type MigrationStore } from '../migration-store.ts';
import type { ConsentScript } from '../records.ts';
import type { SeedData } from '../seed-data.ts';
import { UNCHANGED_CLOCK, type VirtualClock } from '../virtual-clock.ts';
import {
  createTables,
  EMPTY_STATE_ROWS,
  rowsOfTables,
  type SandboxState,
  type StateTables,
  type TableName,
} from './sandbox-state.ts';
import type { RowKey } from './state-table.ts';

/** Everything that changes while a sandbox runs: the tables, and the stores that index the tables. */
export interface WorldState {
  clock: VirtualClock;
  consent: ConsentScript;
  readonly tables: StateTables;
  readonly grantStore: GrantStore;
  readonly dropletStore: DropletStore;
  readonly migrationStore: MigrationStore;
}

/** The part of the state that changed: a table, a single value, or everything at once. */
export type ChangedStatePart = TableName | 'clock' | 'consent' | 'everything';

/** Called at every change; if the part is a table, with the key of the changed row. */
export type ChangeListener = (part: ChangedStatePart, key?: RowKey) => void;

export function createWorldState(image: SandboxState, onChange: ChangeListener): WorldState {
  const tables = createTables(image, onChange);
  return {
    clock: image.clock,
    consent: image.consent,
    tables,
    grantStore: createGrantStore(tables),
    dropletStore: createDropletStore(tables, image.nextId),
    migrationStore: createMigrationStore(tables.migrations),
  };
}

export function toWorldImage({ clock, consent, tables, dropletStore }: Readonly<WorldState>): SandboxState {
  return { clock, consent, nextId: dropletStore.nextId, ...rowsOfTables(tables) };
}

/** The state of a new sandbox, and of a sandbox after a reset. */
export function initialSandboxState(seed: SeedData, now: number): SandboxState {
  const empty: SandboxState = {
    clock: UNCHANGED_CLOCK,
    consent: { mode: 'ask' },
    nextId: seed.firstId,
    ...EMPTY_STATE_ROWS,
  };
  const state = createWorldState(empty, () => {});
  for (const { account, name, age, ...spec } of seed.droplets) {
    addDroplet(state.dropletStore, account, name, { ...spec, features: [] }, now - age);
  }
  return toWorldImage(state);
}
