import { addDroplet, createDropletStore, type DropletStore } from '../droplet-store.ts';
import { createGrantStore, type GrantStore } from '../grant-store.ts';
import { createMigrationStore, type MigrationStore } from '../migration-store.ts';
import type { BrowserSession, ConsentScript } from '../records.ts';
import type { SeedData } from '../seed-data.ts';
import { UNCHANGED_CLOCK, type VirtualClock } from '../virtual-clock.ts';
import { createStateTable, type RowKey, type StateTable } from './state-table.ts';
import {
  ROW_KEYS,
  type RowLists,
  type StatePart,
  type TableName,
  type TableRows,
  type WorldImage,
} from './world-image.ts';

/** Everything that changes, with the indexes that make it quick to find. */
export interface WorldState {
  clock: VirtualClock;
  consent: ConsentScript;
  readonly sessions: StateTable<BrowserSession>;
  readonly grants: GrantStore;
  readonly fleet: DropletStore;
  readonly migrations: MigrationStore;
}

/** Told of each change as it happens: which part, and of a table which row. */
export type ChangeListener = (part: StatePart, key?: RowKey) => void;

export function createWorldState(image: WorldImage, onChange: ChangeListener): WorldState {
  const lists: RowLists = image;
  const table = <N extends TableName>(name: N): StateTable<TableRows[N]> =>
    createStateTable({ keyOf: ROW_KEYS[name], rows: lists[name], onChange: (key) => onChange(name, key) });
  return {
    clock: image.clock,
    consent: image.consent,
    sessions: table('sessions'),
    grants: createGrantStore({ authorizations: table('authorizations'), codes: table('codes'), pairs: table('pairs') }),
    fleet: createDropletStore({ droplets: table('droplets'), actions: table('actions') }, image.nextId),
    migrations: createMigrationStore(table('migrations')),
  };
}

export function toWorldImage({
  clock,
  consent,
  sessions,
  grants: vault,
  fleet,
  migrations,
}: Readonly<WorldState>): WorldImage {
  return {
    clock,
    consent,
    nextId: fleet.nextId,
    sessions: sessions.rows(),
    authorizations: vault.authorizations.rows(),
    codes: vault.codes.rows(),
    pairs: vault.pairs.rows(),
    droplets: fleet.droplets.rows(),
    actions: fleet.actions.rows(),
    migrations: migrations.all.rows(),
  };
}

export function findRow(state: Readonly<WorldState>, name: TableName, key: RowKey): TableRows[TableName] | undefined {
  const { sessions, grants: vault, fleet, migrations } = state;
  const { authorizations, codes, pairs } = vault;
  const { droplets, actions } = fleet;
  return { sessions, authorizations, codes, pairs, droplets, actions, migrations: migrations.all }[name].get(key);
}

/** As it is at the first start and after every reset. */
export function initialWorldImage(seed: SeedData, now: number): WorldImage {
  const nothing: WorldImage = {
    clock: UNCHANGED_CLOCK,
    consent: { mode: 'ask' },
    nextId: seed.firstId,
    sessions: [],
    authorizations: [],
    codes: [],
    pairs: [],
    droplets: [],
    actions: [],
    migrations: [],
  };
  const state = createWorldState(nothing, () => {});
  for (const { account, name, age, ...blueprint } of seed.droplets) {
    addDroplet(state.fleet, account, name, { ...blueprint, features: [] }, now - age);
  }
  return toWorldImage(state);
}
