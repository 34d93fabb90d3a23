import { catalogOids, firstNormalOid, typeOids } from '../../../../postgresql/catalog-oids.ts';
import type { PostgresqlQuery } from '../query.ts';
import { functionKindSql, isMemberSql, isNotMemberSql } from './catalog-predicates.ts';
import { featureCondition } from './database-overview.ts';
import { decodeIncompatible, type IncompatibleObject, movedColumnsNeed } from './incompatible-calls.ts';

/**
 * Definitions that this release accepts and a later release rejects, or that no release accepts in the order of a dump;
 * `says` is the error message of the target.
 */
export const incompatibleDefinitionsQuery: PostgresqlQuery<readonly IncompatibleObject[]> = {
  id: 'incompatible-definitions',
  scope: 'database',
  when: featureCondition('relations', 'columns', 'heirs', 'collations', 'not-null-names', 'superuser-objects'),
  sql: (version) => {
    if (version < 120_000) return undefined;
    const parts = [
      ...rejectedDefinitions.filter(({ since }) => since > version / 10_000),
      version < 150_000 ? triggersOfOneName : differingKeyTriggers,
      ...definitionsOfNoTarget,
    ];
    return `${parts.map(({ since, rows }) => `SELECT o.*, ${since} AS since FROM (${rows}) o (object, needs, says)`).join(' UNION ALL ')} ORDER BY 1, 2`;
  },
  decode: decodeIncompatible,
  absent: [],
};

/** Begins what an object needs whose name the target gives to another object. */
export const takenNameNeed = 'a name that ';

const column = "'column ' || a.attrelid::regclass || '.' || quote_ident(a.attname)";

