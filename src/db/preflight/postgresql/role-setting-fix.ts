import { quoteIdentifier, quoteLiteral } from '../../../postgresql/quote.ts';
import type { FindingFix } from '../finding.ts';
import type { EffectiveRoleSetting } from './effective-role-settings.ts';
import type { MigrationRole } from './queries/migration-role.ts';

export function describeEffectiveRoleSetting({ database, value, set }: EffectiveRoleSetting): string {
  if (set === undefined) return `${database}: ${value} (server)`;
  const source = [set.role, set.database === undefined ? undefined : `database ${set.database}`]
    .filter(Boolean)
    .join(', ');
  return `${database}: ${value} (${source === '' ? 'all roles' : source})`;
}

/**
 * ALTER ROLE overrides settings of the database and the server; a value that ALTER ROLE … IN DATABASE set must be
 * changed with the same statement.
 */
export function buildSetRoleSettingFix(
  name: string,
  value: string,
  found: readonly EffectiveRoleSetting[],
  role: MigrationRole,
): FindingFix {
  const who = `ALTER ROLE ${quoteIdentifier(role.name)}`;
  const pairs = found.flatMap(({ set }) =>
    set?.role !== undefined && set.database !== undefined
      ? [{ where: ` IN DATABASE ${quoteIdentifier(set.database)}`, database: set.database, set }]
      : [],
  );
  const wide = found.find(({ set }) => set === undefined || set.role === undefined || set.database === undefined);
  const changes = [
    ...(wide === undefined
      ? []
      : [{ where: '', database: undefined, set: wide.set?.role === undefined ? undefined : wide.set }]),
    ...pairs,
  ];
  return {
    sql: changes.map(({ where }) => `${who}${where} SET ${name} = ${quoteLiteral(value)}`),
    undo: changes.map(({ where, set }) =>
      set === undefined ? `${who}${where} RESET ${name}` : `${who}${where} SET ${name} = ${quoteLiteral(set.value)}`,
    ),
    effects: changes.map(({ database }) => ({
      kind: 'role-setting',
      role: role.name,
      ...(database === undefined ? {} : { database }),
      name,
      value,
    })),
    by: 'the role itself, or a superuser',
    text: `Set ${name} to ${value} for the role. The setting applies to new sessions without a restart.`,
  };
}

export function combineRoleSettingFixes(fixes: readonly FindingFix[], text: string): FindingFix {
  return {
    sql: fixes.flatMap(({ sql }) => sql ?? []),
    undo: fixes.flatMap(({ undo }) => undo ?? []),
    effects: fixes.flatMap(({ effects }) => effects ?? []),
    by: 'the role itself, or a superuser',
    text,
  };
}
