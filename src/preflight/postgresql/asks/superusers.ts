import type { Ask } from '../ask.ts';
import { textIn } from './decode.ts';
import { grantMonitor } from './grants.ts';

/** Names of all superusers, the first of the server included. */
export const superusers: Ask<readonly string[]> = {
  id: 'superusers',
  scope: 'server',
  sql: () => 'SELECT rolname FROM pg_roles WHERE rolsuper ORDER BY rolname',
  decode: (rows) => rows.map((row) => textIn(row, 'rolname')),
  absent: [],
  grant: grantMonitor,
};
