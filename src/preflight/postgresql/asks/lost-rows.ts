import type { Ask } from '../ask.ts';
import { textIn } from './decode.ts';
import { grantMonitor } from './grants.ts';
import {
  lostCheck,
  lostClass,
  lostFunction,
  lostIndex,
  lostRule,
  lostTrigger,
  lostType,
  shortClass,
} from './lost-parts.ts';
import { where } from './overview.ts';

/** An object of which a row of the catalogue speaks, and which has none itself. */
export interface LostRow {
  /** `public.t`, or `function 16402` where it has no name any more. */
  readonly object: string;
  /** `schema 16401`. */
  readonly lost: string;
}

export const lostRows: Ask<readonly LostRow[]> = {
  id: 'lost-rows',
  scope: 'database',
  sql: () =>
    `SELECT * FROM (${[
      named(
        "'schema ' || c.relnamespace",
        'c.relname',
        `pg_class c WHERE ${lostClass('c.relnamespace', 'pg_namespace')}`,
      ),
      named("'role ' || c.relowner", 'c.relname', `pg_class c WHERE ${lostClass('c.relowner', 'pg_roles')}`),
      named(
        "'type ' || a.atttypid",
        "c.relname || '.' || a.attname",
        `pg_attribute a JOIN pg_class c ON c.oid = a.attrelid WHERE ${lostType}`,
      ),
      named("'columns'", 'c.relname', `pg_class c WHERE ${shortClass}`),
      named(
        "'schema ' || p.pronamespace",
        'p.proname',
        `pg_proc p WHERE ${lostFunction('p.pronamespace', 'pg_namespace')}`,
      ),
      named("'role ' || p.proowner", 'p.proname', `pg_proc p WHERE ${lostFunction('p.proowner', 'pg_roles')}`),
      named("'function ' || t.tgfoid", 't.tgname', `pg_trigger t WHERE ${lostTrigger}`),
      named("'index ' || i.indexrelid", 'i.indrelid::regclass', `pg_index i WHERE ${lostIndex}`),
      named("'rule'", 'c.relname', `pg_class c WHERE ${lostRule}`),
      named("'check'", 'c.relname', `pg_class c WHERE ${lostCheck}`),
    ].join(' UNION ALL ')}) o ORDER BY 1, 2 LIMIT 1000`,
  when: where('lost-rows'),
  decode: (rows) => rows.map((row) => ({ object: textIn(row, 'object'), lost: textIn(row, 'lost') })),
  absent: [],
  grant: grantMonitor,
};

function named(lost: string, object: string, from: string): string {
  return `SELECT (${object})::text AS object, (${lost})::text AS lost FROM ${from}`;
}
