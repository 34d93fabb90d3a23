import { decodeBooleanColumn, decodeOptionalNumberColumn, decodeTextColumn } from '../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';
import { createDatabaseFeatureCondition } from './database-overview.ts';

/** The time at which the counters of inserted, updated and deleted rows began. */
export interface WriteCountersStartTime {
  /** Seconds since the counters of written rows began; undefined if not known. */
  readonly seconds: number | undefined;
  /** The time at which the counters of written rows began, as the server formats it. */
  readonly since: string;
  /** The time at which the counters of written rows began, in seconds since 1970. */
  readonly start: number | undefined;
  /**
   * Whether the counters began when the database was created, so that no earlier write was possible. Only for a
   * superuser the query can determine when the database was created.
   */
  readonly sinceCreation: boolean;
}

/**
 * The counters of written rows begin anew with pg_stat_reset(), after a crash or an immediate shutdown, with pg_upgrade
 * or a restored backup, and on a promoted standby, which has counted no writes. A crash also resets the shared
 * counters, whose reset time shows the crash. One shared counter may have been reset alone, so the older reset time of
 * two counters is used. The file PG_VERSION of a database is written when the database is created. Before PostgreSQL 15
 * the counters of a database began with its first session.
 */
export const writeCountersResetTimeQuery: PostgresqlPreflightQuery<WriteCountersStartTime> = {
  id: 'write-counters',
  scope: 'database',
  when: createDatabaseFeatureCondition('relations', 'columns'),
  sql: (version, { superuser }) => {
    // Roles other than superusers may not execute pg_ls_waldir and pg_stat_file, and the query would fail.
    const promoted =
      version < 100_000 || !superuser
        ? 'NULL'
        : `
          CASE
            WHEN (SELECT timeline_id FROM pg_control_checkpoint()) > 1
              THEN (SELECT max(w.modification) FROM pg_ls_waldir() w WHERE right(w.name, 8) = '.history')
          END
        `;
    const created = superuser
      ? `
        (
          SELECT extract(epoch FROM f.modification)::bigint
          FROM pg_database d
          CROSS JOIN LATERAL pg_stat_file('base/' || d.oid || '/PG_VERSION', true) f
          WHERE d.datname = current_database()
        )
      `
      : 'NULL::bigint';
    return `
      SELECT
        extract(epoch FROM now() - w.since) AS seconds,
        w.since::timestamp(0)::text AS since,
        extract(epoch FROM w.since) AS start,
        extract(epoch FROM w.since) <= ${created} + 60 AS since_creation
      FROM (
        SELECT greatest(
          (SELECT d.stats_reset FROM pg_stat_database d WHERE d.datname = current_database()),
          least((SELECT b.stats_reset FROM pg_stat_bgwriter b), (SELECT a.stats_reset FROM pg_stat_archiver a)),
          ${promoted}
        ) AS since
      ) w
    `;
  },
  decode: ([row = {}]) => ({
    seconds: decodeOptionalNumberColumn(row, 'seconds'),
    since: decodeTextColumn(row, 'since'),
    start: decodeOptionalNumberColumn(row, 'start'),
    sinceCreation: decodeBooleanColumn(row, 'since_creation'),
  }),
  absent: { seconds: undefined, since: '', start: undefined, sinceCreation: false },
};
