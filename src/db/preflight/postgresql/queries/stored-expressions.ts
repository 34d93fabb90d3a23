import {
  catalogOids,
  firstNormalOid,
  writingFunctions,
  writingOperators,
} from '../../../../postgresql/catalog-oids.ts';
import { decodeOptionalText, decodeTextArray, type PostgresqlRow } from '../../../../postgresql/rows.ts';
import { column, columns, type RowOf, rowsQuery } from '../query.ts';
import { callableCatalogSql, decodeVersion, type RowVersion, rowVersionSql } from './callables.ts';
import {
  collationOrderSql,
  hiddenPartSql,
  letterDependenceSql,
  serverDependenceSql,
  textOrderSql,
} from './catalog-predicates.ts';
import { hasStoredExpressions } from './database-overview.ts';
import { filledDomainsSql, hasRowsSql } from './function-uses.ts';

/**
 * An expression that was evaluated when a row was written, and that the target evaluates again: it calls something that
 * users or extensions created, or something whose results differ between releases.
 */
export type StoredExpression = RowOf<typeof storedExpressionsQuery>;

/** The constraint of a domain has an automatic dependency (deptype `a`) on the domain itself, which it does not call. */
export const storedExpressionsQuery = rowsQuery({
  id: 'stored-expressions',
  scope: 'database',
  when: hasStoredExpressions,
  sql: (version) => `
    WITH e AS (${expressionsSql(version)})
    SELECT
      e.kind,
      e.name,
      e.tables,
      e.columns,
      e.texts,
      e.predicate,
      e.operators,
      e.type,
      e.is_ordered,
      e.is_lettered,
      e.hidden,
      e.is_null_equal,
      e.is_comparable,
      u.uses,
      s.shapes,
      (
        SELECT ${rowVersionSql('d')}
        FROM pg_depend d
        WHERE d.classid = e.classid
          AND d.objid = e.objid
          AND d.objsubid = e.objsubid
        ORDER BY d.xmin::text::bigint, d.cmin::text::bigint
        LIMIT 1
      ) AS since,
      (
        SELECT array_agg(a.attname ORDER BY array_position(i.indkey::int2[], a.attnum))
        FROM pg_index i
        JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
        WHERE i.indrelid = e.relid AND i.indisprimary
      ) AS key,
      (
        SELECT ${rowVersionSql('t')}
        FROM pg_class c
        JOIN pg_depend t ON t.classid = '${catalogOids.pg_type}'
          AND t.objid = c.reltype
          AND t.refclassid = '${catalogOids.pg_class}'
          AND t.refobjid = c.oid
          AND t.deptype = 'i'
        WHERE c.oid = e.relid
        LIMIT 1
      ) AS age
    FROM e
    CROSS JOIN LATERAL (
      SELECT array_agg(d.refclassid || ':' || d.refobjid || ':' || ${rowVersionSql('d')}) AS uses
      FROM pg_depend d
      WHERE d.classid = e.classid
        AND d.objid = e.objid
        AND d.objsubid = e.objsubid
        AND (d.refclassid <> '${catalogOids.pg_type}' OR d.deptype = 'n')
        AND d.refobjid >= '${firstNormalOid}'
        AND ${callableCatalogSql('d.refclassid')}
    ) u
    CROSS JOIN LATERAL (${shapesSql}) s
    WHERE u.uses IS NOT NULL
      OR s.shapes IS NOT NULL
      OR e.differs
      OR e.is_ordered
      OR e.hidden IS NOT NULL
    ORDER BY 1, 2
  `,
  row: columns({
    kind: column.oneOf('kind', 'check', 'domain', 'index', 'unique', 'exclusion', 'partition', 'generated'),
    /** The name of the object, as reports show it: `constraint on table`. */
    name: column.text('name'),
    /** Tables with rows to which the expression applies, qualified and quoted; of a domain also the columns, not quoted. */
    tables: column.texts('tables'),
    columns: column.texts('columns'),
    /** The expressions as the server prints them: several for the keys of an index. */
    texts: column.texts('texts'),
    /** The predicate of an index; empty if there is none. */
    predicate: column.text('predicate'),
    /** Operators of an exclusion constraint, qualified: `OPERATOR(pg_catalog.&&)`. */
    operators: column.texts('operators'),
    /** The columns of the primary key of the table, not quoted. */
    key: column.texts('key'),
    /** The name of the type of a generated column. */
    type: column.text('type'),
    /** Whether the expression compares texts in the order of a collation other than C. */
    isOrdered: column.boolean('is_ordered'),
    /** Whether the expression itself uses letter case or character classes of a collation other than C. */
    isLettered: column.boolean('is_lettered'),
    /** What the expression sees of a value that a dump does not write (`hiddenPartSql`); empty if nothing. */
    hidden: column.oneOf('hidden', '', 'declaration', 'number'),
    /** Whether a unique index treats NULL as equal to NULL. */
    isNullEqual: column.boolean('is_null_equal'),
    /** Whether `=` compares the keys of a unique index or of partitions as their operator classes do. */
    isComparable: column.boolean('is_comparable'),
    /** What the expression depends on, with the row of pg_depend that says so. */
    uses: (row) => decodeTextArray(row, 'uses').map(decodeUse),
    /** The columns of row types and the labels of enums that the expression may see, with the rows that define them. */
    shapes: (row) => decodeTextArray(row, 'shapes').map(decodeShape),
    /** The oldest row of pg_depend of the expression. */
    since: (row) => decodeVersionOf(row, 'since'),
    /** When the table was created. */
    age: (row) => decodeVersionOf(row, 'age'),
  }),
});

