import type { PostgresqlRow } from '../../../postgresql/connection.ts';
import type { PostgresqlQuery } from '../query.ts';
import { containingTypesSql } from './containing-types.ts';
import { dependsOnUserFunctionSql, whenPresent } from './database-overview.ts';
import { decodeBoolean, decodeList, decodeText } from './decode.ts';
import { grantMonitorRole } from './grants.ts';

/** Something that calls a function of a person for each row that is written. */
export interface FunctionUse {
  /** The oid of the function. */
  readonly calls: string;
  /** `unique`: an index that takes nothing twice; `support`: what compares or hashes its entries. */
  readonly kind: 'check' | 'domain' | 'index' | 'unique' | 'generated' | 'partition' | 'support' | 'trigger' | 'event';
  /** `constraint on table`, as it is shown. */
  readonly name: string;
  /** Rows are to be copied for which it is called; only tables that are replicated count. */
  readonly filled: boolean;
}

/** In a language that looks its names up when it runs; or a view, whose names are looked up, and which calls functions. */
export interface FunctionBody {
  readonly oid: string;
  readonly schema: string;
  readonly name: string;
  readonly isView: boolean;
  /** Qualified, quoted and with its argument types, as ALTER FUNCTION takes it. */
  readonly signature: string;
  readonly language: 'sql' | 'plpgsql';
  /** Empty for one that was written in the SQL standard's way, whose names were looked up when it was made. */
  readonly text: string;
  /** What it says then. */
  readonly bound: string;
  /** It brings a search_path of its own, which holds for what it calls, too. */
  readonly hasPath: boolean;
  /** It brings a time zone of its own. */
  readonly hasZone: boolean;
  /** The planner puts its text in its place, and so reads it before there is a row. */
  readonly inlined: boolean;
  /** Oids of what its looked-up names call. */
  readonly calls: readonly string[];
  /** Of its arguments, as pg_type has them: `_int4`. */
  readonly types: readonly string[];
  /** Of its arguments; none where some of them are results. */
  readonly names: readonly string[];
}

/** What words of those texts can mean outside of pg_catalog, which every search_path has. */
export interface NamedObject {
  readonly kind: 'relation' | 'function' | 'type' | 'text search configuration' | 'text search dictionary';
  readonly schema: string;
  readonly name: string;
}

export const functionUsesQuery: PostgresqlQuery<readonly FunctionUse[]> = {
  id: 'function-uses',
  scope: 'database',
  when: whenPresent('called-functions'),
  sql: (version) => `${userFunctionDependentsCte} ${functionUsesSql(version)}`,
  decode: (rows) =>
    rows.map((row) => ({
      calls: decodeText(row, 'calls'),
      kind: kindOf(row),
      name: decodeText(row, 'name'),
      filled: decodeBoolean(row, 'filled'),
    })),
  absent: [],
  grant: grantMonitorRole,
};

export const functionBodiesQuery: PostgresqlQuery<readonly FunctionBody[]> = {
  id: 'function-bodies',
  scope: 'database',
  when: whenPresent('called-functions'),
  sql: (version) =>
    `${userFunctionDependentsCte} SELECT p.oid, n.nspname, p.proname, p.oid::regprocedure::text AS signature, l.lanname, ${bodyOf(version)} AS body, ${bound(version)} AS bound, p.proconfig IS NOT NULL AND EXISTS (SELECT FROM unnest(p.proconfig) g WHERE left(g, 12) = 'search_path=') AS has_path, EXISTS (SELECT FROM unnest(p.proconfig) g WHERE lower(left(g, 9)) = 'timezone=') AS has_zone, l.lanname = 'sql' AND NOT p.prosecdef AND NOT p.proretset AND p.proconfig IS NULL AS inlined, ${boundCalls(version)} AS calls, (SELECT json_agg(y.typname ORDER BY g.at) FROM unnest(p.proargtypes) WITH ORDINALITY g (type, at) JOIN pg_type y ON y.oid = g.type) AS types, CASE WHEN p.proallargtypes IS NULL THEN array_to_json(p.proargnames) END AS names FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace JOIN pg_language l ON l.oid = p.prolang WHERE ${isUserFunctionSql}${viewBodiesSql}`,
  decode: (rows) =>
    rows.map((row) => ({
      oid: decodeText(row, 'oid'),
      schema: decodeText(row, 'nspname'),
      name: decodeText(row, 'proname'),
      isView: row.lanname === 'view',
      signature: decodeText(row, 'signature'),
      language: row.lanname === 'sql' ? 'sql' : 'plpgsql',
      text: decodeText(row, 'body'),
      bound: decodeText(row, 'bound'),
      hasPath: decodeBoolean(row, 'has_path'),
      hasZone: decodeBoolean(row, 'has_zone'),
      inlined: decodeBoolean(row, 'inlined'),
      calls: decodeList(row, 'calls'),
      types: decodeList(row, 'types'),
      names: decodeList(row, 'names'),
    })),
  absent: [],
  grant: grantMonitorRole,
};

