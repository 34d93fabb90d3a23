import { quoteIdentifier } from '../../../postgresql/quote.ts';
import type { AccessCatalog, Role, RoleAttribute } from './access-catalog.ts';
import type { AccessStatement } from './access-statements.ts';

/**
 * What the login of the target can run. A superuser runs everything; any other login acts as a member of the roles that own
 * the objects, and makes itself a member for the time of the script where it may.
 */
export interface TargetLogin {
  readonly role: Role;
  readonly isSuperuser: boolean;
  /** Roles that the script creates. */
  readonly created: Set<string>;
  /** Why the login cannot act as this role; undefined if it can. */
  lacks(role: string): string | undefined;
  /** Why the login cannot alter the role, or give it this attribute. */
  lacksForRole(role: string, attribute: RoleAttribute | undefined): string | undefined;
  lacksForNewRoles(): string | undefined;
  /** Why the login cannot add a member to the role. */
  lacksForMembers(role: string): string | undefined;
  /** Statements before and after the script, which make the login a member of the roles and take it back. */
  begin(): readonly AccessStatement[];
  end(): readonly AccessStatement[];
}

export function createTargetLogin(target: AccessCatalog): TargetLogin {
  const role = target.roles.get(target.login) ?? unknownRole(target.login);
  const { SUPERUSER: isSuperuser, CREATEROLE: createsRoles } = role.attributes;
  const created = new Set<string>();
  const joined = new Set<string>();
  const hasOptions = target.version >= 160_000;
  const administers = (name: string): boolean => {
    const other = target.roles.get(name);
    if (other === undefined) return created.has(name) && createsRoles;
    if (other.isBuiltIn || other.attributes.SUPERUSER) return false;
    return other.isAdministered || (!hasOptions && createsRoles);
  };
  const quoted = () => [...joined].map(quoteIdentifier).join(', ');
  return {
    role,
    isSuperuser,
    created,
    lacks(name) {
      const other = target.roles.get(name);
      if (isSuperuser || other?.isUsable === true || name === target.login) return undefined;
      if (!administers(name)) return `the login ${role.name} must be a member of ${name}`;
      joined.add(name);
      return undefined;
    },
    lacksForRole(name, attribute) {
      if (isSuperuser) return undefined;
      const needed =
        attribute === 'CREATEDB' || attribute === 'BYPASSRLS' || attribute === 'REPLICATION' ? attribute : undefined;
      if (!createsRoles) return `the login ${role.name} lacks CREATEROLE`;
      if (
        attribute === 'SUPERUSER' ||
        (needed !== undefined && !role.attributes[needed] && (hasOptions || needed !== 'CREATEDB'))
      )
        return 'only a superuser may give it';
      return administers(name) ? undefined : `the login ${role.name} lacks the ADMIN option of ${name}`;
    },
    lacksForNewRoles: () => (isSuperuser || createsRoles ? undefined : `the login ${role.name} lacks CREATEROLE`),
    lacksForMembers(name) {
      if (isSuperuser || administers(name) || target.roles.get(name)?.isAdministered === true) return undefined;
      return `the login ${role.name} lacks the ADMIN option of ${name}`;
    },
    begin: () =>
      joined.size === 0
        ? []
        : [
            {
              section: 'owners',
              sql: `GRANT ${quoted()} TO CURRENT_USER${hasOptions ? ' WITH INHERIT TRUE, SET TRUE' : ''}`,
            },
          ],
    end: () => (joined.size === 0 ? [] : [{ section: 'owners', sql: `REVOKE ${quoted()} FROM CURRENT_USER` }]),
  };
}

function unknownRole(name: string): Role {
  return {
    name,
    attributes: {
      SUPERUSER: false,
      INHERIT: true,
      CREATEROLE: false,
      CREATEDB: false,
      LOGIN: true,
      REPLICATION: false,
      BYPASSRLS: false,
    },
    connectionLimit: -1,
    validUntil: undefined,
    comment: undefined,
    isBuiltIn: false,
    isPowerful: false,
    isUsable: false,
    isAdministered: false,
  };
}