function decodeUse(text: string) {
  const [catalog, oid, ...version] = text.split(':');
  return { on: `${catalog}:${oid}`, since: decodeVersion(version.join(':')) };
}

function decodeShape(text: string) {
  const [, version = '', kind, type = ''] = /^(\S+) (\w) (.*)$/s.exec(text) ?? [];
  return { version: decodeVersion(version), isEnum: kind === 'e', type };
}

function decodeVersionOf(row: PostgresqlRow, name: string): RowVersion | undefined {
  const text = decodeOptionalText(row, name);
  return text === undefined ? undefined : decodeVersion(text);
}

/**
 * The newest row of each row type and enum in a node tree, and of those inside of them. A field of a column stays what it is.
 * A label with a greater object id than the expression was added later, so no older row has it; labels matter only where
 * something may write them as text.
 */
const shapesSql = `
  WITH RECURSIVE t (oid) AS (
    SELECT m.oids[1]::oid
    FROM regexp_matches(
      regexp_replace(e.tree, 'FIELDSELECT :arg [{]VAR [^{}]*[}]', '', 'g'),
      ':(?:vartype|consttype|resulttype|funcresulttype|row_typeid|typeId) ([0-9]{5,}) ',
      'g'
    ) m (oids)
    UNION
    SELECT x.oid
    FROM t
    JOIN pg_type y ON y.oid = t.oid
    CROSS JOIN LATERAL (
      SELECT y.typelem
      UNION ALL
      SELECT y.typbasetype
      UNION ALL
      SELECT a.atttypid
      FROM pg_attribute a
      WHERE a.attrelid = y.typrelid AND a.attnum > 0
    ) x (oid)
    WHERE x.oid >= '${firstNormalOid}'
  )
  SELECT array_agg(concat_ws(' ', v.version, y.typtype, y.oid::regtype)) AS shapes
  FROM t
  JOIN pg_type y ON y.oid = t.oid
  CROSS JOIN LATERAL (
    SELECT ${rowVersionSql('r')}
    FROM (
      SELECT xmin, cmin, xmax
      FROM pg_attribute
      WHERE attrelid = y.typrelid AND attnum > 0
      UNION ALL
      SELECT xmin, cmin, xmax
      FROM pg_enum
      WHERE enumtypid = y.oid
        AND oid < CASE WHEN e.kind = 'generated' THEN e.relid ELSE e.objid END
        AND e.tree ~ 'COERCEVIAIO|:opno (${writingOperators}|[1-9][0-9]{4,}) |:funcid (${writingFunctions}|[1-9][0-9]{4,}) '
    ) r
    ORDER BY r.xmin::text::bigint DESC, r.xmax::text <> '0' DESC, r.cmin::text::bigint DESC
    LIMIT 1
  ) v (version)
  WHERE y.oid >= '${firstNormalOid}' AND y.typtype IN ('c', 'e')
`;

