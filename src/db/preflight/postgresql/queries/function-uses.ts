import { accessMethodOids, catalogOids, firstNormalOid, typeOids } from '../../../../postgresql/catalog-oids.ts';
import { column, columns, type RowOf, rowsQuery } from '../query.ts';
import { isNotMemberSql, userDependencySql } from './catalog-predicates.ts';
import { featureCondition } from './database-overview.ts';
import { containingTypesSql } from './row-scan.ts';

/**
 * WITH clause with the table `d`: objects that call the functions for which `meant` is true, directly, through an operator
 * or by a cast to a domain. A generated column of the domain is a use of the domain.
 */
export const functionDependentsCte = (meant: string): string => `
  WITH f AS (
    SELECT d.classid, d.objid, d.objsubid, d.refobjid AS calls
    FROM pg_depend d
    WHERE ${userDependencySql} AND ${meant}
  ),
  d AS (
    SELECT classid, objid, objsubid, calls
    FROM f
    WHERE classid <> '${catalogOids.pg_operator}'
    UNION
    SELECT u.classid, u.objid, u.objsubid, f.calls
    FROM f
    JOIN pg_depend u ON u.refclassid = '${catalogOids.pg_operator}' AND u.refobjid = f.objid
    WHERE f.classid = '${catalogOids.pg_operator}'
      AND u.classid <> '${catalogOids.pg_operator}'
    UNION
    SELECT u.classid, u.objid, u.objsubid, f.calls
    FROM f
    JOIN pg_constraint k ON k.oid = f.objid AND k.contypid <> '0'
    JOIN pg_depend u ON u.refclassid = '${catalogOids.pg_type}' AND u.refobjid = k.contypid
    WHERE f.classid = '${catalogOids.pg_constraint}'
      AND u.deptype = 'n'
      AND (
        u.classid = '${catalogOids.pg_constraint}' OR (u.classid = '${catalogOids.pg_class}' AND u.objsubid = 0)
      )
  )
`;

/** Functions of extensions are left out, because CREATE EXTENSION creates them on the target as well. */
export const userDependentsCte = functionDependentsCte(isNotMemberSql('pg_proc', 'd.refobjid'));

/**
 * SQL condition for functions of users in SQL or PL/pgSQL (aliases `p` and `l`). No function matches if `d`, the
 * objects that call such functions, has no rows.
 */
export const userFunctionSql = `
  EXISTS (SELECT FROM d)
    AND p.oid >= '${firstNormalOid}'
    AND (l.lanname = 'sql' OR l.lanname = 'plpgsql')
    AND p.prorettype <> '${typeOids.trigger}'
    AND ${isNotMemberSql('pg_proc', 'p.oid')}
`;

/**
 * Condition: the table `c` has rows. The expression reads the size of the table file only when pg_class.relpages is 0.
 */
export const hasRowsSql =
  "c.relkind = 'r' AND c.relpersistence = 'p' AND (c.relpages > 0 OR pg_relation_size(c.oid) > 0)";

/** Condition: a partition of the table `c` has rows. */
const filledBelow = `
  EXISTS (
    WITH RECURSIVE t AS (
      SELECT c.oid
      UNION ALL
      SELECT i.inhrelid
      FROM pg_inherits i
      JOIN t ON i.inhparent = t.oid
    )
    SELECT FROM t
    JOIN pg_class c ON c.oid = t.oid
    WHERE ${hasRowsSql}
  )
`;

