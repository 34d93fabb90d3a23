import type { PostgresqlQuery } from '../query.ts';
import { decodeText } from './decode.ts';
import { grantMonitorRole } from './grants.ts';

/** When the server was started, as it writes it. */
export const startTimeQuery: PostgresqlQuery<string> = {
  id: 'started',
  scope: 'server',
  sql: () => 'SELECT pg_postmaster_start_time()::timestamp(0)::text AS started',
  decode: ([row = {}]) => decodeText(row, 'started'),
  absent: '',
  grant: grantMonitorRole,
};