const rejectedDefinitions: readonly { readonly since: number; readonly rows: string }[] = [
  {
    // Before PostgreSQL 15 the trigger of a partition can have another name than that of the parent. The target creates
    // it by the name of the parent; a dump switches it by its own.
    since: 15,
    rows: `
      SELECT
        'trigger ' || quote_ident(t.tgname) || ' on ' || t.tgrelid::regclass,
        'the name of the trigger of the parent',
        format('trigger "%s" for table "%s" does not exist', t.tgname, c.relname)
      FROM pg_trigger t
      JOIN pg_class c ON c.oid = t.tgrelid
      JOIN pg_depend d ON d.classid = '${catalogOids.pg_trigger}'
        AND d.objid = t.oid
        AND d.refclassid = '${catalogOids.pg_trigger}'
      JOIN pg_trigger p ON p.oid = d.refobjid
      WHERE t.tgconstraint = '0'
        AND t.tgname <> p.tgname
        AND t.tgenabled <> p.tgenabled
    `,
  },
  {
    since: 16,
    rows: `
      SELECT
        ${column},
        'a generated column in ' || i.inhparent::regclass,
        CASE
          WHEN c.relispartition
            THEN format('column "%s" in child table must not be a generated column', a.attname)
          ELSE format('child column "%s" specifies generation expression', a.attname)
        END
      FROM pg_inherits i
      JOIN pg_class c ON c.oid = i.inhrelid
      JOIN pg_attribute a ON a.attrelid = i.inhrelid AND a.attnum > 0 AND a.attgenerated <> ''
      JOIN pg_attribute p ON p.attrelid = i.inhparent AND p.attname = a.attname
      WHERE p.attgenerated = ''
    `,
  },
  {
    since: 17,
    rows: `
      SELECT
        ${column},
        'an identity of its own in a partition',
        format('table "%s" being attached contains an identity column "%s"', c.relname, a.attname)
      FROM pg_class c
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attidentity <> ''
      WHERE c.relispartition
    `,
  },
  {
    // Since PostgreSQL 17 a NOT NULL constraint of a domain has a name, which is chosen before the CHECK constraints are
    // created.
    since: 17,
    rows: `
      SELECT
        'domain ' || t.oid::regtype,
        'constraint ' || quote_ident(k.conname) || ' by another name',
        format('constraint "%s" for domain "%s" already exists', k.conname, t.typname)
      FROM pg_constraint k
      JOIN pg_type t ON t.oid = k.contypid
      WHERE t.typnotnull
        AND k.contype = 'c'
        AND k.conname::text = t.typname || '_not_null'
    `,
  },
  {
    // Since PostgreSQL 18 a NOT NULL constraint of a column has a name too. A valid CHECK constraint is created
    // together with its table and gets another name if its name is taken.
    since: 18,
    rows: `
      SELECT
        'table ' || k.conrelid::regclass,
        'constraint ' || quote_ident(k.conname) || ' by another name',
        format('constraint "%s" for relation "%s" already exists', k.conname, c.relname)
      FROM pg_constraint k
      JOIN pg_class c ON c.oid = k.conrelid
      JOIN pg_attribute a
        ON a.attrelid = c.oid
          AND a.attnum > 0
          AND a.attnotnull
          AND k.conname::text = c.relname || '_' || a.attname || '_not_null'
      WHERE k.contype IN ('p', 'u', 'x', 'f')
        OR (k.contype = 'c' AND NOT k.convalidated)
    `,
  },
  {
    since: 18,
    rows: `
      SELECT 'table ' || c.oid::regclass, 'partitions without UNLOGGED', 'partitioned tables cannot be unlogged'
      FROM pg_class c
      WHERE c.relkind = 'p' AND c.relpersistence = 'u'
    `,
  },
  {
    since: 18,
    rows: `
      SELECT DISTINCT
        'constraint ' || quote_ident(k.conname) || ' on ' || k.conrelid::regclass,
        'one collation on both sides',
        format('foreign key constraint "%s" cannot be implemented', k.conname)
      FROM pg_constraint k
      CROSS JOIN LATERAL unnest(k.conkey, k.confkey) g(here, there)
      JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = g.here
      JOIN pg_attribute b ON b.attrelid = k.confrelid AND b.attnum = g.there
      JOIN pg_collation n ON n.oid IN (a.attcollation, b.attcollation)
      WHERE k.contype = 'f'
        AND a.attcollation <> b.attcollation
        AND NOT n.collisdeterministic
    `,
  },
  {
    // Since PostgreSQL 18 bytea is converted to integers and back.
    since: 18,
    rows: `
      SELECT
        'cast (' || format_type(k.castsource, NULL) || ' AS ' || format_type(k.casttarget, NULL) || ')',
        'no cast of PostgreSQL',
        format('cast from type %s to type %s already exists', format_type(k.castsource, NULL), format_type(k.casttarget, NULL))
      FROM pg_cast k
      WHERE k.oid >= '${firstNormalOid}'
        AND '${typeOids.bytea}' IN (k.castsource, k.casttarget)
        AND (
          k.castsource IN ('${typeOids.int2}', '${typeOids.int4}', '${typeOids.int8}')
            OR k.casttarget IN ('${typeOids.int2}', '${typeOids.int4}', '${typeOids.int8}')
        )
    `,
  },
  {
    // ltree 1.3 has an operator class for hash indexes.
    since: 17,
    rows: `
      SELECT
        'operator class ' || o.opcnamespace::regnamespace || '.' || quote_ident(o.opcname),
        'no operator class of ltree',
        format('could not make operator class "%s" be default for type %s', o.opcname, format_type(t.oid, NULL))
      FROM pg_opclass o
      JOIN pg_am m ON m.oid = o.opcmethod AND m.amname = 'hash'
      JOIN pg_type t ON t.oid = o.opcintype AND t.typname = 'ltree'
      WHERE o.oid >= '${firstNormalOid}'
        AND o.opcdefault
        AND ${isMemberSql('pg_type', 't.oid')}
        AND ${isNotMemberSql('pg_opclass', 'o.oid')}
    `,
  },
];

/** Begins what a trigger of a foreign key needs whose state a dump names by a number of the source. */
export const triggerStateNeed = 'the state that the triggers of ';

/**
 * A dump switches a trigger of a partition whose state is not that of the parent's trigger. Those of foreign keys have
 * parents since PostgreSQL 15, and names with their object ids.
 */
