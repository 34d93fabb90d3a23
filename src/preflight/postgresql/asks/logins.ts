import type { Ask } from '../ask.ts';
import { textIn, truthIn } from './decode.ts';
import { grantMonitor } from './grants.ts';

/** A role somebody made, which logs in or is a superuser. */
export interface Login {
  readonly name: string;
  readonly superuser: boolean;
  readonly canLogin: boolean;
}

export const logins: Ask<readonly Login[]> = {
  id: 'logins',
  scope: 'server',
  sql: () =>
    'SELECT rolname, rolsuper, rolcanlogin FROM pg_roles WHERE oid >= 16384 AND (rolsuper OR rolcanlogin) ORDER BY rolname',
  decode: (rows) =>
    rows.map((row) => ({
      name: textIn(row, 'rolname'),
      superuser: truthIn(row, 'rolsuper'),
      canLogin: truthIn(row, 'rolcanlogin'),
    })),
  absent: [],
  grant: grantMonitor,
};