/** Names that need quotes may be more than one word, so that all of these are told. */
export const namedObjectsQuery: PostgresqlQuery<readonly NamedObject[]> = {
  id: 'name-meanings',
  scope: 'database',
  when: whenPresent('called-functions'),
  sql: () =>
    `${userFunctionDependentsCte}, w AS (SELECT DISTINCT regexp_split_to_table(lower(p.prosrc), '[^[:alnum:]_$]+') AS word FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang WHERE ${isUserFunctionSql}), m AS (SELECT 'relation' AS kind, c.relnamespace AS home, c.relname::text AS name FROM pg_class c WHERE EXISTS (SELECT FROM d) AND c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AND c.relpersistence <> 't' UNION ALL SELECT 'function', p.pronamespace, p.proname::text FROM pg_proc p WHERE EXISTS (SELECT FROM d) UNION ALL SELECT 'type', t.typnamespace, t.typname::text FROM pg_type t WHERE EXISTS (SELECT FROM d) AND t.typcategory <> 'A' AND (t.typrelid = '0' OR EXISTS (SELECT FROM pg_class c WHERE c.oid = t.typrelid AND c.relkind = 'c')) UNION ALL SELECT 'text search configuration', s.cfgnamespace, s.cfgname::text FROM pg_ts_config s WHERE EXISTS (SELECT FROM d) UNION ALL SELECT 'text search dictionary', s.dictnamespace, s.dictname::text FROM pg_ts_dict s WHERE EXISTS (SELECT FROM d)) SELECT DISTINCT m.kind, n.nspname, m.name FROM m JOIN pg_namespace n ON n.oid = m.home WHERE n.nspname <> 'information_schema' AND left(n.nspname::text, 3) <> 'pg_' AND (m.name IN (SELECT word FROM w) OR (m.name !~ '^[a-z_][a-z0-9_$]*$' AND EXISTS (SELECT FROM w))) AND NOT EXISTS (SELECT FROM m s WHERE s.home = '11' AND s.kind = m.kind AND s.name = m.name)`,
  decode: (rows) =>
    rows.map((row) => ({
      kind: namedObjectKinds.find((one) => one === row.kind) ?? 'relation',
      schema: decodeText(row, 'nspname'),
      name: decodeText(row, 'name'),
    })),
  absent: [],
  grant: grantMonitorRole,
};

const namedObjectKinds: readonly NamedObject['kind'][] = [
  'function',
  'type',
  'text search configuration',
  'text search dictionary',
];

/** What calls the functions that are meant, by itself or through an operator. */
export const functionDependentsCte = (meant: string): string =>
  `WITH f AS (SELECT d.classid, d.objid, d.objsubid, d.refobjid AS calls FROM pg_depend d WHERE ${dependsOnUserFunctionSql} AND ${meant}), d AS (SELECT classid, objid, objsubid, calls FROM f WHERE classid <> '2617' UNION SELECT u.classid, u.objid, u.objsubid, f.calls FROM f JOIN pg_depend u ON u.refclassid = '2617' AND u.refobjid = f.objid WHERE f.classid = '2617' AND u.classid <> '2617')`;

/** Those that no extension made. Extensions make theirs on the target, too. */
export const userFunctionDependentsCte = functionDependentsCte(
  "NOT EXISTS (SELECT FROM pg_depend e WHERE e.classid = '1255' AND e.objid = d.refobjid AND e.deptype = 'e')",
);

/** Only where anything depends on one at all. */
export const isUserFunctionSql =
  "EXISTS (SELECT FROM d) AND p.oid >= '16384' AND (l.lanname = 'sql' OR l.lanname = 'plpgsql') AND p.prorettype <> '2279' AND NOT EXISTS (SELECT FROM pg_depend e WHERE e.classid = '1255' AND e.objid = p.oid AND e.deptype = 'e')";