const differingKeyTriggers = {
  since: 0,
  rows: `
    SELECT
      'trigger ' || quote_ident(t.tgname) || ' on ' || t.tgrelid::regclass,
      '${triggerStateNeed}' || p.tgrelid::regclass || ' have',
      format('trigger "%s" for table "%s" does not exist', t.tgname, c.relname)
    FROM pg_trigger t
    JOIN pg_trigger p ON p.oid = t.tgparentid
    JOIN pg_class c ON c.oid = t.tgrelid
    WHERE t.tgconstraint <> '0'
      AND t.tgname <> p.tgname
      AND t.tgenabled <> p.tgenabled
  `,
};

/** With the tables above each partition, at every level. */
const ancestorsSql = `
  (
    WITH RECURSIVE a(child, parent) AS (
      SELECT i.inhrelid, i.inhparent
      FROM pg_inherits i
      JOIN pg_class c ON c.oid = i.inhrelid
      WHERE c.relispartition
      UNION ALL
      SELECT a.child, i.inhparent
      FROM a
      JOIN pg_inherits i ON i.inhrelid = a.parent
    )
    SELECT * FROM a
  )
`;

/** Before PostgreSQL 15 a trigger can be renamed in a partitioned table alone, or in a partition. */
const triggersOfOneName = {
  since: 0,
  rows: `
    SELECT
      'trigger ' || quote_ident(t.tgname) || ' on ' || t.tgrelid::regclass,
      '${takenNameNeed}the trigger of ' || p.tgrelid::regclass || ' does not have',
      format('trigger "%s" for relation "%s" already exists', t.tgname, c.relname)
    FROM ${ancestorsSql} a
    JOIN pg_trigger t ON t.tgrelid = a.child AND NOT t.tgisinternal
    JOIN pg_trigger p
      ON p.tgrelid = a.parent
        AND NOT p.tgisinternal
        AND p.tgname = t.tgname
        AND p.tgtype & 1 = 1
    JOIN pg_class c ON c.oid = a.child
  `,
};

const definitionsOfNoTarget: readonly { readonly since: 0; readonly rows: string }[] = [
  {
    // A dump creates the foreign keys of a schema by their names, then by those of their tables. That of a partitioned
    // table is created for its partitions too, which would find their own key if they were created first.
    since: 0,
    rows: `
      SELECT
        'constraint ' || quote_ident(k.conname) || ' on ' || k.conrelid::regclass,
        '${takenNameNeed}the foreign key of ' || p.conrelid::regclass || ' does not have',
        format('constraint "%s" for relation "%s" already exists', k.conname, c.relname)
      FROM ${ancestorsSql} a
      JOIN pg_constraint k ON k.conrelid = a.child AND k.contype = 'f' AND k.conparentid = '0'
      JOIN pg_constraint p
        ON p.conrelid = a.parent
          AND p.contype = 'f'
          AND p.conparentid = '0'
          AND p.conname = k.conname
      JOIN pg_class c ON c.oid = a.child
      JOIN pg_class b ON b.oid = a.parent
      JOIN pg_namespace n ON n.oid = c.relnamespace
      JOIN pg_namespace m ON m.oid = b.relnamespace
      WHERE ROW(m.nspname, b.relname) < ROW(n.nspname, c.relname)
    `,
  },
  {
    // One parent was changed after the table was created, mostly by ALTER TABLE ONLY; a dump gives an inherited column its default
    // later.
    since: 0,
    rows: `
      SELECT
        'table ' || h.inhrelid::regclass,
        'parents that agree on ' || quote_ident(a.attname),
        CASE
          WHEN a.attstorage <> b.attstorage
            THEN format('inherited column "%s" has a storage parameter conflict', a.attname)
          WHEN a.attgenerated <> b.attgenerated
            THEN format('inherited column "%s" has a generation conflict', a.attname)
          ELSE format('column "%s" inherits conflicting default values', a.attname)
        END
      FROM pg_inherits h
      JOIN pg_inherits i ON i.inhrelid = h.inhrelid AND i.inhseqno > h.inhseqno
      JOIN pg_attribute a ON a.attrelid = h.inhparent AND a.attnum > 0 AND NOT a.attisdropped
      JOIN pg_attribute b ON b.attrelid = i.inhparent AND b.attname = a.attname
      JOIN pg_attribute c ON c.attrelid = h.inhrelid AND c.attname = a.attname
      LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
      LEFT JOIN pg_attrdef e ON e.adrelid = b.attrelid AND e.adnum = b.attnum
      WHERE a.attstorage <> b.attstorage
        OR a.attgenerated <> b.attgenerated
        OR (
          NOT c.attislocal
            AND a.attgenerated = ''
            AND pg_get_expr(d.adbin, d.adrelid) <> pg_get_expr(e.adbin, e.adrelid)
        )
    `,
  },
];

