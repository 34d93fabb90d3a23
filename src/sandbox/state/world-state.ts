import { DropletStore } from '../droplet-store.ts';
import { GrantStore } from '../grant-store.ts';
import { MigrationStore } from '../migration-store.ts';
import { type Random, systemRandom } from '../random.ts';
import type { ConsentMode } from '../records.ts';
import type { Seed } from '../seed.ts';
import { SessionStore } from '../session-store.ts';
import type { ClockState } from '../virtual-clock.ts';
import { createTables, listRows, NO_ROWS, type RowKey, type State, type TableName, type Tables } from './tables.ts';

/** Everything that changes while a sandbox runs: the tables, and the stores that index the tables. */
export interface RunningState {
  clock: ClockState;
  consent: ConsentMode;
  readonly tables: Tables;
  readonly sessions: SessionStore;
  readonly grants: GrantStore;
  readonly droplets: DropletStore;
  readonly migrations: MigrationStore;
}

/** The part of the state that changed: a table, a single value, or everything at once. */
export type ChangedPart = TableName | 'clock' | 'consent' | 'everything';

/** Called at every change. If `part` is a table, `key` is the key of the changed row. */
export type ChangeListener = (part: ChangedPart, key?: RowKey) => void;

export function createState(
  image: State,
  { random, now }: { readonly random: Random; readonly now: () => number },
  onChange: ChangeListener,
): RunningState {
  const tables = createTables(image, onChange);
  return {
    clock: image.clock,
    consent: image.consent,
    tables,
    sessions: new SessionStore(tables.sessions, random),
    grants: new GrantStore(tables, random, now),
    droplets: new DropletStore(tables, image.nextId, now),
    migrations: new MigrationStore(tables.migrations, now),
  };
}

export function captureState({ clock, consent, tables, droplets }: Readonly<RunningState>): State {
  return { clock, consent, nextId: droplets.nextId, ...listRows(tables) };
}

/** The state of a new sandbox, and of a sandbox after a reset. */
export function initialState(seed: Seed, systemTime: number): State {
  const { startAt, isFrozen = false } = seed.clock ?? {};
  const now = startAt === undefined ? systemTime : Date.parse(startAt);
  const empty: State = {
    clock: { offset: now - systemTime, frozenAt: isFrozen ? now : null },
    consent: { mode: 'ask' },
    nextId: seed.firstId,
    ...NO_ROWS,
  };
  const state = createState(empty, { random: systemRandom(), now: () => now }, () => {});
  for (const { account, name, age, id, ...spec } of seed.droplets)
    state.droplets.add(account, name, { ...spec, features: [] }, now - age, id);
  return captureState(state);
}
