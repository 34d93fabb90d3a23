import type {
  Authorization,
  AuthorizationCode,
  BrowserSession,
  ConsentScript,
  SandboxAction,
  SandboxDroplet,
  SandboxMigration,
  TokenPair,
} from '../records.ts';
import type { VirtualClock } from '../virtual-clock.ts';
import type { RowKey } from './state-table.ts';

/** The record each table holds. What can be found again from these, such as who owns which droplet, is kept nowhere. */
export interface TableRows {
  readonly sessions: BrowserSession;
  readonly authorizations: Authorization;
  readonly codes: AuthorizationCode;
  readonly pairs: TokenPair;
  readonly droplets: SandboxDroplet;
  readonly actions: SandboxAction;
  readonly migrations: SandboxMigration;
}

export type TableName = keyof TableRows;

/** What a change can be of: one row of a table, a single value, or everything at once. */
export type StatePart = TableName | 'clock' | 'consent' | 'everything';

export type RowLists = { readonly [N in TableName]: readonly TableRows[N][] };

/** Everything that changes, as JSON can carry it. */
export interface WorldImage extends RowLists {
  readonly clock: VirtualClock;
  readonly consent: ConsentScript;
  /** Of the next droplet or action. */
  readonly nextId: number;
}

export const ROW_KEYS: { readonly [N in TableName]: (row: TableRows[N]) => RowKey } = {
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