/**
 * Views that use removed columns of system views: `SELECT *` was expanded when the view was created. pg_depend has no
 * rows for the tables of pg_catalog. SQL-standard
 * function bodies (since PostgreSQL 14) contain column names in the same way.
 */
export const incompatibleViewsQuery: PostgresqlQuery<readonly IncompatibleObject[]> = {
  id: 'incompatible-views',
  scope: 'database',
  when: featureCondition('views', 'functions'),
  sql: (version) => {
    const gone = removedColumns.flatMap(({ relation, columns, since }) =>
      since > version / 10_000 ? columns.map((column) => `('${relation}', '${column}', ${since})`) : [],
    );
    const others = [ownViews, ...droppedColumnsSql(version), ...movedColumnsSql(version)].join(' UNION ALL ');
    if (gone.length === 0) return `${others} ORDER BY 1`;
    // To write out a definition PostgreSQL locks each of its relations until the end of the transaction, so definitions
    // are found by their node trees first.
    const readsChanged = (tree: string) => `
      ${tree}::text ~ (
        SELECT ':relid (' || string_agg(s.oid::text, '|') || ') '
        FROM pg_class s
        WHERE s.relname = ANY ('{${[...new Set(removedColumns.map(({ relation }) => relation))].join(',')}}')
      )
    `;
    const views = `
      SELECT
        CASE c.relkind WHEN 'm' THEN 'materialized view ' ELSE 'view ' END || c.oid::regclass AS object,
        pg_get_viewdef(c.oid) AS words,
        '${catalogOids.pg_rewrite}'::oid AS catalog,
        r.oid
      FROM pg_class c
      JOIN pg_rewrite r ON r.ev_class = c.oid AND r.ev_type = '1'
      WHERE c.oid >= '${firstNormalOid}'
        AND c.relkind IN ('v', 'm')
        AND ${readsChanged('r.ev_action')}
        AND ${isNotMemberSql('pg_class', 'c.oid')}
    `;
    const functions = `
      SELECT
        CASE p.prokind WHEN 'p' THEN 'procedure ' ELSE 'function ' END || p.oid::regprocedure,
        pg_get_function_sqlbody(p.oid),
        '${catalogOids.pg_proc}',
        p.oid
      FROM pg_proc p
      WHERE p.oid >= '${firstNormalOid}'
        AND ${readsChanged('p.prosqlbody')}
        AND ${isNotMemberSql('pg_proc', 'p.oid')}
    `;
    return `
      WITH o AS MATERIALIZED (${version < 140_000 ? views : `${views} UNION ALL ${functions}`})
      SELECT
        o.object,
        'column ' || g.relation || '.' || g.name AS needs,
        g.since,
        NULL AS says
      FROM o
      JOIN (VALUES ${gone.join(', ')}) g(relation, name, since)
        ON o.words ~ ('[[:<:]]' || g.relation || '[[:>:]]')
          AND o.words ~ ('[[:<:]]' || g.name || '[[:>:]]')
      WHERE EXISTS (
        SELECT FROM pg_class s
        WHERE s.relname = g.relation
          AND (
            (s.oid < '${firstNormalOid}' AND s.relkind = 'r')
              OR (
                (s.oid < '${firstNormalOid}' OR ${isMemberSql('pg_class', 's.oid')})
                  AND EXISTS (
                    SELECT FROM pg_depend d
                    WHERE d.classid = o.catalog
                      AND d.objid = o.oid
                      AND d.refclassid = '${catalogOids.pg_class}'
                      AND d.refobjid = s.oid
                  )
              )
          )
      )
      UNION ALL ${others}
      ORDER BY 1, 2
    `.replace(version < 120_000 ? 'MATERIALIZED ' : '', '');
  },
  decode: decodeIncompatible,
  absent: [],
};

