import type {
  Authorization,
  AuthorizationCode,
  BrowserSession,
  ConsentMode,
  Droplet,
  DropletAction,
  Migration,
  TokenPair,
} from '../records.ts';
import type { ClockState } from '../virtual-clock.ts';

/** The type of the records in each table. Indexes over the records are rebuilt when the state is loaded, and never stored. */
export interface RecordTypes {
  readonly sessions: BrowserSession;
  readonly authorizations: Authorization;
  readonly codes: AuthorizationCode;
  readonly pairs: TokenPair;
  readonly droplets: Droplet;
  readonly actions: DropletAction;
  readonly migrations: Migration;
}

export type TableName = keyof RecordTypes;

export type RowLists = { readonly [N in TableName]: readonly RecordTypes[N][] };

export type Tables = {
  readonly [N in TableName]: Table<RecordTypes[N]>;
};

/** The state that changes while a sandbox runs, as plain JSON data. */
export interface State extends RowLists {
  readonly clock: ClockState;
  readonly consent: ConsentMode;
  /** The id of the next droplet or action. */
  readonly nextId: number;
}

/** Changed values and rows with their content after the change, and the keys of removed rows. */
export interface StateChange {
  readonly put: RowLists & Partial<Pick<State, 'clock' | 'consent' | 'nextId'>>;
  readonly drop: ReadonlyMap<TableName, readonly RowKey[]>;
}

export const ROW_KEYS: {
  readonly [N in TableName]: (row: RecordTypes[N]) => RowKey;
} = {
  sessions: ({ id }) => id,
  authorizations: ({ id }) => id,
  codes: ({ code }) => code,
  pairs: ({ accessToken }) => accessToken,
  droplets: ({ id }) => id,
  actions: ({ id }) => id,
  migrations: ({ id }) => id,
};

export const TABLE_NAMES: readonly TableName[] = [
  'sessions',
  'authorizations',
  'codes',
  'pairs',
  'droplets',
  'actions',
  'migrations',
];

/**
 * Creates an object with one member for each table. The type assertion is needed because TypeScript cannot relate the return
 * type of `make` to the members of T.
 */
export function mapTables<T extends { readonly [N in TableName]: unknown }>(
  make: <N extends TableName>(name: N) => unknown,
): T {
  return Object.fromEntries(TABLE_NAMES.map((name) => [name, make(name)])) as T;
}

export const NO_ROWS: RowLists = mapTables<RowLists>(() => []);

export function createTables(lists: RowLists, onChange?: (name: TableName, key: RowKey) => void): Tables {
  return mapTables<Tables>((name) =>
    createTable({
      keyOf: ROW_KEYS[name],
      rows: lists[name],
      onChange: (key) => onChange?.(name, key),
    }),
  );
}

export function listRows(tables: Tables): RowLists {
  return mapTables<RowLists>((name) => tables[name].rows());
}

export type RowKey = string | number;

/**
 * Rows by their key, the oldest row first. A row is replaced as a whole and never modified in place, so that every change is
 * noticed.
 */
export interface Table<V> {
  readonly get: (key: RowKey) => V | undefined;
  readonly has: (key: RowKey) => boolean;
  /** Adds the row, or replaces the row with the same key at its position. */
  readonly put: (row: V) => void;
  readonly drop: (key: RowKey) => void;
  readonly rows: () => readonly V[];
}

export interface TableOptions<V> {
  readonly keyOf: (row: V) => RowKey;
  readonly rows: readonly V[];
  /** Called with the key of each row that is added, replaced or removed. */
  readonly onChange: (key: RowKey) => void;
}

export function createTable<V>({ keyOf, rows, onChange }: TableOptions<V>): Table<V> {
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
