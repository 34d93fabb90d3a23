import type { PostgresqlQuery } from '../query.ts';
import { whenPresent } from './database-overview.ts';
import { decodeNumber, decodeText } from './decode.ts';
import { grantMonitorRole } from './grants.ts';

/** What a release after that of the source cannot make again. */
export interface IncompatibleObject {
  /** `view public.load`, `operator public.!!!(integer,NONE)`. */
  readonly object: string;
  /** `column pg_stat_bgwriter.buffers_backend`; a definition the release refuses. */
  readonly needs: string;
  /** The first release without it; 0: none could make it anew. */
  readonly since: number;
  /** The error of that release, where `needs` does not tell it. */
  readonly says?: string;
}

/**
 * A query with a star was written out when the view was made, so that it names every column there was; so are functions of SQL
 * that have a body instead of a text (14 and newer).
 */
export const incompatibleViewsQuery: PostgresqlQuery<readonly IncompatibleObject[]> = {
  id: 'outdated-views',
  scope: 'database',
  when: whenPresent('views', 'functions'),
  sql: (version) => {
    const gone = removedColumns.flatMap(({ relation, columns, since }) =>
      since > version / 10_000 ? columns.map((column) => `('${relation}', '${column}', ${since})`) : [],
    );
    if (gone.length === 0) return `${ownViews} ORDER BY 1`;
    const views = `SELECT CASE c.relkind WHEN 'm' THEN 'materialized view ' ELSE 'view ' END || c.oid::regclass AS object, pg_get_viewdef(c.oid) AS words FROM pg_class c WHERE c.oid >= '16384' AND c.relkind IN ('v', 'm') AND ${isNotExtensionMemberSql('1259', 'c.oid')}`;
    const functions = `SELECT CASE p.prokind WHEN 'p' THEN 'procedure ' ELSE 'function ' END || p.oid::regprocedure, pg_get_function_sqlbody(p.oid) FROM pg_proc p WHERE p.oid >= '16384' AND p.prosqlbody IS NOT NULL AND ${isNotExtensionMemberSql('1255', 'p.oid')}`;
    return `WITH o AS MATERIALIZED (${version < 140_000 ? views : `${views} UNION ALL ${functions}`}) SELECT o.object, 'column ' || g.relation || '.' || g.name AS needs, g.since, NULL AS says FROM o JOIN (VALUES ${gone.join(', ')}) g(relation, name, since) ON o.words ~ ('[[:<:]]' || g.relation || '[[:>:]]') AND o.words ~ ('[[:<:]]' || g.name || '[[:>:]]') UNION ALL ${ownViews} ORDER BY 1, 2`.replace(
      version < 120_000 ? 'MATERIALIZED ' : '',
      '',
    );
  },
  decode: decodeIncompatibleObjects,
  absent: [],
  grant: grantMonitorRole,
};

/**
 * By CREATE OR REPLACE a view can select from itself, which no CREATE can. Without a column of its own nobody knows: until 15
 * every view depends on itself. 2618 is pg_rewrite.
 */
const ownViews =
  "SELECT 'view ' || r.ev_class::regclass AS object, 'itself' AS needs, 0 AS since, format('relation \"%s\" does not exist', r.ev_class::regclass) AS says FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class AND c.relkind = 'v' WHERE r.oid >= '16384' AND r.ev_type = '1' AND EXISTS (SELECT FROM pg_depend d WHERE d.classid = '2618' AND d.objid = r.oid AND d.refclassid = '1259' AND d.refobjid = r.ev_class AND d.refobjsubid > 0)";

/** Since 14 array_append and its like (378, 379, 383) take anycompatible: 2277 is anyarray, 2283 anyelement. */
export const incompatibleOperatorsQuery: PostgresqlQuery<readonly IncompatibleObject[]> = {
  id: 'outdated-operators',
  scope: 'database',
  sql: (version) =>
    version >= 140_000
      ? undefined
      : `SELECT 'operator ' || o.oid::regoperator AS object, CASE o.oprkind WHEN 'r' THEN 'an operand on the right' ELSE 'anycompatible instead of ' || format_type(o.oprleft, NULL) END AS needs, 14 AS since FROM pg_operator o WHERE o.oid >= '16384' AND (o.oprkind = 'r' OR (o.oprcode IN (378, 379, 383) AND o.oprleft IN (2277, 2283))) AND ${isNotExtensionMemberSql('2617', 'o.oid')} UNION ALL SELECT 'aggregate ' || a.aggfnoid::regprocedure, 'anycompatible instead of ' || format_type(a.aggtranstype, NULL), 14 FROM pg_aggregate a WHERE a.aggfnoid >= '16384' AND a.aggtransfn IN (378, 379, 383) AND a.aggtranstype IN (2277, 2283) AND ${isNotExtensionMemberSql('1255', 'a.aggfnoid')} ORDER BY 1`,
  decode: decodeIncompatibleObjects,
  absent: [],
  grant: grantMonitorRole,
};

/** Columns of the system, as they went; those of pg_stat_statements go with the version of it that a release brings. */
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

export function isNotExtensionMemberSql(catalogue: string, oid: string): string {
  return `NOT EXISTS (SELECT FROM pg_depend e WHERE e.classid = '${catalogue}' AND e.objid = ${oid} AND e.deptype = 'e')`;
}

export function decodeIncompatibleObjects(
  rows: Parameters<PostgresqlQuery<unknown>['decode']>[0],
): readonly IncompatibleObject[] {
  return rows.map((row) => ({
    object: decodeText(row, 'object'),
    needs: decodeText(row, 'needs'),
    since: decodeNumber(row, 'since'),
    ...(decodeText(row, 'says') === '' ? {} : { says: decodeText(row, 'says') }),
  }));
}