/** Those over functions of a person, or over other views. 2618 is pg_rewrite. */
const viewBodiesSql =
  " UNION ALL SELECT v.oid, n.nspname, v.relname, v.oid::regclass::text, 'view', '', '', false, false, false, json_agg(b.refobjid::text), NULL, NULL FROM pg_rewrite r JOIN pg_class v ON v.oid = r.ev_class JOIN pg_namespace n ON n.oid = v.relnamespace JOIN pg_depend b ON b.classid = '2618' AND b.objid = r.oid WHERE EXISTS (SELECT FROM d) AND v.oid >= '16384' AND v.relkind = 'v' AND b.refobjid >= '16384' AND b.refobjid <> v.oid AND (b.refclassid = '1255' OR (b.refclassid = '1259' AND EXISTS (SELECT FROM pg_class u WHERE u.oid = b.refobjid AND u.relkind = 'v'))) GROUP BY v.oid, n.nspname, v.relname";

/** relpages first: the file is looked at only where the catalogue says nothing. */
const filled = "c.relkind = 'r' AND c.relpersistence = 'p' AND (c.relpages > 0 OR pg_relation_size(c.oid) > 0)";

/** A partition of the table `c` has rows. */
const filledBelow = `EXISTS (WITH RECURSIVE t AS (SELECT c.oid UNION ALL SELECT i.inhrelid FROM pg_inherits i JOIN t ON i.inhparent = t.oid) SELECT FROM t JOIN pg_class c ON c.oid = t.oid WHERE ${filled})`;

export function functionUsesSql(version: number): string {
  const table = "(c.relkind = 'r' OR c.relkind = 'p') AND c.relpersistence <> 't'";
  const enforced = version < 180_000 ? '' : ' AND k.conenforced';
  // Materialized views are empty on the target, and their indexes are made all the same.
  const parts = [
    `SELECT d.calls, 'check' AS kind, k.conname || ' on ' || c.oid::regclass AS name, ${filled} AS filled FROM d JOIN pg_constraint k ON k.oid = d.objid JOIN pg_class c ON c.oid = k.conrelid WHERE d.classid = '2606' AND k.contype = 'c' AND ${table}${enforced}`,
    `SELECT d.calls, 'domain', k.conname || ' on ' || k.contypid::regtype, k.contypid IN (${filledDomains(version)}) FROM d JOIN pg_constraint k ON k.oid = d.objid WHERE d.classid = '2606' AND k.contype = 'c' AND k.contypid <> '0'`,
    `SELECT d.calls, CASE WHEN i.indisunique OR i.indisexclusion THEN 'unique' ELSE 'index' END, 'index ' || i.indexrelid::regclass || ' on ' || c.oid::regclass, ${filled} FROM d JOIN pg_index i ON i.indexrelid = d.objid JOIN pg_class c ON c.oid = i.indrelid WHERE d.classid = '1259' AND d.objsubid = '0' AND (i.indisvalid OR c.relkind = 'p') AND (c.relkind = 'm' OR (${table}))`,
    `SELECT d.calls, 'partition', 'partition key of ' || c.oid::regclass, ${filledBelow} FROM d JOIN pg_class c ON c.oid = d.objid WHERE d.classid = '1259' AND d.objsubid = '0' AND c.relkind = 'p'`,
    // Of these the function itself is judged elsewhere: here what its WHEN calls.
    `SELECT d.calls, 'trigger', 'trigger ' || quote_ident(t.tgname) || ' on ' || c.oid::regclass, ${filled} AND t.tgtype & 4 <> 0 FROM d JOIN pg_trigger t ON t.oid = d.objid JOIN pg_class c ON c.oid = t.tgrelid WHERE d.classid = '2620' AND t.tgenabled IN ('A', 'R') AND NOT t.tgisinternal AND ${table}`,
    `SELECT d.calls, 'event', 'event trigger ' || quote_ident(e.evtname), true FROM d JOIN pg_event_trigger e ON e.oid = d.objid WHERE d.classid = '3466' AND e.evtenabled IN ('O', 'A') AND left(e.evtevent::text, 12) = 'ddl_command_' AND (e.evttags IS NULL OR e.evttags && '{CREATE PUBLICATION,CREATE SUBSCRIPTION}')`,
    ...support(version, table),
    ...generated(version, table),
  ];
  return parts.join(' UNION ALL ');
}

