import type { Ask } from '../ask.ts';
import { textIn } from './decode.ts';
import { grantMonitor } from './grants.ts';

/** When the server was started, as it writes it. */
export const started: Ask<string> = {
  id: 'started',
  scope: 'server',
  sql: () => 'SELECT pg_postmaster_start_time()::timestamp(0)::text AS started',
  decode: ([row = {}]) => textIn(row, 'started'),
  absent: '',
  grant: grantMonitor,
};