export function functionUsesSql(version: number): string {
  const table = "(c.relkind = 'r' OR c.relkind = 'p') AND c.relpersistence <> 't'";
  const enforced = version < 180_000 ? '' : ' AND k.conenforced';
  // Indexes of materialized views count too: the views are empty on the target, but their indexes are created.
  const parts = [
    `
      SELECT
        d.calls,
        'check' AS kind,
        k.conname || ' on ' || c.oid::regclass AS name,
        ${hasRowsSql} AS filled
      FROM d
      JOIN pg_constraint k ON k.oid = d.objid
      JOIN pg_class c ON c.oid = k.conrelid
      WHERE d.classid = '${catalogOids.pg_constraint}'
        AND k.contype = 'c'
        AND ${table}${enforced}
    `,
    `
      SELECT
        d.calls,
        'domain',
        k.conname || ' on ' || k.contypid::regtype,
        k.contypid IN (${filledDomains(version)})
      FROM d
      JOIN pg_constraint k ON k.oid = d.objid
      WHERE d.classid = '${catalogOids.pg_constraint}'
        AND k.contype = 'c'
        AND k.contypid <> '0'
    `,
    `
      SELECT
        d.calls,
        CASE WHEN i.indisunique OR i.indisexclusion THEN 'unique' ELSE 'index' END,
        'index ' || i.indexrelid::regclass || ' on ' || c.oid::regclass,
        (${hasRowsSql}) OR ${isCalledWithConstantsSql("concat(i.indexprs::text, ' ', i.indpred::text)")}
      FROM d
      JOIN pg_index i ON i.indexrelid = d.objid
      JOIN pg_class c ON c.oid = i.indrelid
      WHERE d.classid = '${catalogOids.pg_class}'
        AND d.objsubid = '0'
        AND (i.indisvalid OR c.relkind = 'p')
        AND (c.relkind = 'm' OR (${table}))
    `,
    `
      SELECT
        d.calls,
        'partition',
        'partition key of ' || c.oid::regclass,
        ${filledBelow}
      FROM d
      JOIN pg_class c ON c.oid = d.objid
      WHERE d.classid = '${catalogOids.pg_class}'
        AND d.objsubid = '0'
        AND c.relkind = 'p'
    `,
    // For triggers, only functions that the WHEN clause calls; another query returns the trigger functions.
    `
      SELECT
        d.calls,
        'trigger',
        'trigger ' || quote_ident(t.tgname) || ' on ' || c.oid::regclass,
        ${hasRowsSql} AND t.tgtype & 4 <> 0
      FROM d
      JOIN pg_trigger t ON t.oid = d.objid
      JOIN pg_class c ON c.oid = t.tgrelid
      WHERE d.classid = '${catalogOids.pg_trigger}'
        AND t.tgenabled IN ('A', 'R')
        AND NOT t.tgisinternal
        AND ${table}
    `,
    `
      SELECT d.calls, 'event', 'event trigger ' || quote_ident(e.evtname), true
      FROM d
      JOIN pg_event_trigger e ON e.oid = d.objid
      WHERE d.classid = '${catalogOids.pg_event_trigger}'
        AND e.evtenabled IN ('O', 'A')
        AND left(e.evtevent::text, 12) = 'ddl_command_'
        AND (e.evttags IS NULL OR e.evttags && '{CREATE PUBLICATION,CREATE SUBSCRIPTION}')
    `,
    `
      SELECT DISTINCT d.calls, 'refresh', 'materialized view ' || v.oid::regclass, false
      FROM d
      JOIN pg_rewrite w ON w.oid = d.objid
      JOIN pg_class v ON v.oid = w.ev_class
      WHERE d.classid = '${catalogOids.pg_rewrite}' AND v.relkind = 'm'
    `,
    ...support(version, table),
    ...generated(version, table),
  ];
  return parts.join(' UNION ALL ');
}

/** Condition: the node tree calls the function `d.calls` with constants, which CREATE INDEX does even without rows. */
function isCalledWithConstantsSql(tree: string): string {
  return `${tree} ~ ('funcid ' || d.calls || ' [^{}]*:args (<>|[(][{]CONST [^{}]*[}]( [{]CONST [^{}]*[}])*[)])')`;
}

/** Domains whose values rows can contain, among the domains whose constraints call a function. */
function filledDomains(version: number): string {
  const roots = `
    SELECT k.contypid
    FROM d
    JOIN pg_constraint k ON k.oid = d.objid
    WHERE d.classid = '${catalogOids.pg_constraint}'
      AND k.contypid <> '0'
  `;
  return `SELECT root FROM (${filledDomainsSql(version, roots)}) f`;
}

/** Condition: bounds of partitions are values of the column `a`; they are read when the partitions are created. */
const isBoundSql = `
  (
    c.relkind = 'p'
      AND EXISTS (
        SELECT FROM pg_partitioned_table p
        JOIN pg_inherits i ON i.inhparent = p.partrelid
        WHERE p.partrelid = c.oid
          AND p.partstrat <> 'h'
          AND a.attnum = ANY (p.partattrs::int2[])
      )
  )
`;

/**
 * Which of the domains `roots` rows can contain (`root`): in a column, in the bound of a partition, or inside another domain, an array, a composite
 * type or a range. `tables` and `columns` are those whose type is the domain itself. One query reads all domains,
 * because it must read every column.
 */
