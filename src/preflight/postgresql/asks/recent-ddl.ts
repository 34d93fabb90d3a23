import type { Ask } from '../ask.ts';
import { textIn } from './decode.ts';
import { grantMonitor } from './grants.ts';
import { where } from './overview.ts';

/** Tables made or altered within a day, a hundred at most; where commits carry no time (track_commit_timestamp) nobody knows. */
export const recentDdl: Ask<readonly string[]> = {
  id: 'recent-ddl',
  scope: 'database',
  when: where('commit-times'),
  sql: () =>
    "SELECT c.oid::regclass AS name FROM pg_class c WHERE current_setting('track_commit_timestamp') = 'on' AND c.oid >= '16384' AND (c.relkind = 'r' OR c.relkind = 'p') AND c.relpersistence <> 't' AND pg_xact_commit_timestamp(c.xmin) > now() - interval '1 day' LIMIT 100",
  decode: (rows) => rows.map((row) => textIn(row, 'name')),
  absent: [],
  grant: grantMonitor,
};
