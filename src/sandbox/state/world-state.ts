import { type ClockState, REAL_TIME } from '../clock.ts';
import { addDroplet, createFleet, type Fleet } from '../fleet.ts';
import { createMigrations, type Migrations } from '../migrations.ts';
import type { ConsentScript, Session } from '../records.ts';
import type { Seed } from '../seed.ts';
import { createVault, type Vault } from '../vault.ts';
import { KEYS, type Part, type RowLists, type Rows, type TableName, type WorldImage } from './image.ts';
import { createTable, type Key, type Table } from './table.ts';

/** Everything that changes, with the indexes that make it quick to find. */
export interface WorldState {
  clock: ClockState;
  consent: ConsentScript;
  readonly sessions: Table<Session>;
  readonly vault: Vault;
  readonly fleet: Fleet;
  readonly migrations: Migrations;
}

/** Told of each change as it happens: which part, and of a table which row. */
export type OnChange = (part: Part, key?: Key) => void;

export function stateOf(image: WorldImage, onChange: OnChange): WorldState {
  const lists: RowLists = image;
  const table = <N extends TableName>(name: N): Table<Rows[N]> =>
    createTable({ keyOf: KEYS[name], rows: lists[name], onChange: (key) => onChange(name, key) });
  return {
    clock: image.clock,
    consent: image.consent,
    sessions: table('sessions'),
    vault: createVault({ authorizations: table('authorizations'), codes: table('codes'), pairs: table('pairs') }),
    fleet: createFleet({ droplets: table('droplets'), actions: table('actions') }, image.nextId),
    migrations: createMigrations(table('migrations')),
  };
}

export function imageOf({ clock, consent, sessions, vault, fleet, migrations }: Readonly<WorldState>): WorldImage {
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

export function rowOf(state: Readonly<WorldState>, name: TableName, key: Key): Rows[TableName] | undefined {
  const { sessions, vault, fleet, migrations } = state;
  const { authorizations, codes, pairs } = vault;
  const { droplets, actions } = fleet;
  return { sessions, authorizations, codes, pairs, droplets, actions, migrations: migrations.all }[name].get(key);
}

/** As it is at the first start and after every reset. */
export function firstImage(seed: Seed, now: number): WorldImage {
  const nothing: WorldImage = {
    clock: REAL_TIME,
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
  const state = stateOf(nothing, () => {});
  for (const { account, name, age, ...blueprint } of seed.droplets) {
    addDroplet(state.fleet, account, name, { ...blueprint, features: [] }, now - age);
  }
  return imageOf(state);
}
