import { catalogOids, firstNormalOid } from '../../../../postgresql/catalog-oids.ts';
import type { PostgresqlQuery } from '../query.ts';
import { isMemberSql, isNotMemberSql } from './catalog-predicates.ts';
import { featureCondition } from './database-overview.ts';
import { decodeIncompatible, type IncompatibleObject, movedColumnsNeed } from './incompatible-calls.ts';

/**
 * Views that use removed columns of system views: `SELECT *` was expanded when the view was created. pg_depend has no
 * rows for the tables of pg_catalog. SQL-standard function bodies (since PostgreSQL 14) contain column names in the
 * same way.
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
