import type { Ask } from '../ask.ts';
import { listIn, numberIn, numberOrNone, textIn, truthIn } from './decode.ts';
import { grantMonitor } from './grants.ts';

/** The role of the migration. */
export interface Role {
  readonly name: string;
  readonly superuser: boolean;
  readonly replication: boolean;
  readonly bypassRls: boolean;
  /** It has the rights of what it is granted without asking (INHERIT). */
  readonly inherits: boolean;
  /** -1: no limit. */
  readonly connectionLimit: number;
  /** Until the password expires, negative once it has; undefined: never. */
  readonly secondsLeft: number | undefined;
  /** As the server writes it. */
  readonly validUntil: string;
  /** Roles it is a member of, itself included; a superuser is no member of what it was not granted. */
  readonly memberOf: readonly string[];
}

export const role: Ask<Role> = {
  id: 'role',
  scope: 'server',
  sql: () =>
    `WITH RECURSIVE mine(oid) AS (SELECT oid FROM pg_roles WHERE rolname = current_user UNION SELECT m.roleid FROM pg_auth_members m JOIN mine ON m.member = mine.oid)
SELECT rolname, rolsuper, rolreplication, rolbypassrls, rolinherit, rolconnlimit, rolvaliduntil::text AS valid_until,
 CASE WHEN rolvaliduntil = '-infinity' THEN -1 WHEN isfinite(rolvaliduntil) THEN extract(epoch FROM rolvaliduntil - now())::bigint END AS seconds_left,
 (SELECT array_to_json(array_agg(r.rolname ORDER BY r.rolname)) FROM mine JOIN pg_roles r USING (oid)) AS member_of
FROM pg_roles WHERE rolname = current_user`,
  decode: ([row = {}]) => ({
    name: textIn(row, 'rolname'),
    superuser: truthIn(row, 'rolsuper'),
    replication: truthIn(row, 'rolreplication'),
    bypassRls: truthIn(row, 'rolbypassrls'),
    inherits: truthIn(row, 'rolinherit'),
    connectionLimit: numberIn(row, 'rolconnlimit'),
    secondsLeft: numberOrNone(row, 'seconds_left'),
    validUntil: textIn(row, 'valid_until'),
    memberOf: listIn(row, 'member_of'),
  }),
  absent: {
    name: '',
    superuser: false,
    replication: false,
    bypassRls: false,
    inherits: true,
    connectionLimit: -1,
    secondsLeft: undefined,
    validUntil: '',
    memberOf: [],
  },
  grant: grantMonitor,
};
