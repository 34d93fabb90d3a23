import {
  createTables,
  type RowLists,
  rowsOfTables,
  type SandboxState,
  type StateTables,
  TABLE_NAMES,
  type TableName,
} from './sandbox-state.ts';
import type { RowKey } from './state-table.ts';
import type { ChangedStatePart, WorldState } from './world-state.ts';

/** The parts of the world that changed, and for a table the keys of the rows that changed. */
export type StateChanges = Map<ChangedStatePart, Set<RowKey>>;

/** A journal record: changed values and rows as they are now, and the keys of removed rows. */
export interface StatePatch {
  readonly put: RowLists & Partial<Pick<SandboxState, 'clock' | 'consent' | 'nextId'>>;
  readonly drop: ReadonlyMap<TableName, readonly RowKey[]>;
}

export function recordStateChange(changes: StateChanges, part: ChangedStatePart, key: RowKey | undefined): void {
  const keys = changes.get(part) ?? new Set();
  if (key !== undefined) keys.add(key);
  changes.set(part, keys);
}

/** The changes as the JSON of a StatePatch. A row that changed several times is written once. */
export function encodeStatePatch(changes: StateChanges, state: Readonly<WorldState>): string {
  const put: Record<string, unknown> = {};
  const drop: Record<string, readonly RowKey[]> = {};
  for (const [part, keys] of changes) {
    if (part === 'everything') continue;
    if (part === 'clock' || part === 'consent') {
      put[part] = state[part];
      continue;
    }
    if (part === 'droplets' || part === 'actions') put.nextId = state.dropletStore.nextId;
    if (part === 'authorizations') {
      // A renewed approval is the last one: dropped and put again, it comes after the others when the record is read.
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

/** The image after the patches, in their order. */
export function applyPatches(image: SandboxState, patches: readonly StatePatch[]): SandboxState {
  const tables = createTables(image);
  let { clock, consent, nextId } = image;
  for (const { put, drop } of patches) {
    clock = put.clock ?? clock;
    consent = put.consent ?? consent;
    nextId = put.nextId ?? nextId;
    for (const name of TABLE_NAMES) changeTable(tables, name, put, drop.get(name) ?? []);
  }
  return { clock, consent, nextId, ...rowsOfTables(tables) };
}

function changeTable<N extends TableName>(
  tables: StateTables,
  name: N,
  changed: RowLists,
  removed: readonly RowKey[],
): void {
  for (const key of removed) tables[name].drop(key);
  for (const row of changed[name]) tables[name].put(row);
}
