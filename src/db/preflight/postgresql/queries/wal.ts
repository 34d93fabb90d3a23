import { decodeNumberColumnOrZero } from '../../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';

export interface WalPositionReading {
  /** Position in the WAL, in bytes. */
  readonly bytes: number;
  /** Time of the reading in seconds since the epoch, by the clock of the server. */
  readonly at: number;
}

/** The WAL position; undefined if the server is in recovery. */
export const walPositionQuery: PostgresqlPreflightQuery<WalPositionReading | undefined> = {
  id: 'wal-position',
  scope: 'server',
  sql: (version, { inRecovery }) =>
    inRecovery
      ? undefined
      : `
        SELECT
          ${version < 100_000 ? 'pg_current_xlog_location()' : 'pg_current_wal_lsn()'} - '0/0'::pg_lsn AS bytes,
          extract(epoch FROM clock_timestamp()) AS at
      `,
  decode: ([row]) =>
    row === undefined
      ? undefined
      : { bytes: decodeNumberColumnOrZero(row, 'bytes'), at: decodeNumberColumnOrZero(row, 'at') },
  absent: undefined,
};

/** Bytes of WAL written since the statistics were reset, and the seconds since then (PostgreSQL 14 and newer). */
export interface WalVolumeSinceReset {
  readonly bytes: number;
  readonly seconds: number;
}

export const walVolumeSinceResetQuery: PostgresqlPreflightQuery<WalVolumeSinceReset | undefined> = {
  id: 'wal-history',
  scope: 'server',
  sql: (version) =>
    version < 140_000
      ? undefined
      : 'SELECT wal_bytes AS bytes, extract(epoch FROM now() - stats_reset) AS seconds FROM pg_stat_wal',
  decode: ([row]) =>
    row === undefined
      ? undefined
      : { bytes: decodeNumberColumnOrZero(row, 'bytes'), seconds: decodeNumberColumnOrZero(row, 'seconds') },
  absent: undefined,
};
