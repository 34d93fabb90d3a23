import { builtinLanguageOids, firstNormalObjectId } from '../../../../postgresql/catalog-oids.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';
import { isNotExtensionMemberSql } from './catalog-predicates.ts';
import { createDatabaseFeatureCondition } from './database-overview.ts';
import { decodeVersionIncompatibleObjects, type VersionIncompatibleObject } from './incompatible-object.ts';

/**
 * Names of server functions that a function in the language `internal` can use; CREATE FUNCTION verifies that they
 * exist.
 */
const removedInternalFunctions: readonly { readonly since: number; readonly names: string }[] = [
  {
    since: 13,
    names:
      'opaque_in|opaque_out|txid_current|txid_current_if_assigned|txid_current_snapshot|txid_snapshot_in|txid_snapshot_out|txid_snapshot_recv|txid_snapshot_send|txid_snapshot_xip|txid_snapshot_xmax|txid_snapshot_xmin|txid_status|txid_visible_in_snapshot',
  },
  { since: 14, names: 'binary_upgrade_set_next_toast_pg_type_oid|currtid_byreloid|split_text' },
  {
    since: 15,
    names:
      'close_lb|close_sl|dist_bl|dist_lb|path_center|pg_backup_start_time|pg_is_in_backup|pg_start_backup|pg_stop_backup|pg_stop_backup_v2',
  },
  { since: 16, names: 'pg_read_binary_file|pg_read_file_v2' },
  {
    since: 17,
    names:
      'interval_accum|interval_accum_inv|interval_combine|pg_read_file|pg_rotate_logfile_v2|pg_stat_get_bgwriter_buf_written_checkpoints|pg_stat_get_bgwriter_requested_checkpoints|pg_stat_get_bgwriter_timed_checkpoints|pg_stat_get_buf_fsync_backend|pg_stat_get_buf_written_backend|pg_stat_get_checkpoint_sync_time|pg_stat_get_checkpoint_write_time',
  },
  { since: 18, names: 'pg_timezone_abbrevs' },
];

/** Settings that later releases removed, in SET clauses, as patterns over pg_proc.proconfig. */
const removedSettings: readonly { readonly since: number; readonly settings: string; readonly says?: string }[] = [
  { since: 10, settings: 'sql_inheritance=.*' },
  { since: 11, settings: 'replacement_sort_tuples=.*' },
  { since: 12, settings: 'default_with_oids=(on|true|yes|1)', says: 'tables declared WITH OIDS are not supported' },
  { since: 14, settings: '(operator_precedence_warning|vacuum_cleanup_index_scale_factor)=.*' },
  { since: 16, settings: 'force_parallel_mode=.*' },
];

export const versionIncompatibleFunctionsQuery: PostgresqlPreflightQuery<readonly VersionIncompatibleObject[]> = {
  id: 'incompatible-functions',
  scope: 'database',
  when: createDatabaseFeatureCondition('functions'),
  sql: (version) => {
    const later = (one: { readonly since: number }) => one.since > version / 10_000;
    const object = `
      CASE ${version < 110_000 ? "'f'" : 'p.prokind'} WHEN 'p' THEN 'procedure ' ELSE 'function ' END || p.oid::regprocedure AS object
    `;
    const own = `p.oid >= '${firstNormalObjectId}' AND ${isNotExtensionMemberSql('pg_proc', 'p.oid')}`;
    const parts = [
      ...removedInternalFunctions.filter(later).map(
        ({ since, names }) => `
            SELECT
              ${object},
              'internal function ' || p.prosrc AS needs,
              format('there is no built-in function named "%s"', p.prosrc) AS says,
              ${since} AS since
            FROM pg_proc p
            WHERE p.prolang = '${builtinLanguageOids.internal}'
              AND p.prosrc ~ '^(${names})$'
              AND ${own}
          `,
      ),
      ...removedSettings.filter(later).map(
        ({ since, settings, says }) => `
            SELECT
              ${object},
              'setting ' || split_part(s.set, '=', 1),
              ${says === undefined ? `format('unrecognized configuration parameter "%s"', split_part(s.set, '=', 1))` : `'${says}'`},
              ${since}
            FROM pg_proc p
            CROSS JOIN LATERAL unnest(p.proconfig) s(set)
            WHERE p.proconfig IS NOT NULL
              AND s.set ~* '^${settings}$'
              AND ${own}
          `,
      ),
    ];
    return parts.length === 0 ? undefined : `${parts.join(' UNION ALL ')} ORDER BY 1, 2`;
  },
  decode: decodeVersionIncompatibleObjects,
  absent: [],
};
