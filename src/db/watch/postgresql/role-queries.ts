import {
  decodeBooleanColumn,
  decodeOptionalNumberColumn,
  decodeOptionalTextColumn,
  decodeTextColumn,
} from '../../../postgresql/decode-row.ts';
import type { StoredTimeoutSetting } from './server-facts.ts';
import type { PostgresqlWatchQuery } from './watch-query.ts';

/** Timeouts that are set for the role, or for all roles in one database, and that end a COPY of the migration. */
export const roleTimeoutsQuery: PostgresqlWatchQuery<readonly StoredTimeoutSetting[]> = {
  id: 'role-timeouts',
  sql: () => `
    SELECT s.setting, r.setrole <> 0 AS of_role, d.datname
    FROM pg_db_role_setting r
    CROSS JOIN LATERAL unnest(r.setconfig) AS s(setting)
    LEFT JOIN pg_database d ON d.oid = r.setdatabase
    WHERE r.setrole IN (0, (SELECT oid FROM pg_roles WHERE rolname = current_user))
      AND s.setting ~ '^(statement|lock|transaction|idle_in_transaction_session|idle_session)_timeout='
    ORDER BY 1, 2, 3`,
  decode: (rows) =>
    rows.map((row) => ({
      setting: decodeTextColumn(row, 'setting'),
      isOfRole: decodeBooleanColumn(row, 'of_role'),
      database: decodeOptionalTextColumn(row, 'datname'),
    })),
  fallback: [],
};

export const watchedRoleQuery: PostgresqlWatchQuery<
  | { name: string; superuser: boolean; replication: boolean; login: boolean; secondsLeft: number | undefined }
  | undefined
> = {
  id: 'role',
  sql: () => `
    SELECT rolname, rolsuper, rolreplication, rolcanlogin,
      CASE WHEN isfinite(rolvaliduntil) THEN floor(extract(epoch FROM rolvaliduntil - now())) END AS seconds_left
    FROM pg_roles
    WHERE rolname = current_user`,
  decode: ([row]) => ({
    name: decodeTextColumn(row, 'rolname'),
    superuser: decodeBooleanColumn(row, 'rolsuper'),
    replication: decodeBooleanColumn(row, 'rolreplication'),
    login: decodeBooleanColumn(row, 'rolcanlogin'),
    secondsLeft: decodeOptionalNumberColumn(row, 'seconds_left'),
  }),
  fallback: undefined,
};

/** Reads xmin of the row of the role, which changes with the password without revealing it. */
export const watchedRoleRevisionQuery: PostgresqlWatchQuery<string | undefined> = {
  id: 'revision',
  sql: () => 'SELECT xmin::text AS revision FROM pg_authid WHERE rolname = current_user',
  decode: ([row]) => decodeOptionalTextColumn(row, 'revision'),
  fallback: undefined,
};
