import type { Ask } from '../ask.ts';
import { textIn, truthIn } from './decode.ts';
import { grantMonitor } from './grants.ts';
import { asksClock, overview } from './overview.ts';

/** A constraint that was never checked against the rows there are. */
export interface Unvalidated {
  /** Quoted. */
  readonly name: string;
  /** The table, or the domain. */
  readonly owner: string;
  readonly ofDomain: boolean;
  /** Of a domain in arrays, which the server refuses to validate. */
  readonly inArrays: boolean;
  /** Nothing looks at a foreign key while rows are copied; at all others it does. */
  readonly foreignKey: boolean;
  /** There are rows that would be copied. */
  readonly filled: boolean;
}

const filled = (table: string) => `${table}.relpersistence = 'p' AND pg_relation_size(${table}.oid) > 0`;

/** 18 has others that never will be checked. Those of a partitioned table hold in its partitions, which are named themselves. */
export const unvalidated: Ask<readonly Unvalidated[]> = {
  id: 'unvalidated',
  scope: 'database',
  when: (known) => known(overview)?.unvalidated ?? true,
  sql: (version) =>
    `SELECT quote_ident(k.conname) AS conname, CASE WHEN k.contypid <> '0' THEN k.contypid::regtype::text ELSE k.conrelid::regclass::text END AS owner, k.contypid <> '0' AS of_domain, k.contype = 'f' AS foreign_key, EXISTS (SELECT FROM pg_attribute a JOIN pg_type t ON t.typarray = a.atttypid AND t.typarray <> '0' WHERE t.oid = k.contypid AND NOT a.attisdropped) AS in_arrays, CASE WHEN k.contypid <> '0' THEN EXISTS (SELECT FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_type t ON t.oid = k.contypid WHERE a.atttypid IN (t.oid, t.typarray) AND NOT a.attisdropped AND c.relkind = 'r' AND ${filled('c')}) ELSE EXISTS (SELECT FROM pg_class c WHERE c.oid = k.conrelid AND ${filled('c')}) END AS filled FROM pg_constraint k WHERE NOT k.convalidated${version < 180_000 ? '' : ' AND k.conenforced'} ORDER BY 2, 1`,
  decode: (rows) =>
    rows.map((row) => ({
      name: textIn(row, 'conname'),
      owner: textIn(row, 'owner'),
      ofDomain: truthIn(row, 'of_domain'),
      inArrays: truthIn(row, 'in_arrays'),
      foreignKey: truthIn(row, 'foreign_key'),
      filled: truthIn(row, 'filled'),
    })),
  absent: [],
  grant: grantMonitor,
};

/** A column with rows that may hold NULL, though the same column of the table it inherits from may not. */
export interface LooserColumn {
  readonly table: string;
  /** Quoted. */
  readonly column: string;
}

/** Since 18 a NOT NULL that is inherited cannot be dropped. */
export const looserColumns: Ask<readonly LooserColumn[]> = {
  id: 'looser-columns',
  scope: 'database',
  when: (known) => known(overview)?.unvalidated ?? true,
  sql: (version) =>
    version < 100_000 || version >= 180_000
      ? undefined
      : `SELECT DISTINCT c.oid::regclass AS name, quote_ident(a.attname) AS attname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_attribute a ON a.attrelid = c.oid JOIN pg_attribute p ON p.attrelid = i.inhparent AND p.attname = a.attname WHERE c.relkind = 'r' AND NOT c.relispartition AND p.attnotnull AND NOT a.attnotnull AND a.attnum > 0 AND ${filled('c')} ORDER BY 1, 2`,
  decode: (rows) => rows.map((row) => ({ table: textIn(row, 'name'), column: textIn(row, 'attname') })),
  absent: [],
  grant: grantMonitor,
};

/** A CHECK of a table with rows that asks what time it is. */
export interface ClockCheck {
  /** Quoted. */
  readonly name: string;
  readonly table: string;
  /** `CHECK ((until > now()))`. */
  readonly definition: string;
}

export const clockChecks: Ask<readonly ClockCheck[]> = {
  id: 'clock-checks',
  scope: 'database',
  when: (known) => known(overview)?.clockChecks ?? true,
  sql: () =>
    `SELECT quote_ident(k.conname) AS conname, c.oid::regclass AS name, pg_get_constraintdef(k.oid) AS definition FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid WHERE ${asksClock} AND c.relkind = 'r' AND ${filled('c')} ORDER BY 2, 1`,
  decode: (rows) =>
    rows.map((row) => ({
      name: textIn(row, 'conname'),
      table: textIn(row, 'name'),
      definition: textIn(row, 'definition'),
    })),
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
