import { createStateTable, type RowKey, type StateTable } from './state-table.ts';
import {
  ROW_KEYS,
  type RowLists,
  type StatePart,
  TABLE_NAMES,
  type TableName,
  type TableRows,
  type WorldImage,
} from './world-image.ts';
import { findRow, type WorldState } from './world-state.ts';

/** What has changed since it was last looked at. Of a row that changed twice only its last form counts. */
export interface ChangeTracker {
  readonly note: (part: StatePart, key?: RowKey) => void;
  readonly take: () => ChangedParts;
}

export interface ChangedParts {
  readonly parts: ReadonlySet<StatePart>;
  readonly keys: ReadonlyMap<TableName, ReadonlySet<RowKey>>;
}

/** What turns the image before into the image after: values and rows that were put, and keys of rows that were dropped. */
export interface StatePatch {
  readonly put: Partial<WorldImage>;
  readonly drop: { readonly [N in TableName]?: readonly RowKey[] };
}

export function createChangeTracker(): ChangeTracker {
  let parts = new Set<StatePart>();
  let keys = new Map<TableName, Set<RowKey>>();
  return {
    note: (part, key) => {
      parts.add(part);
      const table = TABLE_NAMES.find((name) => name === part);
      if (table === undefined || key === undefined) return;
      const known = keys.get(table);
      if (known === undefined) keys.set(table, new Set([key]));
      else known.add(key);
    },
    take: () => {
      const taken = { parts, keys };
      parts = new Set();
      keys = new Map();
      return taken;
    },
  };
}

/** The patch as JSON text. */
export function patchJson({ parts, keys }: ChangedParts, state: Readonly<WorldState>): string {
  const put: Record<string, unknown> = {};
  const drop: Record<string, readonly RowKey[]> = {};
  if (parts.has('clock')) put.clock = state.clock;
  if (parts.has('consent')) put.consent = state.consent;
  if (parts.has('droplets') || parts.has('actions')) put.nextId = state.fleet.nextId;
  for (const [table, touched] of keys) {
    const found = [...touched].map((key) => ({ key, row: findRow(state, table, key) }));
    const rows = found.flatMap(({ row }) => row ?? []);
    const dropped = found.flatMap(({ key, row }) => (row === undefined ? [key] : []));
    if (rows.length > 0) put[table] = rows;
    if (dropped.length > 0) drop[table] = dropped;
  }
  return JSON.stringify({ put, drop });
}

/** The image after all the patches, in their order. */
export function applyPatches(image: WorldImage, patches: readonly StatePatch[]): WorldImage {
  if (patches.length === 0) return image;
  const before: RowLists = image;
  const rowsAfter = <N extends TableName>(name: N): readonly TableRows[N][] => {
    const table: StateTable<TableRows[N]> = createStateTable({ keyOf: ROW_KEYS[name], rows: before[name] });
    for (const { put, drop } of patches) {
      for (const key of drop[name] ?? []) table.drop(key);
      const lists: Partial<RowLists> = put;
      for (const row of lists[name] ?? []) table.put(row);
    }
    return table.rows();
  };
  return {
    clock: patches.findLast(({ put }) => put.clock !== undefined)?.put.clock ?? image.clock,
    consent: patches.findLast(({ put }) => put.consent !== undefined)?.put.consent ?? image.consent,
    nextId: patches.findLast(({ put }) => put.nextId !== undefined)?.put.nextId ?? image.nextId,
    sessions: rowsAfter('sessions'),
    authorizations: rowsAfter('authorizations'),
    codes: rowsAfter('codes'),
    pairs: rowsAfter('pairs'),
    droplets: rowsAfter('droplets'),
    actions: rowsAfter('actions'),
    migrations: rowsAfter('migrations'),
  };
}
