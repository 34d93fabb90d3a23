export type RowKey = string | number;

/** Records of one kind by their key, oldest first. Rows are never changed in place, so that every change is seen. */
export interface StateTable<V> {
  readonly get: (key: RowKey) => V | undefined;
  readonly has: (key: RowKey) => boolean;
  /** A row of the same key is replaced and keeps its place. */
  readonly put: (row: V) => void;
  readonly drop: (key: RowKey) => void;
  readonly rows: () => readonly V[];
}

export interface StateTableOptions<V> {
  readonly keyOf: (row: V) => RowKey;
  readonly rows?: readonly V[];
  /** Told the key of each row that was put or dropped. */
  readonly onChange?: (key: RowKey) => void;
}

export function createStateTable<V>({ keyOf, rows = [], onChange }: StateTableOptions<V>): StateTable<V> {
  const byKey = new Map(rows.map((row) => [keyOf(row), row]));
  return {
    get: (key) => byKey.get(key),
    has: (key) => byKey.has(key),
    rows: () => [...byKey.values()],
    put: (row) => {
      const key = keyOf(row);
      byKey.set(key, row);
      onChange?.(key);
    },
    drop: (key) => {
      if (byKey.delete(key)) onChange?.(key);
    },
  };
}
