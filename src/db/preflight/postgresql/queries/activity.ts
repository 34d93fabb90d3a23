import {
  decodeNumberColumnOrZero,
  decodeOptionalNumberColumn,
  decodeTextColumn,
} from '../../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';

/** The sessions of one role that a restart of the server would end. The sessions of this program are left out. */
export interface RoleSessionActivity {
  readonly user: string;
  readonly sessions: number;
  /**
   * Seconds since the longest transaction of these sessions began; undefined if there is none, or if it is hidden from
   * this role.
   */
  readonly seconds: number | undefined;
}

export const roleSessionActivityQuery: PostgresqlPreflightQuery<readonly RoleSessionActivity[]> = {
  id: 'activity',
  scope: 'server',
  // Background workers such as the logical replication launcher have a user but no client.
  // pg_stat_activity.backend_type is NULL for a role without pg_monitor.
  sql: (version) => `
    SELECT usename, count(*) AS sessions, extract(epoch FROM max(now() - xact_start))::bigint AS seconds
    FROM pg_stat_activity
    WHERE usesysid IS NOT NULL${version < 100_000 ? '' : " AND coalesce(backend_type, 'client backend') IN ('client backend', 'walsender')"}
      AND pid <> pg_backend_pid()
      AND application_name <> 'cloudctl-preflight'
    GROUP BY usename
    ORDER BY count(*) DESC, usename
  `,
  decode: (rows) =>
    rows.map((row) => ({
      user: decodeTextColumn(row, 'usename'),
      sessions: decodeNumberColumnOrZero(row, 'sessions'),
      seconds: decodeOptionalNumberColumn(row, 'seconds'),
    })),
  absent: [],
};