/** Functions of extensions that have new columns between the old in these releases. */
const movedColumns: Readonly<Record<string, readonly number[]>> = {
  brin_page_items: [17],
  pg_stat_statements: [13, 14, 15, 17, 18],
  postgres_fdw_get_connections: [18],
};

/** The alias of a function has all its columns by position. */
function movedColumnsSql(version: number): readonly string[] {
  return Object.entries(movedColumns).flatMap(([name, releases]) => {
    const since = releases.find((one) => one > version / 10_000);
    if (since === undefined) return [];
    return `
      SELECT DISTINCT
        CASE c.relkind WHEN 'm' THEN 'materialized view ' ELSE 'view ' END || c.oid::regclass,
        '${movedColumnsNeed}' || p.oid::regprocedure,
        ${since},
        NULL
      FROM pg_rewrite r
      JOIN pg_class c ON c.oid = r.ev_class
      JOIN pg_depend d ON d.classid = '${catalogOids.pg_rewrite}'
        AND d.objid = r.oid
        AND d.refclassid = '${catalogOids.pg_proc}'
      JOIN pg_proc p ON p.oid = d.refobjid AND p.proname = '${name}'
      WHERE ${isMemberSql('pg_proc', 'p.oid')}
        AND ${isNotMemberSql('pg_class', 'c.oid')}
    `;
  });
}

/**
 * Views, tables, types and functions with a name that the target gives to a member of an extension, or to what it creates
 * with a range type. Members were taken out by ALTER EXTENSION … DROP, or the installed version does not have them yet.
 * Every view and table has a row in pg_type.
 */
export const takenNamesQuery: PostgresqlQuery<readonly IncompatibleObject[]> = {
  id: 'taken-names',
  scope: 'database',
  when: featureCondition('extensions', 'ranges'),
  sql: (version) => {
    const members = `
      SELECT
        ${relationOrTypeSql} AS object,
        '${takenNameNeed}the extension ' || x.extname || ' does not use' AS needs,
        CASE WHEN m.since > ${Math.floor(version / 10_000)} THEN m.since ELSE 0 END AS since,
        format('%s "%s" already exists', CASE WHEN c.relkind <> 'c' THEN 'relation' ELSE 'type' END, t.typname) AS says
      FROM (VALUES ${memberTypes.map(({ extension, names, since = 0 }) => names.map((name) => `('${extension}', '${name}', ${since})`).join(', ')).join(', ')}) m (extension, name, since)
      JOIN pg_extension x ON x.extname = m.extension
      JOIN pg_type t ON t.typname = m.name AND t.typnamespace = x.extnamespace
      LEFT JOIN pg_class c ON c.oid = t.typrelid
      WHERE ${isNotMemberSql('pg_type', 't.oid')}
        AND (c.oid IS NULL OR ${isNotMemberSql('pg_class', 'c.oid')})
    `;
    if (version >= 140_000) return `${members} ORDER BY 1`;
    return `
      WITH r AS (
        SELECT
          y.oid,
          y.typarray,
          y.typnamespace,
          '${takenNameNeed}the multirange type of ' || y.oid::regtype || ' does not have' AS needs,
          ${multirangeNameSql} AS name
        FROM pg_type y
        WHERE y.typtype = 'r'
          AND y.oid >= '${firstNormalOid}'
          AND ${isNotMemberSql('pg_type', 'y.oid')}
      )
      ${members}
      UNION ALL
      SELECT ${relationOrTypeSql}, r.needs, 14, format('type "%s" already exists', t.typname)
      FROM r
      JOIN pg_type t ON t.typname = r.name AND t.typnamespace = r.typnamespace
      LEFT JOIN pg_class c ON c.oid = t.typrelid
      WHERE NOT EXISTS (SELECT FROM pg_type e WHERE e.typarray = t.oid)
      UNION ALL
      SELECT 'type ' || r.oid::regtype, r.needs, 14, format('type "%s" already exists', r.name)
      FROM r
      WHERE EXISTS (
        SELECT FROM r o
        WHERE o.oid <> r.oid
          AND o.typnamespace = r.typnamespace
          AND o.name = r.name
      )
      UNION ALL
      SELECT
        ${functionKindSql(version)} || ' ' || p.oid::regprocedure,
        r.needs,
        14,
        format('function "%s" already exists with same argument types', p.proname)
      FROM r
      JOIN pg_proc p ON p.proname = r.name
        AND p.pronamespace = r.typnamespace
        AND p.proargtypes::text IN ('', r.oid::text, r.typarray::text)
      ORDER BY 1
    `;
  },
  decode: decodeIncompatible,
  absent: [],
};

