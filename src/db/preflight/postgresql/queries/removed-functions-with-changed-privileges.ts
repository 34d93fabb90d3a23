import { firstNormalObjectId, oidsOfCatalogs } from '../../../../postgresql/catalog-oids.ts';
import { decodeNumberColumnOrZero, decodeTextColumn } from '../../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';

/** A built-in function that a later release lacks, or has with other arguments, and whose privileges were changed. */
export interface RemovedFunctionWithChangedPrivileges {
  /** With argument types. */
  readonly signature: string;
  /** The first major version without the function. */
  readonly since: number;
}

/**
 * Signatures of functions that a PostgreSQL release removed or changed, as pg_proc describes them. Conversion functions
 * are matched by their arguments.
 */
const removedFunctions: readonly { readonly since: number; readonly signatures: readonly string[] }[] = [
  { since: 13, signatures: ['get_bit(bytea, integer)', 'set_bit(bytea, integer, integer)'] },
  {
    since: 14,
    signatures: [
      'array_append(anyarray, anyelement)',
      'array_cat(anyarray, anyarray)',
      'array_position(anyarray, anyelement)',
      'array_position(anyarray, anyelement, integer)',
      'array_positions(anyarray, anyelement)',
      'array_prepend(anyelement, anyarray)',
      'array_remove(anyarray, anyelement)',
      'array_replace(anyarray, anyelement, anyelement)',
      'currtid(oid, tid)',
      'lag(anyelement, integer, anyelement)',
      'lead(anyelement, integer, anyelement)',
      'numeric_fac(bigint)',
      'pg_create_logical_replication_slot(name, name, boolean)',
      'pg_terminate_backend(integer)',
      'width_bucket(anyelement, anyarray)',
    ],
  },
  {
    since: 15,
    signatures: [
      'close_lb(line, box)',
      'close_sl(lseg, line)',
      'dist_bl(box, line)',
      'dist_lb(line, box)',
      'path_center(path)',
      'pg_backup_start_time()',
      'pg_is_in_backup()',
      'pg_start_backup(text, boolean, boolean)',
      'pg_stop_backup()',
      'pg_stop_backup(boolean, boolean)',
      'point(path)',
    ],
  },
  { since: 16, signatures: ['pg_get_publication_tables(text)'] },
  {
    since: 17,
    signatures: [
      'interval_accum(interval[], interval)',
      'interval_accum_inv(interval[], interval)',
      'interval_avg(interval[])',
      'interval_combine(interval[], interval[])',
      'pg_create_logical_replication_slot(name, name, boolean, boolean)',
      'pg_logical_emit_message(boolean, text, bytea)',
      'pg_logical_emit_message(boolean, text, text)',
      'pg_read_file_old(text, bigint, bigint)',
      'pg_rotate_logfile_old()',
      'pg_stat_get_bgwriter_buf_written_checkpoints()',
      'pg_stat_get_bgwriter_requested_checkpoints()',
      'pg_stat_get_bgwriter_timed_checkpoints()',
      'pg_stat_get_buf_fsync_backend()',
      'pg_stat_get_buf_written_backend()',
      'pg_stat_get_checkpoint_sync_time()',
      'pg_stat_get_checkpoint_write_time()',
    ],
  },
  {
    since: 18,
    signatures: [
      'json_strip_nulls(json)',
      'jsonb_strip_nulls(jsonb)',
      'pg_stat_have_stats(text, oid, oid)',
      'pg_timezone_abbrevs()',
    ],
  },
];

/** Privileges that differ from those after initdb, which a dump contains as GRANT and REVOKE. */
export const removedFunctionsWithChangedPrivilegesQuery: PostgresqlPreflightQuery<
  readonly RemovedFunctionWithChangedPrivileges[]
> = {
  id: 'built-in-grants',
  scope: 'database',
  sql: (version) => {
    const removed = removedFunctions.filter(({ since }) => since > version / 10_000);
    if (removed.length === 0 || version < 100_000) return undefined;
    const signatures = removed.flatMap(({ since, signatures: all }) => all.map((one) => `('${one}', ${since})`));
    const names = removed.flatMap(({ signatures: all }) => all.map((one) => one.slice(0, one.indexOf('('))));
    const isRemoved =
      version < 140_000
        ? `(p.proname = ANY ('{${names.join(',')}}') OR p.proargtypes = '23 23 2275 2281 23')`
        : `p.proname = ANY ('{${names.join(',')}}')`;
    const initial = `
      coalesce(
        (
          SELECT i.initprivs
          FROM pg_init_privs i
          WHERE i.objoid = p.oid
            AND i.classoid = '${oidsOfCatalogs.pg_proc}'
            AND i.objsubid = '0'
        ),
        acldefault('f', p.proowner)
      )
    `;
    const current = "coalesce(p.proacl, acldefault('f', p.proowner))";
    return `
      SELECT p.oid::regprocedure AS signature, coalesce(r.since, 14) AS since
      FROM pg_proc p
      LEFT JOIN (VALUES ${signatures.join(', ')}) r(signature, since)
        ON r.signature = p.proname || '(' || oidvectortypes(p.proargtypes) || ')'
      WHERE ${isRemoved}
        AND p.oid < '${firstNormalObjectId}'
        AND (r.since IS NOT NULL OR p.proargtypes = '23 23 2275 2281 23')
        AND EXISTS (
          (SELECT * FROM aclexplode(${current}) EXCEPT SELECT * FROM aclexplode(${initial}))
          UNION ALL
          (SELECT * FROM aclexplode(${initial}) EXCEPT SELECT * FROM aclexplode(${current}))
        )
      ORDER BY 1
    `;
  },
  decode: (rows) =>
    rows.map((row) => ({
      signature: decodeTextColumn(row, 'signature'),
      since: decodeNumberColumnOrZero(row, 'since'),
    })),
  absent: [],
};
