import { catalogOids, firstNormalOid } from '../../../../postgresql/catalog-oids.ts';
import {
  decodeBoolean,
  decodeNumber,
  decodeOptionalText,
  decodeText,
  decodeTextArray,
} from '../../../../postgresql/rows.ts';
import type { PostgresqlQuery } from '../query.ts';
import { isMemberSql, isNotMemberSql } from './catalog-predicates.ts';
import { featureCondition } from './database-overview.ts';
import { dumpedTreesSql } from './incompatible-calls.ts';

/** A definition whose call of a function is resolved in another way when a dump is restored. */
export interface OverloadedCall {
  /** The object: `view public.v`. */
  readonly object: string;
  /** The function that the definition calls, with the types of the arguments in the call: `public.price(integer)`. */
  readonly call: string;
  /** The function that was added. */
  readonly other: string;
  /** Whether PostgreSQL rejects the call because it accepts both functions equally. */
  readonly isAmbiguous: boolean;
  /** Whether the expression is evaluated for stored rows. */
  readonly stores: boolean;
}

/**
 * A dump has the text of a call, without the arguments that have defaults, and its function is found anew by the types of
 * the arguments. Two functions of a schema with the same types in these positions are an error
 * (https://www.postgresql.org/docs/current/typeconv-func.html). If the types are not exactly those of the function, one
 * that was added later may fit better. The first row of each definition has its node tree, because the tree may be large.
 */
export const overloadedCallsQuery: PostgresqlQuery<readonly OverloadedCall[]> = {
  id: 'overloaded-calls',
  scope: 'database',
  when: featureCondition('functions'),
  sql: (version) => `
    WITH o AS (
      SELECT p.pronamespace AS home, p.proname AS name
      FROM pg_proc p
      WHERE p.oid >= '${firstNormalOid}'
      GROUP BY p.pronamespace, p.proname
      HAVING count(*) > 1 AND bool_or(${isNotMemberSql('pg_proc', 'p.oid')})
    ), u AS (
      SELECT
        f.oid AS used,
        g.oid AS other,
        g.pronargs - g.pronargdefaults AS fewest,
        CASE g.provariadic WHEN '0' THEN g.pronargs ELSE 100 END AS most,
        coalesce(
          (
            SELECT min(i)
            FROM generate_series(0, least(f.pronargs, g.pronargs) - 1) i
            WHERE f.proargtypes[i] <> g.proargtypes[i]
          ),
          least(f.pronargs, CASE g.provariadic WHEN '0' THEN g.pronargs ELSE g.pronargs - 1 END)
        ) AS same,
        g.xmin::text::bigint AS xmin,
        ARRAY(SELECT format_type(t, NULL) FROM unnest(f.proargtypes::oid[]) t) AS types,
        EXISTS (
          SELECT FROM unnest(f.proargtypes::oid[]) t
          JOIN pg_type y ON y.oid = t
          WHERE y.typtype = 'p'
        ) AS is_polymorphic
      FROM o
      JOIN pg_proc f ON f.pronamespace = o.home AND f.proname = o.name
      JOIN pg_proc g ON g.pronamespace = o.home AND g.proname = o.name AND g.oid <> f.oid
      WHERE g.pronargs - g.pronargdefaults <= f.pronargs
        AND (g.provariadic <> '0' OR g.pronargs >= f.pronargs - f.pronargdefaults)
        AND NOT (${isMemberSql('pg_proc', 'f.oid')} AND ${isMemberSql('pg_proc', 'g.oid')})
    ), d AS (
      SELECT
        d.classid,
        d.objid,
        u.*,
        u.other::bigint > d.objid::bigint
          AND (u.xmin >= d.xmin::text::bigint OR txid_snapshot_xmax(txid_current_snapshot()) >= 2147483648) AS is_later
      FROM u
      JOIN pg_depend d ON d.refclassid = '${catalogOids.pg_proc}' AND d.refobjid = u.used
      WHERE d.deptype = 'n'
    ), x AS (
      SELECT DISTINCT
        concat_ws(' ', e.catalog, e.oid, e.object) AS definition,
        e.object,
        e.stores,
        e.tree,
        d.used,
        quote_ident(n.nspname) || '.' || quote_ident(f.proname) AS name,
        d.other::regprocedure::text AS other,
        d.types,
        d.fewest,
        d.most,
        d.same,
        d.is_polymorphic,
        d.is_later
      FROM (${dumpedTreesSql(version)}) e
      JOIN d ON d.classid = e.catalog AND d.objid = e.oid
      JOIN pg_proc f ON f.oid = d.used
      JOIN pg_namespace n ON n.oid = f.pronamespace
      WHERE EXISTS (SELECT FROM d)
        AND e.tree ~ (':funcid ' || d.used || ' ')
        AND NOT (${isRestoredBeforeSql})
    )
    SELECT
      definition,
      CASE row_number() OVER (PARTITION BY definition) WHEN 1 THEN tree END AS tree,
      object,
      stores,
      used,
      name,
      other,
      types,
      fewest,
      most,
      same,
      is_polymorphic,
      is_later
    FROM x
    ORDER BY object, name, other
  `,
  decode: (rows) => {
    const trees = new Map(
      rows
        .map((row) => [decodeText(row, 'definition'), decodeOptionalText(row, 'tree')] as const)
        .filter(([, tree]) => tree !== undefined),
    );
    const pairs = rows.map((row) => ({
      object: decodeText(row, 'object'),
      stores: decodeBoolean(row, 'stores'),
      used: decodeText(row, 'used'),
      name: decodeText(row, 'name'),
      other: decodeText(row, 'other'),
      types: decodeTextArray(row, 'types'),
      fewest: decodeNumber(row, 'fewest'),
      most: decodeNumber(row, 'most'),
      same: decodeNumber(row, 'same'),
      isPolymorphic: decodeBoolean(row, 'is_polymorphic'),
      isLater: decodeBoolean(row, 'is_later'),
      calls: readCalls(trees.get(decodeText(row, 'definition')) ?? '', decodeText(row, 'used')),
    }));
    const byCall = new Map<string, (typeof pairs)[number][]>();
    for (const pair of pairs) {
      const key = `${pair.used} ${pair.object}`;
      byCall.set(key, byCall.get(key) ?? []);
      byCall.get(key)?.push(pair);
    }
    return pairs.flatMap((pair) => {
      const found = pair.calls.flatMap(({ count, isExact }) => {
        const accepts = (one: typeof pair) => count >= one.fewest && count <= one.most;
        if (!accepts(pair)) return [];
        const exact = isExact && !pair.isPolymorphic;
        // A third function can only be meant if it fits better.
        const hasThird = () =>
          byCall.get(`${pair.used} ${pair.object}`)?.some((one) => accepts(one) && count > one.same) === true;
        const isAmbiguous = count <= pair.same && (exact || !hasThird());
        if (!isAmbiguous && (exact || !pair.isLater)) return [];
        const { object, stores, name, other, types, isPolymorphic } = pair;
        const call = `${name}(${isPolymorphic || !isExact ? '…' : types.slice(0, count).join(', ')})`;
        return [{ object, stores, call, other, isAmbiguous }];
      });
      const worst = found.find(({ isAmbiguous }) => isAmbiguous) ?? found[0];
      return worst === undefined ? [] : [worst];
    });
  },
  absent: [],
};

