import type { Ask } from '../ask.ts';
import { textIn } from './decode.ts';
import { grantMonitor } from './grants.ts';
import { overview } from './overview.ts';

/** `constraint on table`, of those that were never checked against the rows there are; 18 has others that never will be. */
export const unvalidated: Ask<readonly string[]> = {
  id: 'unvalidated',
  scope: 'database',
  when: (known) => known(overview)?.unvalidated ?? true,
  sql: (version) =>
    `SELECT conname, CASE WHEN contypid <> '0' THEN contypid::regtype::text ELSE conrelid::regclass::text END AS owner FROM pg_constraint WHERE NOT convalidated${version < 180_000 ? '' : ' AND conenforced'}`,
  decode: (rows) => rows.map((row) => `${textIn(row, 'conname')} on ${textIn(row, 'owner')}`),
  absent: [],
  grant: grantMonitor,
};

/** One unlogged table refers to another: the order in which they can be made logged. */
export interface Reference {
  readonly from: string;
  readonly to: string;
}

export const unloggedReferences: Ask<readonly Reference[]> = {
  id: 'unlogged-references',
  scope: 'database',
  when: (known) => known(overview)?.relations ?? true,
  sql: () =>
    "SELECT k.conrelid::regclass AS from_table, k.confrelid::regclass AS to_table FROM pg_constraint k JOIN pg_class a ON a.oid = k.conrelid JOIN pg_class b ON b.oid = k.confrelid WHERE k.contype = 'f' AND a.relpersistence = 'u' AND b.relpersistence = 'u'",
  decode: (rows) => rows.map((row) => ({ from: textIn(row, 'from_table'), to: textIn(row, 'to_table') })),
  absent: [],
  grant: grantMonitor,
};
