import {
  createSandboxStateTables,
  listSandboxStateRows,
  SANDBOX_STATE_TABLE_NAMES,
  type SandboxState,
  type SandboxStateRowLists,
  type SandboxStateTableName,
  type SandboxStateTables,
} from './sandbox-state.ts';
import type { SandboxStateRowKey } from './state-table.ts';
import type { ChangedSandboxStatePart, MutableSandboxState } from './world-state.ts';

/** The parts of the state that have changed, with the keys of the changed rows for each table. */
export type SandboxStateChanges = Map<ChangedSandboxStatePart, Set<SandboxStateRowKey>>;

/** A journal record: the changed values and rows with their current content, and the keys of removed rows. */
export interface SandboxJournalPatch {
  readonly put: SandboxStateRowLists & Partial<Pick<SandboxState, 'clock' | 'consent' | 'nextId'>>;
  readonly drop: ReadonlyMap<SandboxStateTableName, readonly SandboxStateRowKey[]>;
}

export function addPendingSandboxStateChange(
  changes: SandboxStateChanges,
  part: ChangedSandboxStatePart,
  key: SandboxStateRowKey | undefined,
): void {
  const keys = changes.get(part) ?? new Set();
  if (key !== undefined) keys.add(key);
  changes.set(part, keys);
}

/** Encodes the changes as the JSON text of a StatePatch. A row that changed several times is written only once. */
export function encodeSandboxJournalPatch(changes: SandboxStateChanges, state: Readonly<MutableSandboxState>): string {
  const put: Record<string, unknown> = {};
  const drop: Record<string, readonly SandboxStateRowKey[]> = {};
  for (const [part, keys] of changes) {
    if (part === 'everything') continue;
    if (part === 'clock' || part === 'consent') {
      put[part] = state[part];
      continue;
    }
    if (part === 'droplets' || part === 'actions') put.nextId = state.dropletStore.nextId;
    if (part === 'authorizations') {
      // A renewed approval must become the last row. The journal record therefore removes the row and adds it again, which
      // moves the row behind the others when the record is read.
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

/** Applies the patches to the state in their order. */
export function applySandboxJournalPatches(image: SandboxState, patches: readonly SandboxJournalPatch[]): SandboxState {
  const tables = createSandboxStateTables(image);
  let { clock, consent, nextId } = image;
  for (const { put, drop } of patches) {
    clock = put.clock ?? clock;
    consent = put.consent ?? consent;
    nextId = put.nextId ?? nextId;
    for (const name of SANDBOX_STATE_TABLE_NAMES) changeTable(tables, name, put, drop.get(name) ?? []);
  }
  return { clock, consent, nextId, ...listSandboxStateRows(tables) };
}

function changeTable<N extends SandboxStateTableName>(
  tables: SandboxStateTables,
  name: N,
  changed: SandboxStateRowLists,
  removed: readonly SandboxStateRowKey[],
): void {
  for (const key of removed) tables[name].drop(key);
  for (const row of changed[name]) tables[name].put(row);
}