/**
 * Whether a dump creates the definition `e` before the function `d.other`, so that the call of `f` in schema `n` cannot
 * mean that one: pg_dump writes types before functions, and functions by their names, unless something that it writes
 * earlier needs the other function.
 */
const isRestoredBeforeSql = `
  CASE e.catalog
    WHEN '${catalogOids.pg_type}' THEN true
    WHEN '${catalogOids.pg_constraint}'
      THEN EXISTS (SELECT FROM pg_constraint k WHERE k.oid = e.oid AND k.contypid <> '0' AND k.convalidated)
    WHEN '${catalogOids.pg_proc}' THEN EXISTS (
      SELECT FROM pg_proc h
      JOIN pg_namespace m ON m.oid = h.pronamespace
      WHERE h.oid = e.oid AND (m.nspname, h.proname) < (n.nspname, f.proname)
    )
    ELSE false
  END
  AND NOT ${isMemberSql('pg_proc', 'd.other')}
  AND NOT EXISTS (
    SELECT FROM pg_depend b
    LEFT JOIN pg_constraint k ON b.classid = '${catalogOids.pg_constraint}' AND k.oid = b.objid
    WHERE b.refclassid = '${catalogOids.pg_proc}'
      AND b.refobjid = d.other
      AND (
        b.classid IN ('${catalogOids.pg_type}', '${catalogOids.pg_proc}', '${catalogOids.pg_cast}')
        OR k.contypid <> '0'
      )
  )
`;

interface Call {
  /** The number of arguments that a dump writes. */
  readonly count: number;
  /** Whether no argument is converted implicitly or has a name: the types of the call are those of the function. */
  readonly isExact: boolean;
}

/** Calls of one function in an expression that are read: each may contain the others, and all are alike in practice. */
const maxCalls = 200;

/** The calls of a function in a node tree that a dump writes as calls, not as casts. */
function readCalls(tree: string, oid: string): readonly Call[] {
  const start = `{FUNCEXPR :funcid ${oid} `;
  const calls: Call[] = [];
  for (let at = tree.indexOf(start); at >= 0 && calls.length < maxCalls; at = tree.indexOf(start, at + 1)) {
    const list = tree.indexOf(':args ', at);
    const head = tree.slice(at, list);
    if (list < 0 || !head.includes(':funcformat 0 ') || head.includes(':funcvariadic true')) continue;
    calls.push(readArguments(tree, list + ':args '.length));
  }
  return calls;
}

/** In a node tree a backslash stands before each brace that is part of a name. */
function readArguments(tree: string, from: number): Call {
  let [count, depth, isExact] = [0, 0, true];
  if (tree[from] !== '(') return { count, isExact };
  const marks = /\\.|[{}]|\)|:\w*format 2 |NAMEDARGEXPR/gs;
  marks.lastIndex = from + 1;
  for (let mark = marks.exec(tree); mark !== null; mark = marks.exec(tree)) {
    const [text] = mark;
    if (text === '{') {
      if (depth === 0) count += 1;
      depth += 1;
    } else if (text === '}') depth -= 1;
    else if (text === ')') {
      if (depth === 0) break;
    } else if (depth === 1 && !text.startsWith('\\')) isExact = false;
  }
  return { count, isExact };
}
