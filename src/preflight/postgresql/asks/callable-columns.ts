import type { Ask } from '../ask.ts';
import { textIn, truthIn } from './decode.ts';
import { grantMonitor } from './grants.ts';
import { isCallable, where } from './overview.ts';
import { filled, isTrue, type RowsSeen, readable, rowsSeen } from './unvalidated.ts';

/** A column of functions or operators, which are written by their names alone. */
export interface CallableColumn {
  readonly table: string;
  /** Quoted. */
  readonly column: string;
  /** `regproc`, `regoper`, `regproc[]`, `regoper[]`. */
  readonly type: string;
  /** The column is of a domain over it. */
  readonly ofDomain: boolean;
  /** `violate`: a row holds a name that has several meanings. */
  readonly rows: RowsSeen;
}

/** A name is ambiguous where its schema has it twice: it is written with its schema unless it is the only one on the path. */
const several = (catalogue: string, name: string, schema: string): string =>
  `'SELECT EXISTS (SELECT 1 FROM ONLY %s r CROSS JOIN LATERAL unnest(ARRAY[r.%I::%s]) x JOIN ${catalogue} p ON p.oid = x::oid WHERE (SELECT count(*) FROM ${catalogue} q WHERE q.${name} = p.${name} AND q.${schema} = p.${schema}) > 1) AS v'`;

export const callableColumns: Ask<readonly CallableColumn[]> = {
  id: 'callable-columns',
  scope: 'database',
  when: where('callables'),
  sql: () =>
    `SELECT o.*, CASE WHEN o.query IS NOT NULL THEN ${isTrue('o.query')} END AS violated FROM (SELECT c.oid::regclass AS name, quote_ident(a.attname) AS attname, b.oid::regtype AS type, b.oid <> a.atttypid AS of_domain, CASE WHEN ${readable('c')} THEN format(CASE WHEN b.oid IN ('24', '1008') THEN ${several('pg_proc', 'proname', 'pronamespace')} ELSE ${several('pg_operator', 'oprname', 'oprnamespace')} END, c.oid::regclass, a.attname, b.oid::regtype) END AS query FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_type t ON t.oid = a.atttypid JOIN pg_type b ON b.oid = CASE t.typtype WHEN 'd' THEN t.typbasetype ELSE t.oid END WHERE c.oid >= '16384' AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped AND ${isCallable('b.oid')} AND ${filled('c')}) o ORDER BY 1, 2`,
  decode: (rows) =>
    rows.map((row) => ({
      table: textIn(row, 'name'),
      column: textIn(row, 'attname'),
      type: textIn(row, 'type'),
      ofDomain: truthIn(row, 'of_domain'),
      rows: rowsSeen(textIn(row, 'violated'), true),
    })),
  absent: [],
  grant: grantMonitor,
};
