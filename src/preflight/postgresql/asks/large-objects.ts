import type { Ask } from '../ask.ts';
import { numberIn, textIn } from './decode.ts';
import { grantMonitor } from './grants.ts';
import { where } from './overview.ts';

/** More are not counted: the number would not change what is to be done. */
export const countedAtMost = 100_000;

export const largeObjects: Ask<number> = {
  id: 'large-objects',
  scope: 'database',
  when: where('large-objects'),
  sql: () => `SELECT count(*) AS objects FROM (SELECT FROM pg_largeobject_metadata LIMIT ${countedAtMost + 1}) o`,
  decode: ([row = {}]) => numberIn(row, 'objects'),
  absent: 0,
  grant: grantMonitor,
};

/** Oids of large objects that this role may not read; pg_read_all_data does not open them. */
export const closedLargeObjects: Ask<readonly string[]> = {
  id: 'closed-large-objects',
  scope: 'database',
  when: where('large-objects'),
  sql: (_version, { superuser }) =>
    superuser
      ? undefined
      : `SELECT m.oid FROM pg_largeobject_metadata m WHERE current_setting('lo_compat_privileges') = 'off' AND NOT pg_has_role(m.lomowner, 'USAGE') AND NOT EXISTS (SELECT FROM aclexplode(m.lomacl) p WHERE p.privilege_type = 'SELECT' AND (p.grantee = 0 OR pg_has_role(p.grantee, 'USAGE'))) ORDER BY m.oid LIMIT ${countedAtMost}`,
  decode: (rows) => rows.map((row) => textIn(row, 'oid')),
  absent: [],
  grant: grantMonitor,
};
