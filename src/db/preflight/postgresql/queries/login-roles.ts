import { firstNormalObjectId } from '../../../../postgresql/catalog-oids.ts';
import { decodeBooleanColumn, decodeTextColumn } from '../../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';

/** A role of a user that can log in or is a superuser. */
export interface UserLoginOrSuperuserRole {
  readonly name: string;
  readonly superuser: boolean;
  readonly canLogin: boolean;
}

export const userLoginOrSuperuserRolesQuery: PostgresqlPreflightQuery<readonly UserLoginOrSuperuserRole[]> = {
  id: 'login-roles',
  scope: 'server',
  sql: () => `
    SELECT rolname, rolsuper, rolcanlogin
    FROM pg_roles
    WHERE oid >= ${firstNormalObjectId} AND (rolsuper OR rolcanlogin)
    ORDER BY rolname
  `,
  decode: (rows) =>
    rows.map((row) => ({
      name: decodeTextColumn(row, 'rolname'),
      superuser: decodeBooleanColumn(row, 'rolsuper'),
      canLogin: decodeBooleanColumn(row, 'rolcanlogin'),
    })),
  absent: [],
};
