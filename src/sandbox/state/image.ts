import type { ClockState } from '../clock.ts';
import type {
  Action,
  Authorization,
  AuthorizationCode,
  ConsentScript,
  Droplet,
  Migration,
  Session,
  TokenPair,
} from '../records.ts';
import type { Key } from './table.ts';

/** The record each table holds. What can be found again from these, such as who owns which droplet, is kept nowhere. */
export interface Rows {
  readonly sessions: Session;
  readonly authorizations: Authorization;
  readonly codes: AuthorizationCode;
  readonly pairs: TokenPair;
  readonly droplets: Droplet;
  readonly actions: Action;
  readonly migrations: Migration;
}

export type TableName = keyof Rows;

/** What a change can be of: one row of a table, a single value, or everything at once. */
export type Part = TableName | 'clock' | 'consent' | 'everything';

export type RowLists = { readonly [N in TableName]: readonly Rows[N][] };

/** Everything that changes, as JSON can carry it. */
export interface WorldImage extends RowLists {
  readonly clock: ClockState;
  readonly consent: ConsentScript;
  /** Of the next droplet or action. */
  readonly nextId: number;
}

export const KEYS: { readonly [N in TableName]: (row: Rows[N]) => Key } = {
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