/** Expressions of tables with rows. A materialized view is empty on the target until it is refreshed. */
function expressionsSql(version: number): string {
  const enforced = version < 180_000 ? '' : ' AND k.conenforced';
  const table = 'ARRAY[c.oid::regclass::text]';
  const parts = [
    `
      SELECT
        'check' AS kind,
        '${catalogOids.pg_constraint}'::oid AS classid,
        k.oid AS objid,
        0 AS objsubid,
        k.conbin::text AS tree,
        c.oid AS relid,
        k.conname || ' on ' || c.oid::regclass AS name,
        ${table} AS tables,
        NULL::text[] AS columns,
        ARRAY[pg_get_expr(k.conbin, k.conrelid)] AS texts,
        NULL::text AS predicate,
        NULL::text[] AS operators,
        NULL::text AS type,
        ${serverDependenceSql('k.conbin')} AS differs,
        ${textOrderSql('k.conbin', version)} AS is_ordered,
        ${letterDependenceSql('k.conbin', version)} AS is_lettered,
        ${hiddenPartSql('k.conbin')} AS hidden,
        false AS is_null_equal,
        true AS is_comparable
      FROM pg_constraint k
      JOIN pg_class c ON c.oid = k.conrelid
      WHERE k.contype = 'c'
        AND k.oid >= '${firstNormalOid}'
        AND ${hasRowsSql}${enforced}
    `,
    `
      SELECT
        'domain',
        '${catalogOids.pg_constraint}',
        k.oid,
        0,
        k.conbin::text,
        NULL,
        k.conname || ' on ' || k.contypid::regtype,
        f.tables,
        f.columns,
        ARRAY[regexp_replace(pg_get_constraintdef(k.oid), '^CHECK (.*?)( NOT VALID)?$', '\\1')],
        NULL,
        NULL,
        NULL,
        ${serverDependenceSql('k.conbin')},
        ${textOrderSql('k.conbin', version)},
        ${letterDependenceSql('k.conbin', version)},
        ${hiddenPartSql('k.conbin')},
        false,
        true
      FROM pg_constraint k
      JOIN (${filledDomainsSql(version, `SELECT contypid FROM pg_constraint WHERE contypid <> '0' AND contype = 'c' AND oid >= '${firstNormalOid}'`)}) f ON f.root = k.contypid
      WHERE k.contype = 'c' AND k.oid >= '${firstNormalOid}'
    `,
    indexesSql(version),
    ...(version < 100_000 ? [] : [partitionKeysSql(version)]),
    ...(version < 120_000 ? [] : [generatedColumnsSql(version)]),
  ];
  return parts.join(' UNION ALL ');
}

