import { type CheckFinding, changeValues, type FixEffect, type RoleChange, type ValueChange } from '../finding.ts';
import { type QueryResults, queryValue } from '../query.ts';
import type { PostgresqlCheck } from './check.ts';
import { unreadableLargeObjectsQuery, unreadableObjectsQuery } from './queries/privileges.ts';
import { unusualRelationsQuery } from './queries/relations.ts';
import { type UnsafeIdentity, unsafeIdentitiesQuery } from './queries/replica-identities.ts';
import {
  type MigrationRole,
  migrationRoleQuery,
  type RoleSetting,
  roleSettingsQuery,
  superusersQuery,
  userRolesQuery,
} from './queries/roles.ts';
import {
  capacityQuery,
  restartError,
  type ServerSetting,
  settingsQuery,
  unappliedLinesQuery,
} from './queries/settings.ts';
import type { AnyPostgresqlQuery } from './query.ts';
import type { PostgresqlFacts } from './source-facts.ts';

/**
 * The query results as they would be after the statements of the fixes; the same map if nothing changes. A query result
 * that is not known remains not known.
 */
export function resultsAfterFixes(results: QueryResults, effects: readonly FixEffect[]): QueryResults {
  return changeValues(results, (change) => {
    // The effect of a restart is applied before ALTER SYSTEM: the restart activates pending values, and ALTER SYSTEM then
    // replaces them.
    if (effects.some(({ kind }) => kind === 'restart')) activatePending(results, change);
    const identities = new Map<string, string>();
    for (const effect of effects) {
      switch (effect.kind) {
        case 'setting':
          applySetting(effect, change);
          break;
        case 'role-setting':
          change(roleSettingsQuery, (all) => withRoleSetting(all, effect));
          break;
        case 'role':
          applyRoleChange(effect, queryValue(results, migrationRoleQuery)?.name, change);
          break;
        case 'replica-identity':
          identities.set(effect.table, effect.identity);
          break;
        case 'result':
          change(effect.query, effect.change);
          break;
        case 'restart':
        case 'acl':
          break;
        default:
          effect satisfies never;
      }
    }
    // Applies all replica identities in one pass, because a database can have a hundred thousand tables.
    if (identities.size > 0)
      change(unsafeIdentitiesQuery, (all) => all.map((table) => withIdentity(table, identities)));
  });
}

/**
 * The facts of the source besides query results, as they would be after the statements; the same object if nothing
 * changes.
 */
export function factsAfterFixes(facts: PostgresqlFacts, effects: readonly FixEffect[]): PostgresqlFacts {
  const { connection, replication } = facts;
  const roles = effects.filter((effect) => effect.kind === 'role');
  const becomesSuperuser = roles.some(({ superuser }) => superuser === true);
  const isSuperuser = becomesSuperuser || (connection.kind === 'entered' && connection.superuser);
  const mayReplicate = isSuperuser || roles.some(({ replication: granted }) => granted === true);
  const hasMoreSenders = effects.some((effect) => effect.kind === 'setting' && effect.name === 'max_wal_senders');
  const code = replication?.kind === 'refused' ? replication.code : undefined;
  const opens = mayReplicate && (code === '42501' || (code === '53300' && hasMoreSenders));
  const gains = becomesSuperuser && connection.kind === 'entered' && !connection.superuser;
  if (!gains && !opens) return facts;
  return {
    ...facts,
    ...(gains ? { connection: { ...connection, superuser: true } } : {}),
    ...(opens ? { replication: { kind: 'entered' } } : {}),
  };
}

function applySetting({ name, value }: { readonly name: string; readonly value: string }, change: ValueChange): void {
  change(settingsQuery, (settings) => new Map([...settings, [name, withValue(settingNamed(settings, name), value)]]));
  change(unappliedLinesQuery, (lines) => withoutLinesOf(lines, name));
  if (name === 'max_connections') change(capacityQuery, (all) => ({ ...all, max: Number(value) }));
}

function settingNamed(settings: Iterable<readonly [string, ServerSetting]>, name: string): ServerSetting | undefined {
  return [...settings].find(([one]) => one === name)?.[1];
}

/** If two fixes set one setting to different numbers, the fix script sets the larger one (fix-script.ts). */
function withValue(setting: ServerSetting | undefined, value: string): ServerSetting {
  const isLess = setting?.source === simulatedSource && Number(value) < Number(setting.value);
  return {
    unit: setting?.unit,
    context: setting?.context ?? 'postmaster',
    file: setting?.file,
    value: isLess ? setting.value : value,
    pendingRestart: false,
    source: simulatedSource,
  };
}

const simulatedSource = 'fix';

function withoutLinesOf<Line extends { readonly name: string }>(lines: readonly Line[], name: string): readonly Line[] {
  return lines.some((line) => line.name === name) ? lines.filter((line) => line.name !== name) : lines;
}

function activatePending(results: QueryResults, change: ValueChange): void {
  const lines = (queryValue(results, unappliedLinesQuery) ?? []).filter(({ error }) => error === restartError);
  for (const { name, value } of lines) {
    change(settingsQuery, (settings) => {
      const setting = settingNamed(settings, name);
      return setting === undefined
        ? settings
        : new Map([...settings, [name, { ...setting, value, pendingRestart: false }]]);
    });
    change(unappliedLinesQuery, (all) => withoutLinesOf(all, name));
  }
}