const relationOrTypeSql = `
  CASE c.relkind
    WHEN 'v' THEN 'view ' || c.oid::regclass
    WHEN 'm' THEN 'materialized view ' || c.oid::regclass
    WHEN 'S' THEN 'sequence ' || c.oid::regclass
    WHEN 'c' THEN 'type ' || t.oid::regtype
    ELSE coalesce('table ' || c.oid::regclass, 'type ' || t.oid::regtype)
  END
`;

/**
 * The name that PostgreSQL 14 and newer give to the multirange type of a range type (alias `y`), and to its three
 * constructors: without arguments, for a range, and for an array of ranges. A conversion to name cuts it after 63 bytes.
 */
const multirangeNameSql = `
  (
    CASE
      WHEN strpos(y.typname::text, 'range') > 0 THEN regexp_replace(y.typname::text, 'range', 'multirange')
      ELSE left(y.typname::text, 52) || '_multirange'
    END
  )::name
`;

/** The views and types of contrib extensions, with the first release that has them if not every one has. */
const memberTypes: readonly {
  readonly extension: string;
  readonly names: readonly string[];
  readonly since?: number;
}[] = [
  { extension: 'pg_buffercache', names: ['pg_buffercache'] },
  { extension: 'pg_buffercache', names: ['pg_buffercache_numa'], since: 18 },
  { extension: 'pg_stat_statements', names: ['pg_stat_statements'] },
  { extension: 'pg_stat_statements', names: ['pg_stat_statements_info'], since: 14 },
  { extension: 'btree_gist', names: ['gbtreekey4', 'gbtreekey8', 'gbtreekey16', 'gbtreekey32', 'gbtreekey_var'] },
  { extension: 'btree_gist', names: ['gbtreekey2'], since: 16 },
  { extension: 'citext', names: ['citext'] },
  { extension: 'cube', names: ['cube'] },
  { extension: 'dblink', names: ['dblink_pkey_results'] },
  { extension: 'earthdistance', names: ['earth'] },
  { extension: 'hstore', names: ['hstore', 'ghstore'] },
  { extension: 'intarray', names: ['query_int', 'intbig_gkey'] },
  { extension: 'isn', names: ['ean13', 'isbn', 'isbn13', 'ismn', 'ismn13', 'issn', 'issn13', 'upc'] },
  { extension: 'lo', names: ['lo'] },
  { extension: 'ltree', names: ['ltree', 'lquery', 'ltxtquery', 'ltree_gist'] },
  { extension: 'pg_trgm', names: ['gtrgm'] },
  { extension: 'seg', names: ['seg'] },
  { extension: 'tablefunc', names: ['tablefunc_crosstab_2', 'tablefunc_crosstab_3', 'tablefunc_crosstab_4'] },
];

/**
 * Before PostgreSQL 15 a view did not depend on the columns of a composite type that a function returns, and a column
 * that was dropped has no name. Definitions are read only of views of a function whose type lacks a column.
 */
function droppedColumnsSql(version: number): readonly string[] {
  if (version >= 150_000) return [];
  return [
    `
      SELECT
        CASE c.relkind WHEN 'm' THEN 'materialized view ' ELSE 'view ' END || c.oid::regclass,
        'a column that was dropped',
        0,
        'column ….?dropped?column? does not exist'
      FROM pg_rewrite r
      JOIN pg_class c ON c.oid = r.ev_class AND c.relkind IN ('v', 'm')
      WHERE r.oid >= '${firstNormalOid}'
        AND r.ev_type = '1'
        AND CASE
          WHEN EXISTS (
            SELECT FROM pg_depend d
            JOIN pg_proc p ON p.oid = d.refobjid
            JOIN pg_type t ON t.oid = p.prorettype AND t.typrelid <> 0
            JOIN pg_attribute a ON a.attrelid = t.typrelid AND a.attisdropped
            WHERE d.classid = '${catalogOids.pg_rewrite}'
              AND d.objid = r.oid
              AND d.refclassid = '${catalogOids.pg_proc}'
          )
            THEN strpos(pg_get_viewdef(c.oid), '"?dropped?column?"') > 0
          ELSE false
        END
    `,
  ];
}

