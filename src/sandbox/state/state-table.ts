export type SandboxStateRowKey = string | number;

/**
 * Rows by their key, the oldest row first. A row is replaced as a whole and never modified in place, so that every change is
 * noticed.
 */
export interface SandboxStateTable<V> {
  readonly get: (key: SandboxStateRowKey) => V | undefined;
  readonly has: (key: SandboxStateRowKey) => boolean;
  /** Adds the row, or replaces the row with the same key at its position. */
  readonly put: (row: V) => void;
  readonly drop: (key: SandboxStateRowKey) => void;
  readonly rows: () => readonly V[];
}

export interface SandboxStateTableOptions<V> {
  readonly keyOf: (row: V) => SandboxStateRowKey;
  readonly rows: readonly V[];
  /** Called with the key of each row that is added, replaced or removed. */
  readonly onChange: (key: SandboxStateRowKey) => void;
}

export function createSandboxStateTable<V>({
  keyOf,
  rows,
  onChange,
}: SandboxStateTableOptions<V>): SandboxStateTable<V> {
  const byKey = new Map(rows.map((row) => [keyOf(row), row]));
  return {
    get: (key) => byKey.get(key),
    has: (key) => byKey.has(key),
    rows: () => [...byKey.values()],
    put: (row) => {
      const key = keyOf(row);
      byKey.set(key, row);
      onChange(key);
    },
    drop: (key) => {
      if (byKey.delete(key)) onChange(key);
    },
  };
}