export function filledDomainsSql(version: number, roots: string): string {
  return `
    SELECT
      w.root,
      array_agg(c.oid::regclass::text ORDER BY c.oid, a.attnum) FILTER (WHERE w.root = w.oid) AS tables,
      array_agg(a.attname::text ORDER BY c.oid, a.attnum) FILTER (WHERE w.root = w.oid) AS columns
    FROM (
      WITH RECURSIVE w AS (
        SELECT r.oid AS root, r.oid
        FROM (${roots}) r (oid)
        UNION
        SELECT w.root, h.whole
        FROM w
        JOIN (${containingTypesSql(version)}) h ON h.part = w.oid
      )
      SELECT root, oid FROM w
    ) w
    JOIN pg_attribute a ON a.atttypid = w.oid
    JOIN pg_class c ON c.oid = a.attrelid
    WHERE NOT a.attisdropped
      AND ((${hasRowsSql})${version < 100_000 ? '' : ` OR ${isBoundSql}`})
    GROUP BY w.root
  `;
}

/**
 * Support functions of operator classes, which are called for index entries and partition keys, and the difference
 * function of a range type, which is called when a GiST index has more than one page.
 */
function support(version: number, table: string): readonly string[] {
  const ofClass = `
     d
    JOIN pg_amproc m ON d.classid = '${catalogOids.pg_amproc}' AND m.oid = d.objid
    JOIN pg_opclass o ON o.opcfamily = m.amprocfamily
  `;
  return [
    `
      SELECT
        d.calls,
        'support',
        'index ' || i.indexrelid::regclass || ' on ' || c.oid::regclass,
        ${hasRowsSql}
      FROM ${ofClass}
      JOIN pg_index i ON o.oid = ANY (i.indclass)
      JOIN pg_class c ON c.oid = i.indrelid
      WHERE i.indexrelid >= '${firstNormalOid}'
        AND i.indisvalid
        AND c.relkind = 'r'
        AND ${table}
    `,
    ...(version < 100_000
      ? []
      : [
          `
            SELECT
              d.calls,
              'support',
              'partition key of ' || c.oid::regclass,
              ${filledBelow}
            FROM ${ofClass}
            JOIN pg_partitioned_table p ON o.oid = ANY (p.partclass)
            JOIN pg_class c ON c.oid = p.partrelid
          `,
        ]),
    `
      SELECT
        d.calls,
        'support',
        'index ' || i.indexrelid::regclass || ' on ' || c.oid::regclass,
        ${hasRowsSql} AND pg_relation_size(i.indexrelid) > 8192
      FROM d
      JOIN pg_attribute a ON d.classid = '${catalogOids.pg_type}' AND a.atttypid = d.objid
      JOIN pg_index i ON i.indexrelid = a.attrelid
      JOIN pg_class x ON x.oid = i.indexrelid AND x.relam = '${accessMethodOids.gist}'
      JOIN pg_class c ON c.oid = i.indrelid
      WHERE i.indisvalid
        AND c.relkind = 'r'
        AND ${table}
    `,
  ];
}

/**
 * Generated columns that call a function. In pg_depend, the column depends on the function before PostgreSQL 15; since
 * PostgreSQL 15 the default of the column depends on the function.
 */
function generated(version: number, table: string): readonly string[] {
  if (version < 120_000) return [];
  const column =
    version < 150_000
      ? `
        pg_attribute a ON d.classid = '${catalogOids.pg_class}'
          AND a.attrelid = d.objid
          AND a.attnum = d.objsubid
      `
      : `
         pg_attrdef f ON d.classid = '${catalogOids.pg_attrdef}' AND f.oid = d.objid
        JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
      `;
  return [
    `
      SELECT
        d.calls,
        'generated',
        'column ' || c.oid::regclass || '.' || quote_ident(a.attname),
        ${hasRowsSql}
      FROM d
      JOIN ${column}
      JOIN pg_class c ON c.oid = a.attrelid
      WHERE a.attgenerated = 's' AND ${table}
    `,
  ];
}

/** An object that calls a function of a user for each row that is written. */
export type FunctionUse = RowOf<typeof functionUsesQuery>;

export const functionUsesQuery = rowsQuery({
  id: 'function-uses',
  scope: 'database',
  when: featureCondition('called-functions'),
  sql: (version) => `${userDependentsCte} ${functionUsesSql(version)}`,
  row: columns({
    /** Object id of the function that the object calls. */
    calls: column.text('calls'),
    /**
     * The kind of object. `unique`: a unique index or an exclusion constraint; `support`: a support function of an
     * operator class; `refresh`: a materialized view, which is empty on the target until it is refreshed.
     */
    kind: column.oneOf(
      'kind',
      'check',
      'domain',
      'index',
      'unique',
      'generated',
      'partition',
      'support',
      'trigger',
      'event',
      'refresh',
    ),
    /** The name of the object, as reports show it: `constraint on table`. */
    name: column.text('name'),
    /** Whether the function is called for rows that the initial copy reads, or for constants when an index is created. */
    filled: column.boolean('filled'),
  }),
});