function withRoleSetting(
  all: readonly RoleSetting[],
  { role, database, name, value }: Pick<RoleSetting, 'name' | 'value'> & { role: string; database?: string },
): readonly RoleSetting[] {
  const isSame = (one: RoleSetting) =>
    one.role === role && one.database === database && one.name.toLowerCase() === name.toLowerCase();
  return [...all.filter((one) => !isSame(one)), { role, database, name, value }];
}

function applyRoleChange(changes: RoleChange, name: string | undefined, change: ValueChange): void {
  change(migrationRoleQuery, (role) => changedRole(role, changes));
  if (changes.superuser === true || changes.bypassRls === true) {
    change(unusualRelationsQuery, (relations) =>
      relations.secured.length === 0 ? relations : { ...relations, secured: [] },
    );
  }
  if (changes.superuser === true || changes.memberOf === 'pg_read_all_data') {
    change(unreadableObjectsQuery, () => unreadableObjectsQuery.absent);
  }
  if (changes.superuser !== true) return;
  change(unreadableLargeObjectsQuery, (all) => (all.length === 0 ? all : []));
  if (name === undefined) return;
  change(superusersQuery, (all) => (all.includes(name) ? all : [...all, name]));
  change(userRolesQuery, (all) => all.map((one) => (one.name === name ? { ...one, superuser: true } : one)));
}

function changedRole(role: MigrationRole, changes: RoleChange): MigrationRole {
  const { superuser, replication, bypassRls, inherits, unlimited, neverExpires, memberOf } = changes;
  return {
    ...role,
    superuser: superuser ?? role.superuser,
    replication: replication ?? role.replication,
    bypassRls: bypassRls ?? role.bypassRls,
    inherits: inherits ?? role.inherits,
    connectionLimit: unlimited === true ? -1 : role.connectionLimit,
    ...(neverExpires === true ? { secondsLeft: undefined, validUntil: 'infinity' } : {}),
    memberOf: memberOf === undefined || role.memberOf.includes(memberOf) ? role.memberOf : [...role.memberOf, memberOf],
  };
}

/**
 * For FULL and NOTHING, `keyed` tells whether the table has a primary key, which ALTER TABLE … REPLICA IDENTITY does
 * not change.
 */
function withIdentity(table: UnsafeIdentity, identities: ReadonlyMap<string, string>): UnsafeIdentity {
  const identity = identities.get(table.name);
  if (identity === undefined) return table;
  if (identity === 'FULL') return { ...table, identity: 'f' };
  if (identity === 'DEFAULT') return { ...table, identity: 'd', keyed: table.primaryUsable, generatedKey: false };
  return { ...table, identity: 'i', index: table.usableIndex, keyed: true, generatedKey: false };
}

/**
 * Selects the query results of one database that are needed to simulate fixes: the results of checks that a fix of this
 * database affects, and of checks with a finding that depends on the server or the role. The other results are
 * discarded: a check that passes in a database is not made worse by a fix for the whole server.
 */
export function resultsForEffects(
  checks: readonly PostgresqlCheck[],
  findings: readonly CheckFinding[],
  results: QueryResults,
): QueryResults {
  const after = resultsAfterFixes(
    results,
    findings.flatMap(({ fix }) => fix?.effects ?? []),
  );
  const problems = new Set(findings.filter(({ status }) => status !== 'pass' && status !== 'skip').map(({ id }) => id));
  const wanted = checks.filter(
    (check) =>
      check.scope === 'database' &&
      (isCheckChanged(check, results, after) ||
        (problems.has(check.id) && queriesOfCheck(check).some(dependsOnServer))),
  );
  const queries = new Set(wanted.flatMap(queriesOfCheck).filter(({ scope }) => scope === 'database'));
  return new Map([...results].filter(([query]) => queries.has(query as AnyPostgresqlQuery)));
}

/** Selects the results of the queries that the given checks use. */
export function resultsOfChecks(checks: readonly PostgresqlCheck[], results: QueryResults): QueryResults {
  const queries = new Set(checks.flatMap(queriesOfCheck));
  return new Map([...results].filter(([query]) => queries.has(query as AnyPostgresqlQuery)));
}

function dependsOnServer(query: AnyPostgresqlQuery): boolean {
  return query.scope === 'server' || roleDependent.includes(query);
}

const roleDependent: readonly AnyPostgresqlQuery[] = [
  unusualRelationsQuery,
  unreadableObjectsQuery,
  unreadableLargeObjectsQuery,
];

export function queriesOfCheck({ queries }: PostgresqlCheck): readonly AnyPostgresqlQuery[] {
  return Object.values<AnyPostgresqlQuery>(queries);
}

/** Whether the fixes change the result of a query of the check. */
export function isCheckChanged(check: PostgresqlCheck, before: QueryResults, after: QueryResults): boolean {
  return before !== after && queriesOfCheck(check).some((query) => before.get(query) !== after.get(query));
}
