import type {
  Authorization,
  AuthorizationCode,
  BrowserSession,
  ConsentScript,
  SandboxDroplet,
  SandboxDropletAction,
  SandboxMigration,
  TokenPair,
} from '../records.ts';
import type { VirtualClock } from '../virtual-clock.ts';
import { createStateTable, type RowKey, type StateTable } from './state-table.ts';

/** The type of the records in each table. Indexes over the records are rebuilt when the state is loaded, and never stored. */
export interface StateRecordTypes {
  readonly sessions: BrowserSession;
  readonly authorizations: Authorization;
  readonly codes: AuthorizationCode;
  readonly pairs: TokenPair;
  readonly droplets: SandboxDroplet;
  readonly actions: SandboxDropletAction;
  readonly migrations: SandboxMigration;
}

export type TableName = keyof StateRecordTypes;

export type RowLists = { readonly [N in TableName]: readonly StateRecordTypes[N][] };

export type StateTables = { readonly [N in TableName]: StateTable<StateRecordTypes[N]> };

/** The state that changes while a sandbox runs, as plain JSON data. */
export interface SandboxState extends RowLists {
  readonly clock: VirtualClock;
  readonly consent: ConsentScript;
  /** The id of the next droplet or action. */
  readonly nextId: number;
}

export const ROW_KEYS: { readonly [N in TableName]: (row: StateRecordTypes[N]) => RowKey } = {
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
export function createPerTable<T extends { readonly [N in TableName]: unknown }>(
  make: <N extends TableName>(name: N) => unknown,
): T {
  return Object.fromEntries(TABLE_NAMES.map((name) => [name, make(name)])) as T;
}

export const EMPTY_STATE_ROWS: RowLists = createPerTable<RowLists>(() => []);

export function createTables(lists: RowLists, onChange?: (name: TableName, key: RowKey) => void): StateTables {
  return createPerTable<StateTables>((name) =>
    createStateTable({ keyOf: ROW_KEYS[name], rows: lists[name], onChange: (key) => onChange?.(name, key) }),
  );
}

export function rowsOfTables(tables: StateTables): RowLists {
  return createPerTable<RowLists>((name) => tables[name].rows());
}
