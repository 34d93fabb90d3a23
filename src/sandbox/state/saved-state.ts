import type { Seed } from '../seed.ts';
import { decodeSeed } from '../seed.ts';
import { SYSTEM_CLOCK } from '../virtual-clock.ts';
import type { World } from '../world.ts';
import {
  decodeInteger,
  decodeString,
  enumOf,
  JsonDecodeError,
  type JsonDecoder,
  objectOf,
  optional,
} from './decoder.ts';
import { findInconsistency } from './inconsistency.ts';
import { damagedState } from './journal.ts';
import { decodeStateChange } from './sandbox-state-decoder.ts';
import {
  createTables,
  listRows,
  NO_ROWS,
  type RowKey,
  type RowLists,
  type State,
  TABLE_NAMES,
  type TableName,
  type Tables,
} from './tables.ts';
import { type ChangedPart, captureState, type RunningState } from './world-state.ts';

// The first line of the journal is the head, each other line one change. The state is what the changes give, one after the
// other, beginning with an empty one.

/** The values that a sandbox keeps across restarts in addition to its state. */
export interface ServerIdentity {
  readonly adminToken: string;
  readonly host: string;
  readonly port: number;
  readonly apiPort: number;
  /** The value of the option `seed`, if the ids were generated with a seed. */
  readonly seedNumber?: number;
}

/** Everything that a restart of the sandbox restores. */
export interface SavedState {
  readonly identity: ServerIdentity;
  readonly seed: Seed;
  readonly world: State;
}

/** The parts of the state that have changed, with the keys of the changed rows of each table. */
export type ChangedParts = Map<ChangedPart, Set<RowKey>>;

interface Head extends Omit<SavedState, 'world'> {
  readonly format: typeof FORMAT;
  readonly version: 1;
}

const FORMAT = 'cloudctl-sandbox-state';

/** The lines of a journal that contains the present state, with a line for each row. */
export function* encodeState(world: World, identity: ServerIdentity): Generator<string> {
  const head: Head = { format: FORMAT, version: 1, identity, seed: world.seed };
  yield JSON.stringify(head);
  const { clock, consent, nextId, ...lists } = captureState(world.state);
  yield JSON.stringify({ put: { clock, consent, nextId } });
  for (const name of TABLE_NAMES) for (const row of lists[name]) yield JSON.stringify({ put: { [name]: [row] } });
}

/** The line for the changes. A row that changed several times is written only once. */
export function encodeChange(changed: ChangedParts, state: Readonly<RunningState>): string {
  const put: Record<string, unknown> = {};
  const drop: Record<string, readonly RowKey[]> = {};
  for (const [part, keys] of changed) {
    if (part === 'everything') continue;
    if (part === 'clock' || part === 'consent') {
      put[part] = state[part];
      continue;
    }
    if (part === 'droplets' || part === 'actions') put.nextId = state.droplets.nextId;
    if (part === 'authorizations') {
      // A renewed approval must become the last row: the change removes it and adds it again, behind the others.
      put[part] = state.tables[part].rows().filter(({ id }) => keys.has(id));
      drop[part] = [...keys];
      continue;
    }
    const table = state.tables[part];
    const rows = [...keys].flatMap((key) => table.get(key) ?? []);
    const removed = [...keys].filter((key) => !table.has(key));
    if (rows.length > 0) put[part] = rows;
    if (removed.length > 0) drop[part] = removed;
  }
  return JSON.stringify({ put, drop });
}

/** Throws a StateError that names the first line that is not what a sandbox writes. @param path for the error */
export function decodeState(path: string, [first, ...rest]: readonly string[]): SavedState {
  const { identity, seed } = decodeLine(decodeHead, first ?? '', path, 1);
  const tables = createTables(NO_ROWS);
  let [clock, consent, nextId]: [State['clock'], State['consent'], number] = [
    SYSTEM_CLOCK,
    { mode: 'ask' },
    seed.firstId,
  ];
  for (const [at, line] of rest.entries()) {
    const { put, drop } = decodeLine(decodeStateChange, line, path, at + 2);
    clock = put.clock ?? clock;
    consent = put.consent ?? consent;
    nextId = put.nextId ?? nextId;
    for (const name of TABLE_NAMES) changeTable(tables, name, put, drop.get(name) ?? []);
  }
  const world = { clock, consent, nextId, ...listRows(tables) };
  const inconsistency = findInconsistency(seed, world);
  if (inconsistency !== undefined) throw damagedState(path, rest.length + 1, inconsistency);
  return { identity, seed, world };
}

function changeTable<N extends TableName>(
  tables: Tables,
  name: N,
  changed: RowLists,
  removed: readonly RowKey[],
): void {
  for (const key of removed) tables[name].drop(key);
  for (const row of changed[name]) tables[name].put(row);
}

function decodeLine<T>(decode: JsonDecoder<T>, line: string, path: string, number: number): T {
  try {
    return decode(JSON.parse(line), '');
  } catch (error) {
    const problem = error instanceof JsonDecodeError ? error.message : 'the line is not valid JSON';
    throw damagedState(path, number, problem);
  }
}

const decodeHead = objectOf<Head>({
  format: enumOf(FORMAT),
  version: enumOf(1),
  identity: objectOf<ServerIdentity>({
    adminToken: decodeString,
    host: decodeString,
    port: decodeInteger,
    apiPort: decodeInteger,
    seedNumber: optional(decodeInteger),
  }),
  seed: decodeSeed,
});