/**
 * After CREATE OR REPLACE VIEW a view can select from itself, which CREATE VIEW rejects. Only a reference to a column
 * of the view itself proves that the view selects from itself: before PostgreSQL 15 every view depends on itself. If
 * the columns are those of its row type, in the result of a function or in a table, pg_dump finds the loop, and creates
 * the view without its query first.
 */
const ownViews = `
  SELECT
    'view ' || r.ev_class::regclass AS object,
    'itself' AS needs,
    0 AS since,
    format('relation "%s" does not exist', r.ev_class::regclass) AS says
  FROM pg_rewrite r
  JOIN pg_class c ON c.oid = r.ev_class AND c.relkind = 'v'
  WHERE r.oid >= '${firstNormalOid}'
    AND r.ev_type = '1'
    AND EXISTS (
      SELECT FROM pg_depend d
      WHERE d.classid = '${catalogOids.pg_rewrite}'
        AND d.objid = r.oid
        AND d.refclassid = '${catalogOids.pg_class}'
        AND d.refobjid = r.ev_class
        AND d.refobjsubid > 0
    )
    AND NOT EXISTS (
      SELECT FROM pg_type t
      JOIN pg_depend u ON u.refclassid = '${catalogOids.pg_type}' AND u.refobjid IN (t.oid, t.typarray)
      WHERE t.oid = c.reltype
        AND (
          (u.classid = '${catalogOids.pg_rewrite}' AND u.objid = r.oid)
            OR EXISTS (
              SELECT FROM pg_depend d
              WHERE d.classid = '${catalogOids.pg_rewrite}'
                AND d.objid = r.oid
                AND d.refclassid = u.classid
                AND d.refobjid = u.objid
            )
        )
    )
`;

/**
 * Columns of system views that later releases removed. The columns of pg_stat_statements depend on the version of the
 * extension that a release contains.
 */
const removedColumns: readonly {
  readonly relation: string;
  readonly columns: readonly string[];
  readonly since: number;
}[] = [
  {
    relation: 'pg_stat_statements',
    columns: ['total_time', 'min_time', 'max_time', 'mean_time', 'stddev_time'],
    since: 13,
  },
  { relation: 'pg_stat_wal_receiver', columns: ['received_lsn'], since: 13 },
  { relation: 'pg_stat_ssl', columns: ['compression'], since: 14 },
  { relation: 'pg_database', columns: ['datlastsysoid'], since: 15 },
  { relation: 'pg_database', columns: ['daticulocale'], since: 17 },
  { relation: 'pg_collation', columns: ['colliculocale'], since: 17 },
  { relation: 'element_types', columns: ['domain_default'], since: 17 },
  {
    relation: 'pg_stat_bgwriter',
    columns: [
      'checkpoints_timed',
      'checkpoints_req',
      'checkpoint_write_time',
      'checkpoint_sync_time',
      'buffers_checkpoint',
      'buffers_backend',
      'buffers_backend_fsync',
    ],
    since: 17,
  },
  { relation: 'pg_stat_progress_vacuum', columns: ['max_dead_tuples', 'num_dead_tuples'], since: 17 },
  { relation: 'pg_stat_statements', columns: ['blk_read_time', 'blk_write_time'], since: 17 },
  { relation: 'pg_attribute', columns: ['attcacheoff'], since: 18 },
  { relation: 'pg_backend_memory_contexts', columns: ['parent'], since: 18 },
  { relation: 'pg_stat_io', columns: ['op_bytes'], since: 18 },
  { relation: 'pg_stat_wal', columns: ['wal_write', 'wal_sync', 'wal_write_time', 'wal_sync_time'], since: 18 },
];
