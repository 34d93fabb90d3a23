import { quoteIdentifier, quoteLiteral } from '../../../postgresql/quote.ts';
import type { AccessCatalog, Role, RoleAttribute } from './access-catalog.ts';
import type { AccessStatement } from './access-statements.ts';
import type { TargetLogin } from './target-login.ts';

/**
 * The roles of the source that the target lacks, their attributes and memberships. Passwords are not read, so a new role has none.
 * @param isCreating whether the script creates roles, so that other statements may name them
 */
export function compareRoles(
  source: AccessCatalog,
  target: AccessCatalog,
  login: TargetLogin,
  isCreating: boolean,
): readonly AccessStatement[] {
  const statements: AccessStatement[] = [];
  const add = (sql: string, left: string | undefined, isMinor = false) => {
    statements.push({
      section: 'roles',
      sql,
      ...(left === undefined ? {} : { left }),
      ...(isMinor ? { isMinor } : {}),
    });
  };
  const run = { target, login, isCreating, add };
  for (const role of source.roles.values()) if (!role.isBuiltIn) compareRole(role, run);
  const known = new Map(target.memberships.map((one) => [JSON.stringify([one.role, one.member]), one]));
  for (const one of source.memberships) {
    const { role, member, admin } = one;
    if (source.roles.get(member)?.isBuiltIn !== false || target.roles.get(member)?.attributes.SUPERUSER) continue;
    // A predefined role that this release lacks, or a superuser whose name differs.
    if (!(target.roles.has(role) || login.created.has(role)) && source.roles.get(role)?.isBuiltIn === true) continue;
    const now = known.get(JSON.stringify([role, member]));
    const hasOptions = target.version >= 160_000;
    const isEqual =
      now !== undefined && now.admin === admin && (!hasOptions || (now.inherit === one.inherit && now.set === one.set));
    if (isEqual) continue;
    const wanted = hasOptions
      ? ` WITH ADMIN ${word(admin)}, INHERIT ${word(one.inherit)}, SET ${word(one.set)}`
      : admin
        ? ' WITH ADMIN OPTION'
        : '';
    const grant = `GRANT ${quoteIdentifier(role)} TO ${quoteIdentifier(member)}${wanted}`;
    const isReduced = !hasOptions && now?.admin === true && !admin;
    const sql = isReduced ? `REVOKE ADMIN OPTION FOR ${quoteIdentifier(role)} FROM ${quoteIdentifier(member)}` : grant;
    const powerful =
      target.roles.get(role)?.isPowerful === true || role === 'pg_create_subscription'
        ? `${role} has rights on the server: to be reviewed`
        : undefined;
    add(sql, powerful ?? login.lacksForMembers(role), powerful !== undefined);
  }
  return statements;
}

interface RoleRun {
  readonly target: AccessCatalog;
  readonly login: TargetLogin;
  readonly isCreating: boolean;
  readonly add: (sql: string, left: string | undefined, isMinor?: boolean) => void;
}

function compareRole(role: Role, { target, login, isCreating, add }: RoleRun): void {
  const name = quoteIdentifier(role.name);
  const now = target.roles.get(role.name);
  if (now?.attributes.SUPERUSER === true || role.name === target.login) return;
  if (now === undefined) {
    const left = login.lacksForNewRoles();
    add(`CREATE ROLE ${name}`, left);
    if (left === undefined && isCreating) login.created.add(role.name);
  }
  for (const attribute of attributes) {
    const wanted = role.attributes[attribute];
    if (wanted === (now?.attributes[attribute] ?? attribute === 'INHERIT')) continue;
    const isRisky =
      wanted && (reviewed.includes(attribute) || (attribute === 'CREATEROLE' && target.version < 160_000));
    // A role that was created with LOGIN has lost it since: to keep the application out of the source, as a rule.
    const isFenced = attribute === 'LOGIN' && !wanted && now !== undefined;
    const left = isRisky
      ? 'it gives rights on the whole server: to be reviewed'
      : isFenced
        ? 'the role can log in on the target only: to be reviewed, if that fences the source'
        : undefined;
    add(
      `ALTER ROLE ${name} ${wanted ? '' : 'NO'}${attribute}`,
      left ?? login.lacksForRole(role.name, wanted ? attribute : undefined),
      isRisky || !['LOGIN', 'INHERIT', 'BYPASSRLS'].includes(attribute),
    );
  }
  const alter = (sql: string) => add(sql, login.lacksForRole(role.name, undefined), true);
  if (role.connectionLimit !== (now?.connectionLimit ?? -1))
    alter(`ALTER ROLE ${name} CONNECTION LIMIT ${role.connectionLimit}`);
  if (role.validUntil !== now?.validUntil)
    alter(`ALTER ROLE ${name} VALID UNTIL ${quoteLiteral(role.validUntil ?? 'infinity')}`);
  if (role.comment !== undefined && role.comment !== now?.comment)
    alter(`COMMENT ON ROLE ${name} IS ${quoteLiteral(role.comment)}`);
}

const attributes = [
  'LOGIN',
  'INHERIT',
  'CREATEDB',
  'CREATEROLE',
  'BYPASSRLS',
  'REPLICATION',
  'SUPERUSER',
] as const satisfies readonly RoleAttribute[];

/** They reach beyond the databases of the source. */
const reviewed: readonly RoleAttribute[] = ['SUPERUSER', 'REPLICATION'];

function word(is: boolean): string {
  return is ? 'TRUE' : 'FALSE';
}
