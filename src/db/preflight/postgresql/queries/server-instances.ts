import { decodeBooleanColumn, decodeNumberColumnOrZero, decodeTextColumn } from '../../../../postgresql/decode-row.ts';
import type { PostgresqlRow } from '../../../../postgresql/postgresql-row.ts';
import { quoteIdentifier } from '../../../../postgresql/quote.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';

/**
 * Properties that distinguish a server from another server, and from its own standby, which has the same system
 * identifier.
 */
export interface PostgresqlInstanceIdentity {
  readonly systemIdentifier: string;
  readonly inRecovery: boolean;
  /** Start time of the server in seconds since 1970, by the clock of the server. */
  readonly started: number;
  /** Time of the query in seconds since 1970, by the clock of the server. */
  readonly readAt: number;
}

export const instanceIdentitySql = `
  SELECT
    system_identifier::text AS system_identifier,
    pg_is_in_recovery() AS in_recovery,
    extract(epoch FROM pg_postmaster_start_time()) AS started,
    extract(epoch FROM clock_timestamp()) AS read_at
  FROM pg_control_system()
`;

export function decodePostgresqlInstanceIdentity(row: PostgresqlRow): PostgresqlInstanceIdentity {
  return {
    systemIdentifier: decodeTextColumn(row, 'system_identifier'),
    inRecovery: decodeBooleanColumn(row, 'in_recovery'),
    started: decodeNumberColumnOrZero(row, 'started'),
    readAt: decodeNumberColumnOrZero(row, 'read_at'),
  };
}

const shared = {
  sql: () => instanceIdentitySql,
  decode: ([row]: readonly PostgresqlRow[]) => (row === undefined ? undefined : decodePostgresqlInstanceIdentity(row)),
  absent: undefined,
  // Some providers deny access to pg_control_system.
  mayBeHidden: true,
  grant: (user: string) => `GRANT EXECUTE ON FUNCTION pg_catalog.pg_control_system() TO ${quoteIdentifier(user)}`,
};

/** The server instance of the first connection. */
export const firstConnectionInstanceIdentityQuery: PostgresqlPreflightQuery<PostgresqlInstanceIdentity | undefined> = {
  id: 'server-instance',
  scope: 'server',
  ...shared,
};

/** The server instance of a later connection. */
export const laterConnectionInstanceIdentityQuery: PostgresqlPreflightQuery<PostgresqlInstanceIdentity | undefined> = {
  id: 'later-server-instance',
  scope: 'database',
  ...shared,
};
