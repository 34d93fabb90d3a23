export type Key = string | number;

/** Records of one kind by their key, oldest first. Rows are never changed in place, so that every change is seen. */
export interface Table<V> {
  readonly get: (key: Key) => V | undefined;
  readonly has: (key: Key) => boolean;
  /** A row of the same key is replaced and keeps its place. */
  readonly put: (row: V) => void;
  readonly drop: (key: Key) => void;
  readonly rows: () => readonly V[];
}

export interface TableOptions<V> {
  readonly keyOf: (row: V) => Key;
  readonly rows?: readonly V[];
  /** Told the key of each row that was put or dropped. */
  readonly onChange?: (key: Key) => void;
}

export function createTable<V>({ keyOf, rows = [], onChange }: TableOptions<V>): Table<V> {
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
