import type {
  ApplicationAuthorization,
  AuthorizationCode,
  AuthorizationConsentMode,
  IssuedTokenPair,
  SandboxBrowserSession,
  SandboxDroplet,
  SandboxDropletAction,
  SandboxMigration,
} from '../records.ts';
import type { VirtualClockState } from '../virtual-clock.ts';

/** The type of the records in each table. Indexes over the records are rebuilt when the state is loaded, and never stored. */
export interface SandboxStateRecordTypes {
  readonly sessions: SandboxBrowserSession;
  readonly authorizations: ApplicationAuthorization;
  readonly codes: AuthorizationCode;
  readonly pairs: IssuedTokenPair;
  readonly droplets: SandboxDroplet;
  readonly actions: SandboxDropletAction;
  readonly migrations: SandboxMigration;
}

export type SandboxStateTableName = keyof SandboxStateRecordTypes;

export type SandboxStateRowLists = { readonly [N in SandboxStateTableName]: readonly SandboxStateRecordTypes[N][] };

export type SandboxStateTables = {
  readonly [N in SandboxStateTableName]: SandboxStateTable<SandboxStateRecordTypes[N]>;
};

/** The state that changes while a sandbox runs, as plain JSON data. */
export interface SandboxState extends SandboxStateRowLists {
  readonly clock: VirtualClockState;
  readonly consent: AuthorizationConsentMode;
  /** The id of the next droplet or action. */
  readonly nextId: number;
}

/** Changed values and rows with their content after the change, and the keys of removed rows. */
export interface StateChange {
  readonly put: SandboxStateRowLists & Partial<Pick<SandboxState, 'clock' | 'consent' | 'nextId'>>;
  readonly drop: ReadonlyMap<SandboxStateTableName, readonly SandboxStateRowKey[]>;
}

export const SANDBOX_STATE_ROW_KEY_FUNCTIONS: {
  readonly [N in SandboxStateTableName]: (row: SandboxStateRecordTypes[N]) => SandboxStateRowKey;
} = {
  sessions: ({ id }) => id,
  authorizations: ({ id }) => id,
  codes: ({ code }) => code,
  pairs: ({ accessToken }) => accessToken,
  droplets: ({ id }) => id,
  actions: ({ id }) => id,
  migrations: ({ id }) => id,
};

export const SANDBOX_STATE_TABLE_NAMES: readonly SandboxStateTableName[] = [
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
export function mapSandboxStateTablesToObject<T extends { readonly [N in SandboxStateTableName]: unknown }>(
  make: <N extends SandboxStateTableName>(name: N) => unknown,
): T {
  return Object.fromEntries(SANDBOX_STATE_TABLE_NAMES.map((name) => [name, make(name)])) as T;
}

export const EMPTY_SANDBOX_STATE_ROWS: SandboxStateRowLists = mapSandboxStateTablesToObject<SandboxStateRowLists>(
  () => [],
);

export function createSandboxStateTables(
  lists: SandboxStateRowLists,
  onChange?: (name: SandboxStateTableName, key: SandboxStateRowKey) => void,
): SandboxStateTables {
  return mapSandboxStateTablesToObject<SandboxStateTables>((name) =>
    createSandboxStateTable({
      keyOf: SANDBOX_STATE_ROW_KEY_FUNCTIONS[name],
      rows: lists[name],
      onChange: (key) => onChange?.(name, key),
    }),
  );
}

export function listSandboxStateRows(tables: SandboxStateTables): SandboxStateRowLists {
  return mapSandboxStateTablesToObject<SandboxStateRowLists>((name) => tables[name].rows());
}

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
