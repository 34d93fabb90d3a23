import type { Ask } from '../ask.ts';
import { textIn } from './decode.ts';
import { grantMonitor } from './grants.ts';
import { isSystemValue, where } from './overview.ts';
import { filled, isTrue, type RowsSeen, readable, rowsSeen } from './unvalidated.ts';

/** A column whose values a server writes, and another may not read. */
export interface SystemValue {
  readonly table: string;
  /** Quoted. */
  readonly column: string;
  /** `pg_node_tree`, `aclitem[]`, `regclass`, `money`; of a domain what it is made of. */
  readonly type: string;
  /** `violate`: a row holds such a value. */
  readonly rows: RowsSeen;
}

const query = (from: string): string => `'SELECT EXISTS (SELECT 1 FROM ONLY %s r${from}) AS v'`;

/** Of roles by number, since they are gone; 0 is everybody. */
const ofNobody = query(
  ' CROSS JOIN LATERAL aclexplode(%s) x WHERE NOT EXISTS (SELECT 1 FROM pg_roles o WHERE o.oid = x.grantor) OR (x.grantee <> 0 AND NOT EXISTS (SELECT 1 FROM pg_roles o WHERE o.oid = x.grantee))',
);

/** Of tables that are not copied, or have another number in their name there: TOAST (99), and those of sessions. */
const notCopied = query(
  " CROSS JOIN LATERAL unnest(ARRAY[r.%I::%s]) x JOIN pg_class o ON o.oid = x::oid WHERE o.relnamespace = 99 OR o.relpersistence = ''t''",
);

const there = query(' WHERE r.%I IS NOT NULL');

/** As money is written where nobody set anything; what the session of a role has in a database holds for the copy as well. */
const asUsual = "1234.56::numeric::money::text = '$1,234.56' AND (-1234.56)::numeric::money::text = '-$1,234.56'";

export const systemValues: Ask<readonly SystemValue[]> = {
  id: 'system-values',
  scope: 'database',
  when: where('callables'),
  sql: () =>
    `SELECT o.name, o.attname, o.type::text AS type, CASE WHEN o.type IN ('790', '791') THEN NOT (${asUsual}) WHEN o.query IS NOT NULL THEN ${isTrue('o.query')} END AS violated FROM (SELECT c.oid::regclass AS name, quote_ident(a.attname) AS attname, b.oid::regtype AS type, CASE WHEN ${readable('c')} THEN CASE WHEN b.oid IN ('1033', '1034') THEN format(${ofNobody}, c.oid::regclass, format(CASE b.oid WHEN '1033' THEN 'ARRAY[r.%I::aclitem]' ELSE 'r.%I::aclitem[]' END, a.attname)) WHEN b.oid IN ('2205', '2210') THEN format(${notCopied}, c.oid::regclass, a.attname, b.oid::regtype) ELSE format(${there}, c.oid::regclass, a.attname) END END AS query FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_type t ON t.oid = a.atttypid JOIN pg_type b ON b.oid = CASE t.typtype WHEN 'd' THEN t.typbasetype ELSE t.oid END WHERE c.oid >= '16384' AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped AND ${isSystemValue('b.oid')} AND ${filled('c')}) o ORDER BY 1, 2`,
  decode: (rows) =>
    rows.map((row) => ({
      table: textIn(row, 'name'),
      column: textIn(row, 'attname'),
      type: textIn(row, 'type'),
      rows: rowsSeen(textIn(row, 'violated'), true),
    })),
  absent: [],
  grant: grantMonitor,
};
