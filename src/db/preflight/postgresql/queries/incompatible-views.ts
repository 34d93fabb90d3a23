import { firstNormalObjectId, oidsOfCatalogs } from '../../../../postgresql/catalog-oids.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';
import { isNotExtensionMemberSql } from './catalog-predicates.ts';
import { createDatabaseFeatureCondition } from './database-overview.ts';
import { decodeVersionIncompatibleObjects, type VersionIncompatibleObject } from './incompatible-object.ts';

/**
 * Views that use removed columns of system views: `SELECT *` was expanded when the view was created. SQL-standard
 * function bodies (since PostgreSQL 14) contain column names in the same way.
 */
export const versionIncompatibleViewsQuery: PostgresqlPreflightQuery<readonly VersionIncompatibleObject[]> = {
  id: 'incompatible-views',
  scope: 'database',
  when: createDatabaseFeatureCondition('views', 'functions'),
  sql: (version) => {
    const gone = removedColumns.flatMap(({ relation, columns, since }) =>
      since > version / 10_000 ? columns.map((column) => `('${relation}', '${column}', ${since})`) : [],
    );
    if (gone.length === 0) return `${ownViews} ORDER BY 1`;
    const views = `
      SELECT
        CASE c.relkind WHEN 'm' THEN 'materialized view ' ELSE 'view ' END || c.oid::regclass AS object,
        pg_get_viewdef(c.oid) AS words
      FROM pg_class c
      WHERE c.oid >= '${firstNormalObjectId}'
        AND c.relkind IN ('v', 'm')
        AND ${isNotExtensionMemberSql('pg_class', 'c.oid')}
    `;
    const functions = `
      SELECT
        CASE p.prokind WHEN 'p' THEN 'procedure ' ELSE 'function ' END || p.oid::regprocedure,
        pg_get_function_sqlbody(p.oid)
      FROM pg_proc p
      WHERE p.oid >= '${firstNormalObjectId}'
        AND p.prosqlbody IS NOT NULL
        AND ${isNotExtensionMemberSql('pg_proc', 'p.oid')}
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
      UNION ALL ${ownViews}
      ORDER BY 1, 2
    `.replace(version < 120_000 ? 'MATERIALIZED ' : '', '');
  },
  decode: decodeVersionIncompatibleObjects,
  absent: [],
};

/**
 * After CREATE OR REPLACE VIEW a view can select from itself, which CREATE VIEW rejects. Only a reference to a column
 * of the view itself proves that the view selects from itself: before PostgreSQL 15 every view depends on itself.
 */
const ownViews = `
  SELECT
    'view ' || r.ev_class::regclass AS object,
    'itself' AS needs,
    0 AS since,
    format('relation "%s" does not exist', r.ev_class::regclass) AS says
  FROM pg_rewrite r
  JOIN pg_class c ON c.oid = r.ev_class AND c.relkind = 'v'
  WHERE r.oid >= '${firstNormalObjectId}'
    AND r.ev_type = '1'
    AND EXISTS (
      SELECT FROM pg_depend d
      WHERE d.classid = '${oidsOfCatalogs.pg_rewrite}'
        AND d.objid = r.oid
        AND d.refclassid = '${oidsOfCatalogs.pg_class}'
        AND d.refobjid = r.ev_class
        AND d.refobjsubid > 0
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