/**
 * Domains with rows, of all that are meant, wherever their values stand: in another domain, an array, a composite, a range. In
 * one query that depends on no row, since nobody wants to read every column once for each of them.
 */
function filledDomains(version: number): string {
  return `WITH RECURSIVE w AS (SELECT k.contypid AS root, k.contypid AS oid FROM d JOIN pg_constraint k ON k.oid = d.objid WHERE d.classid = '2606' AND k.contypid <> '0' UNION SELECT w.root, h.whole FROM w JOIN (${containingTypesSql(version)}) h ON h.part = w.oid) SELECT w.root FROM w JOIN pg_attribute a ON a.atttypid = w.oid JOIN pg_class c ON c.oid = a.attrelid WHERE NOT a.attisdropped AND ${filled}`;
}

/**
 * An operator class calls its functions (2603 is pg_amproc) for the entries of its indexes and the keys of its partitions; a range
 * type the one that tells a difference where a GiST index (783) has more than one page.
 */
function support(version: number, table: string): readonly string[] {
  const ofClass =
    "d JOIN pg_amproc m ON d.classid = '2603' AND m.oid = d.objid JOIN pg_opclass o ON o.opcfamily = m.amprocfamily";
  return [
    `SELECT d.calls, 'support', 'index ' || i.indexrelid::regclass || ' on ' || c.oid::regclass, ${filled} FROM ${ofClass} JOIN pg_index i ON o.oid = ANY (i.indclass) JOIN pg_class c ON c.oid = i.indrelid WHERE i.indexrelid >= '16384' AND i.indisvalid AND c.relkind = 'r' AND ${table}`,
    ...(version < 100_000
      ? []
      : [
          `SELECT d.calls, 'support', 'partition key of ' || c.oid::regclass, ${filledBelow} FROM ${ofClass} JOIN pg_partitioned_table p ON o.oid = ANY (p.partclass) JOIN pg_class c ON c.oid = p.partrelid`,
        ]),
    `SELECT d.calls, 'support', 'index ' || i.indexrelid::regclass || ' on ' || c.oid::regclass, ${filled} AND pg_relation_size(i.indexrelid) > 8192 FROM d JOIN pg_attribute a ON d.classid = '1247' AND a.atttypid = d.objid JOIN pg_index i ON i.indexrelid = a.attrelid JOIN pg_class x ON x.oid = i.indexrelid AND x.relam = '783' JOIN pg_class c ON c.oid = i.indrelid WHERE i.indisvalid AND c.relkind = 'r' AND ${table}`,
  ];
}

/** Until 14 the column itself depends, later its default does. */
function generated(version: number, table: string): readonly string[] {
  if (version < 120_000) return [];
  const column =
    version < 150_000
      ? "pg_attribute a ON d.classid = '1259' AND a.attrelid = d.objid AND a.attnum = d.objsubid"
      : "pg_attrdef f ON d.classid = '2604' AND f.oid = d.objid JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum";
  return [
    `SELECT d.calls, 'generated', 'column ' || c.oid::regclass || '.' || quote_ident(a.attname), ${filled} FROM d JOIN ${column} JOIN pg_class c ON c.oid = a.attrelid WHERE a.attgenerated = 's' AND ${table}`,
  ];
}

function bodyOf(version: number): string {
  return version < 140_000 ? 'p.prosrc' : "CASE WHEN p.prosqlbody IS NULL THEN p.prosrc ELSE '' END";
}

function bound(version: number): string {
  return version < 140_000 ? "''" : "coalesce(pg_get_function_sqlbody(p.oid), '')";
}

function boundCalls(version: number): string {
  if (version < 140_000) return 'NULL';
  return "CASE WHEN p.prosqlbody IS NOT NULL THEN (SELECT json_agg(b.refobjid::text) FROM pg_depend b WHERE b.classid = '1255' AND b.objid = p.oid AND b.refclassid = '1255' AND b.refobjid >= '16384') END";
}

function kindOf({ kind }: PostgresqlRow): FunctionUse['kind'] {
  return kinds.find((one) => one === kind) ?? 'check';
}

const kinds: readonly FunctionUse['kind'][] = [
  'domain',
  'index',
  'unique',
  'generated',
  'partition',
  'support',
  'trigger',
  'event',
];
