import { decodeTextColumn } from '../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';

/** Start time of the server, as the server formats it. */
export const serverStartTimeQuery: PostgresqlPreflightQuery<string> = {
  id: 'start-time',
  scope: 'server',
  sql: () => 'SELECT pg_postmaster_start_time()::timestamp(0)::text AS started',
  decode: ([row = {}]) => decodeTextColumn(row, 'started'),
  absent: '',
};
