import type { PostgresqlPreflightQuery } from '../query.ts';
import { decodeTextColumn } from './decode.ts';
import { buildGrantMonitorRoleStatement } from './grants.ts';

/** Start time of the server, as the server formats it. */
export const serverStartTimeQuery: PostgresqlPreflightQuery<string> = {
  id: 'start-time',
  scope: 'server',
  sql: () => 'SELECT pg_postmaster_start_time()::timestamp(0)::text AS started',
  decode: ([row = {}]) => decodeTextColumn(row, 'started'),
  absent: '',
  grant: buildGrantMonitorRoleStatement,
};
