import { decodeNumberColumnOrZero } from '../../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';

/** The numbers of connection slots of the server. */
export interface ConnectionCapacity {
  readonly max: number;
  /** Connection slots reserved for superusers and, since PostgreSQL 16, for members of pg_use_reserved_connections. */
  readonly reserved: number;
  /**
   * Connection slots in use, including those of this program. Before PostgreSQL 12, connections of WAL senders count as
   * well.
   */
  readonly used: number;
}

export const connectionCapacityQuery: PostgresqlPreflightQuery<ConnectionCapacity> = {
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
    max: decodeNumberColumnOrZero(row, 'max'),
    reserved: decodeNumberColumnOrZero(row, 'reserved'),
    used: decodeNumberColumnOrZero(row, 'used'),
  }),
  absent: { max: 0, reserved: 0, used: 0 },
};

/**
 * Returns a tenth of the free connections. The preflight uses no more, because the other free connections are left to
 * the applications of the database.
 */
export function tenthOfFreeConnections({ max, reserved, used }: ConnectionCapacity): number {
  return Math.floor((max - reserved - used) / 10);
}
