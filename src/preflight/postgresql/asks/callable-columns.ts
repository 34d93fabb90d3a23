import type { Ask } from '../ask.ts';
import { textIn, truthIn } from './decode.ts';
import { grantMonitor } from './grants.ts';
import { nestedValues } from './nested-values.ts';
import { callable, where } from './overview.ts';
import { isTrue, type RowsSeen, readable, rowsSeen } from './unvalidated.ts';

/** A column of functions or operators, which are written by their names alone. */
export interface CallableColumn {
  readonly table: string;
  /** Quoted. */
  readonly column: string;
  /** `regproc`, `regoper`, `regproc[]`, `regoper[]`. */
  readonly type: string;
  /** The column is of a domain over it, or of a type that holds it. */
  readonly isInside: boolean;
  /** `violate`: a row holds a name that has several meanings. */
  readonly rows: RowsSeen;
}

/** A name is ambiguous where its schema has it twice: it is written with its schema unless it is the only one on the path. */
const several = (catalogue: string, name: string, schema: string): string =>
  `'SELECT EXISTS (SELECT 1 FROM ONLY %s r%s CROSS JOIN LATERAL unnest(ARRAY[%s::%s]) x(it) JOIN ${catalogue} p ON p.oid = x.it::oid WHERE (SELECT count(*) FROM ${catalogue} q WHERE q.${name} = p.${name} AND q.${schema} = p.${schema}) > 1) AS v'`;

export const callableColumns: Ask<readonly CallableColumn[]> = {
  id: 'callable-columns',
  scope: 'database',
  when: where('callables'),
  sql: (version) =>
    `SELECT o.*, CASE WHEN o.query IS NOT NULL THEN ${isTrue('o.query')} END AS violated FROM (SELECT v.relid::regclass AS name, quote_ident(v.attname) AS attname, v.type::regtype AS type, v.steps > 0 AS is_inside, CASE WHEN ${readable('c')} THEN format(CASE WHEN v.type IN ('24', '1008') THEN ${several('pg_proc', 'proname', 'pronamespace')} ELSE ${several('pg_operator', 'oprname', 'oprnamespace')} END, v.relid::regclass, v.sources, v.expr, v.type::regtype) END AS query FROM ${nestedValues(version, callable)} v JOIN pg_class c ON c.oid = v.relid) o ORDER BY 1, 2`,
  decode: (rows) =>
    rows.map((row) => ({
      table: textIn(row, 'name'),
      column: textIn(row, 'attname'),
      type: textIn(row, 'type'),
      isInside: truthIn(row, 'is_inside'),
      rows: rowsSeen(textIn(row, 'violated'), true),
    })),
  absent: [],
  grant: grantMonitor,
};