/** Of an index without an expression only operator classes and operators of users matter. */
function indexesSql(version: number): string {
  const trees = "concat(i.indexprs::text, ' ', i.indpred::text)";
  return `
    SELECT
      CASE WHEN i.indisexclusion THEN 'exclusion' WHEN i.indisunique THEN 'unique' ELSE 'index' END,
      '${catalogOids.pg_class}',
      i.indexrelid,
      0,
      ${trees},
      c.oid,
      'index ' || i.indexrelid::regclass || ' on ' || c.oid::regclass,
      ARRAY[c.oid::regclass::text],
      NULL,
      (
        SELECT array_agg(pg_get_indexdef(i.indexrelid, n, false) ORDER BY n)
        FROM generate_series(1, ${version < 110_000 ? 'i.indnatts' : 'i.indnkeyatts'}::int) n
      ),
      pg_get_expr(i.indpred, i.indrelid),
      (
        SELECT array_agg('OPERATOR(' || quote_ident(n.nspname) || '.' || o.oprname || ')' ORDER BY x.at)
        FROM pg_constraint k
        CROSS JOIN LATERAL unnest(k.conexclop) WITH ORDINALITY x (oid, at)
        JOIN pg_operator o ON o.oid = x.oid
        JOIN pg_namespace n ON n.oid = o.oprnamespace
        WHERE i.indisexclusion
          AND k.conindid = i.indexrelid
          AND k.contype = 'x'
      ),
      NULL,
      (i.indisunique OR i.indisexclusion) AND ${serverDependenceSql(trees)},
      (i.indisunique OR i.indisexclusion) AND ${textOrderSql(trees, version)},
      ${letterDependenceSql(trees, version)},
      CASE WHEN i.indisunique OR i.indisexclusion THEN ${hiddenPartSql(trees)} END,
      ${version < 150_000 ? 'false' : 'i.indnullsnotdistinct'},
      NOT EXISTS (
        SELECT FROM pg_opclass o
        WHERE o.oid = ANY (i.indclass)
          AND o.oid >= '${firstNormalOid}'
          AND NOT o.opcdefault
      )
    FROM pg_index i
    JOIN pg_class c ON c.oid = i.indrelid
    WHERE i.indexrelid >= '${firstNormalOid}'
      AND i.indisvalid
      AND (
        i.indexprs IS NOT NULL
          OR i.indpred IS NOT NULL
          OR EXISTS (SELECT FROM unnest(i.indclass) o (oid) WHERE o.oid >= '${firstNormalOid}')
      )
      AND ${hasRowsSql}
  `;
}

/** The key decides in which partition a row belongs; the order of a collation decides it for the ranges of a text. */
function partitionKeysSql(version: number): string {
  return `
    SELECT
      'partition',
      '${catalogOids.pg_class}',
      p.partrelid,
      0,
      p.partexprs::text,
      p.partrelid,
      'partition key of ' || p.partrelid::regclass,
      ARRAY[p.partrelid::regclass::text],
      NULL,
      ARRAY[regexp_replace(pg_get_partkeydef(p.partrelid), '^(LIST|RANGE|HASH) ', '')],
      NULL,
      NULL,
      NULL,
      ${serverDependenceSql('p.partexprs')},
      p.partstrat = 'r' AND ${collationOrderSql('p.partcollation', version)},
      ${letterDependenceSql('p.partexprs', version)},
      ${hiddenPartSql('p.partexprs')},
      false,
      NOT EXISTS (SELECT FROM pg_opclass o WHERE o.oid = ANY (p.partclass) AND NOT o.opcdefault)
    FROM pg_partitioned_table p
    WHERE p.partrelid IN (
      WITH RECURSIVE t AS (
        SELECT i.inhparent AS root, i.inhrelid AS leaf
        FROM pg_inherits i
        JOIN pg_class c ON c.oid = i.inhrelid
        WHERE ${hasRowsSql}
        UNION
        SELECT i.inhparent, t.leaf
        FROM t
        JOIN pg_inherits i ON i.inhrelid = t.root
      )
      SELECT root FROM t
    )
  `;
}

/** In pg_depend, the column depends on the function before PostgreSQL 15; since then the default of the column does. */
function generatedColumnsSql(version: number): string {
  const source =
    version < 150_000
      ? `'${catalogOids.pg_class}', a.attrelid, a.attnum::int`
      : `'${catalogOids.pg_attrdef}', f.oid, 0`;
  return `
    SELECT
      'generated',
      ${source},
      f.adbin::text,
      c.oid,
      'column ' || c.oid::regclass || '.' || quote_ident(a.attname),
      ARRAY[c.oid::regclass::text],
      ARRAY[a.attname::text],
      ARRAY[pg_get_expr(f.adbin, f.adrelid)],
      NULL,
      NULL,
      format_type(a.atttypid, NULL),
      ${serverDependenceSql('f.adbin')},
      ${textOrderSql('f.adbin', version)},
      ${letterDependenceSql('f.adbin', version)},
      ${hiddenPartSql('f.adbin')},
      false,
      true
    FROM pg_attrdef f
    JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
    JOIN pg_class c ON c.oid = a.attrelid
    WHERE a.attgenerated = 's'
      AND c.oid >= '${firstNormalOid}'
      AND ${hasRowsSql}
  `;
}
