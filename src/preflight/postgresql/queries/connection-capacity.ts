import type { PostgresqlQuery } from '../query.ts';
import { decodeNumber } from './decode.ts';
import { grantMonitorRole } from './grants.ts';

/** Connection slots of the server. */
export interface ConnectionCapacity {
  readonly max: number;
  /** Reserved for superusers and, since PostgreSQL 16, for members of pg_use_reserved_connections. */
  readonly reserved: number;
  /** In use, our own included. Before PostgreSQL 12 those of WAL senders count as well. */
  readonly used: number;
}

export const connectionCapacityQuery: PostgresqlQuery<ConnectionCapacity> = {
  id: 'connection-capacity',
  scope: 'server',
  sql: (version) => `
    SELECT
      current_setting('max_connections') AS max,
      current_setting('superuser_reserved_connections')::int${version < 160_000 ? '' : " + current_setting('reserved_connections')::int"} AS reserved,
      (
        SELECT count(*)
        FROM pg_stat_activity
        WHERE usesysid IS NOT NULL${version < 120_000 ? '' : ' AND pid NOT IN (SELECT pid FROM pg_stat_replication)'}
      ) AS used
  `,
  decode: ([row = {}]) => ({
    max: decodeNumber(row, 'max'),
    reserved: decodeNumber(row, 'reserved'),
    used: decodeNumber(row, 'used'),
  }),
  absent: { max: 0, reserved: 0, used: 0 },
  grant: grantMonitorRole,
};

/** The free connections belong to the applications of the database. */
export function tenthOfFreeConnections({
  max,
  reserved,
  used,
}: {
  max: number;
  reserved: number;
  used: number;
}): number {
  return Math.floor((max - reserved - used) / 10);
}
