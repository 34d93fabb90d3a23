import { countOf, formatDuration } from '../../../base/text.ts';
import { quoteIdentifier, quoteLiteral } from '../../../postgresql/quote.ts';
import { type FindingFix, type FixEffect, instanceAdministrator } from '../finding.ts';
import type { RoleSessions } from './queries/activity.ts';
import type { ReplicationSlot } from './queries/replication.ts';
import type { MigrationRole, RoleSetting } from './queries/roles.ts';
import { type ServerSetting, type ServerSettings, type SettingName, settingKeys } from './queries/settings.ts';
import { type PostgresqlFacts, sourceVersionNumber } from './source-facts.ts';

/** Parses the sizes and durations of settings, and formats sizes for them. */

const bytesPerUnit: Readonly<Record<string, number>> = { B: 1, kB: 1024, MB: 1024 ** 2, GB: 1024 ** 3, TB: 1024 ** 4 };
const millisecondsPerUnit: Readonly<Record<string, number>> = {
  us: 0.001,
  ms: 1,
  s: 1000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/**
 * The bytes of a value such as `64MB`, or of a bare number counted in `unit` (`8kB`); undefined if the value is not a
 * size.
 */
export function parseSize(value: string, unit: string | undefined): number | undefined {
  return parseQuantity(value, unit, bytesPerUnit);
}

/**
 * The milliseconds of a value such as `5min`, or of a bare number counted in `unit`; undefined if the value is not a
 * duration.
 */
export function parseDuration(value: string, unit: string | undefined): number | undefined {
  return parseQuantity(value, unit, millisecondsPerUnit);
}

/**
 * Formats a value so that PostgreSQL accepts it: a whole number in the largest unit that keeps at least two digits:
 * `300 MB` is `300MB`.
 */
export function formatSize(bytes: number): string {
  const megabytes = Math.ceil(bytes / 1024 ** 2);
  return megabytes >= 10 * 1024 ? `${Math.ceil(megabytes / 1024)}GB` : `${megabytes}MB`;
}

function parseQuantity(
  value: string,
  unit: string | undefined,
  table: Readonly<Record<string, number>>,
): number | undefined {
  const parts = /^\s*([-+]?[\d.]+)\s*([A-Za-z]*)\s*$/.exec(value);
  if (parts === null) return undefined;
  const number = Number(parts[1]);
  const counted = /^(\d*)([A-Za-z]+)$/.exec(parts[2] === '' ? (unit ?? '') : parts[2]!);
  if (counted === null) return Number.isFinite(number) ? number : undefined;
  const factor = table[counted[2]!];
  return factor === undefined || !Number.isFinite(number) ? undefined : number * Number(counted[1] || 1) * factor;
}

export function sizeSetting(settings: ServerSettings, name: SettingName): number {
  const found = settings.get(name);
  return found === undefined ? 0 : (parseSize(found.value, found.unit) ?? 0);
}

/**
 * The fix that changes server-wide settings with ALTER SYSTEM, and the undo that restores the observed values. ALTER
 * SYSTEM cannot run inside a transaction block. Managed services do not allow it; for them the fix describes how the
 * service changes settings.
 */
export function alterSystemFix(
  settings: ServerSettings,
  values: Readonly<Partial<Record<SettingName, string>>>,
  why = '',
): FindingFix {
  const names = settingKeys(values);
  const restart = names.some((name) => (settings.get(name)?.context ?? 'postmaster') === 'postmaster');
  const service = detectManagedService(settings);
  const after = restart ? { restart } : { reload: true };
  const effectOf = (name: SettingName): FixEffect => ({
    kind: 'setting',
    name,
    value: values[name]!,
  });
  const listed = names.map((name) => `${name} = ${quoteLiteral(values[name]!)}`).join(', ');
  const advice = names.some((name) => standbySettings.has(name)) ? standbysFirst : '';
  const reason = [why, advice]
    .filter((one) => one !== '')
    .map((one) => ` ${one}`)
    .join('');
  if (service !== undefined) {
    const step = managedServiceFix[service](values);
    const observed = names.map((name) => `${name} = ${quoteLiteral(settings.get(name)?.value ?? '')}`).join(', ');
    return {
      ...after,
      effects: names.map(effectOf),
      by: instanceAdministrator,
      shell: [`# ${step}`],
      undoShell: [`# In the settings of the managed service, restore the values that were observed: ${observed}.`],
      text: `${step}${reason}`,
    };
  }
  if (settings.get('allow_alter_system')?.value === 'off') {
    return {
      ...after,
      by: 'the server administrator',
      effects: names.map(effectOf),
      shell: [
        '# ALTER SYSTEM is not allowed (allow_alter_system = off): set in the configuration file (SHOW config_file):',
        ...names.map((name) => `${name} = ${quoteLiteral(values[name]!)}`),
      ],
      undoShell: [
        '# in the configuration file (SHOW config_file), restore:',
        ...names.map((name) => `${name} = ${quoteLiteral(settings.get(name)?.value ?? '')}`),
      ],
      text: `ALTER SYSTEM is not allowed on this server (allow_alter_system = off): set ${listed} in the configuration file, then ${restart ? 'restart the server' : 'reload it: SELECT pg_catalog.pg_reload_conf()'}.${reason}`,
    };
  }
  const fixed = names.filter((name) => overridingPlaces.has(settings.get(name)?.source ?? ''));
  const free = names.filter((name) => !fixed.includes(name));
  const isStarted = fixed.some((name) => /^(command line|environment)/.test(settings.get(name)?.source ?? ''));
  return {
    ...(free.length === 0
      ? {}
      : {
          sql: free.map((name) => `ALTER SYSTEM SET ${name} = ${quoteLiteral(values[name]!)}`),
          undo: free.map((name) => undoStatement(name, settings.get(name))),
          effects: free.map(effectOf),
        }),
    ...(isStarted ? { restart: true } : free.length === 0 ? {} : after),
    text:
      fixed.length === 0
        ? `Set ${listed}, then ${restart ? 'restart the server' : 'reload the configuration: SELECT pg_catalog.pg_reload_conf()'}.${reason}`
        : `${describeOverridingPlaces(fixed, settings)}: change it there (${listed})${restart || isStarted ? ', then restart the server' : ''}.${reason}`,
  };
}

/**
 * A hot standby with a lower value of the setting than its primary stops replaying WAL, or shuts down ("Hot Standby" in
 * the PostgreSQL manual).
 */
const standbySettings: ReadonlySet<SettingName> = new Set([
  'max_connections',
  'max_locks_per_transaction',
  'max_prepared_transactions',
  'max_wal_senders',
  'max_worker_processes',
]);

const standbysFirst =
  'If the server has physical standbys, raise the setting on the standbys first: otherwise they stop replaying WAL.';

/** Places whose settings ALTER SYSTEM does not override, by their names in pg_settings.source. */
const overridingPlaces: ReadonlyMap<string, string> = new Map([
  ['command line', 'on the command line of the server, which overrides every file'],
  ['environment variable', 'on the command line of the server, which overrides every file'],
  ['database', 'with ALTER DATABASE, which overrides the value of the server'],
  ['user', 'with ALTER ROLE, which overrides the value of the server'],
  ['database user', 'with ALTER ROLE … IN DATABASE, which overrides the value of the server'],
]);

function describeOverridingPlaces(names: readonly SettingName[], settings: ServerSettings): string {
  const [first] = names;
  const place = first === undefined ? undefined : overridingPlaces.get(settings.get(first)?.source ?? '');
  return `${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} set ${place ?? 'elsewhere'}`;
}

/**
 * The undo sets a value again that ALTER SYSTEM had set; every other value returns when its line is removed from
 * postgresql.auto.conf.
 */
function undoStatement(name: string, setting: ServerSetting | undefined): string {
  const isAltered = setting?.file?.endsWith('postgresql.auto.conf') === true;
  const isHidden = setting?.source === 'configuration file' && setting.file === undefined;
  if (setting === undefined || !(isAltered || isHidden)) return `ALTER SYSTEM RESET ${name}`;
  return `ALTER SYSTEM SET ${name} = ${quoteLiteral(setting.value)}`;
}

type ManagedService = 'rds' | 'cloudsql' | 'azure';

/** The managed service that runs the server, recognized by settings and roles that only this service has. */
export function detectManagedService(settings: ServerSettings): ManagedService | undefined {
  const has = (...names: readonly SettingName[]) => names.some((name) => settings.has(name));
  if (has('rds.logical_replication', 'rds.extensions', 'rds_superuser')) return 'rds';
  if (has('cloudsql.logical_decoding', 'cloudsqlsuperuser')) return 'cloudsql';
  return has('azure.extensions', 'azure_pg_admin') ? 'azure' : undefined;
}

const managedServiceFix: Readonly<Record<ManagedService, (values: Readonly<Record<string, string>>) => string>> = {
  rds: (values) =>
    `In the DB parameter group of the instance set ${settingPairs(values, { wal_level: ['rds.logical_replication', '1'] }, ' = ')}, then reboot the instance.`,
  cloudsql: (values) =>
    `Add the database flag ${settingPairs(values, { wal_level: ['cloudsql.logical_decoding', 'on'] }, '=')} to the instance (gcloud sql instances patch INSTANCE --database-flags=…, including all existing flags, because the list is replaced); the instance restarts.`,
  azure: (values) =>
    Object.entries(values)
      .map(
        ([name, value]) =>
          `Set the server parameter: az postgres flexible-server parameter set --resource-group GROUP --server-name SERVER --name ${name} --value ${quoteLiteral(value)}`,
      )
      .join('; ')
      .concat(', then restart the server if the portal requires it.'),
};

function settingPairs(
  values: Readonly<Record<string, string>>,
  own: Readonly<Record<string, readonly [string, string]>>,
  between: string,
): string {
  return Object.entries(values)
    .map(([name, value]) => (own[name] ?? [name, value]).join(between))
    .join(', ');
}

/** The sessions that a restart would end, as text for a fix that needs a restart. */
export function describeRestart(groups: readonly RoleSessions[]): string {
  const sessions = groups.reduce((sum, group) => sum + group.sessions, 0);
  if (sessions === 0) return 'A restart would end no session: there are no other connections now.';
  const who = groups.slice(0, 5).map(({ user, sessions: theirs }) => `${user} ${theirs}`);
  const rest = groups.length > 5 ? `, ${groups.length - 5} more roles` : '';
  const longest = Math.max(0, ...groups.map(({ seconds }) => seconds ?? 0));
  const running = longest === 0 ? '' : `; the longest transaction has run for ${formatDuration(longest * 1000)}`;
  return `A restart would end ${countOf(sessions, 'session')} (${who.join(', ')}${rest})${running}.`;
}

/** The value that a setting has in a new session of the role in one database. */
interface EffectiveRoleSetting {
  readonly database: string;
  /** The value of the setting as it was stored: `5min`, or a bare number in the unit of the setting. */
  readonly value: string;
  /** The ALTER ROLE or ALTER DATABASE setting that the value comes from; undefined if it is the value of the server. */
  readonly set: RoleSetting | undefined;
}

/**
 * The value of a setting in new sessions of the role, for each database. ALTER ROLE … IN DATABASE overrides ALTER ROLE,
 * which overrides ALTER DATABASE, which overrides ALTER ROLE ALL, which overrides the configuration of the server.
 * @param defaultValue the built-in default, used where a setting of our own session hides the server's value
 */
export function effectiveSettings(
  name: SettingName,
  settings: ServerSettings,
  roleSettings: readonly RoleSetting[],
  { dbname, databases }: Pick<PostgresqlFacts, 'dbname' | 'databases'>,
  defaultValue = '0',
): readonly EffectiveRoleSetting[] {
  const own = settings.get(name);
  if (own === undefined) return [];
  const winner = (database: string) => storedSetting(name, roleSettings, database);
  // A value set by ALTER ROLE or ALTER DATABASE for the session of this program hides the value of the server.
  const server = winner(dbname) === undefined ? own.value : defaultValue;
  return databases.map((database) => {
    const set = winner(database);
    return { database, value: set?.value ?? server, set };
  });
}

export interface SourceSetting {
  readonly name: SettingName;
  readonly value: string;
}

/**
 * Settings that change the results of functions, and whose value in the database is not the one that a target has. If a
 * setting of this role hides the value of the server, the server is assumed to have the usual one; so is the server's
 * standard_conforming_strings, which the sessions of this program set.
 */
export function listSettingsOfSource(
  database: string,
  settings: ServerSettings,
  roleSettings: readonly RoleSetting[],
  facts: PostgresqlFacts,
): readonly SourceSetting[] {
  const hasLongFloats = sourceVersionNumber(facts) >= 120_000;
  return usualValues.flatMap(([name, usual]) => {
    const stored = storedSetting(name, roleSettings, database);
    const isHidden = storedSetting(name, roleSettings, facts.dbname) !== undefined;
    const value = stored?.value ?? (isHidden ? undefined : settings.get(name)?.value);
    const isUsual = value === undefined || usual.test(value);
    return isUsual || (name === 'extra_float_digits' && value === '0' && !hasLongFloats) ? [] : [{ name, value }];
  });
}

const english = /^(?:C|POSIX|en_US)\b/i;
const on = /^(?:on|true|yes|1|t)$/i;
const off = /^(?:off|false|no|0|f)$/i;

/** The values that a server has after `initdb` in English, and that a target is assumed to have. */
const usualValues: readonly (readonly [SettingName, RegExp])[] = [
  ['DateStyle', /^(?:ISO(, *MDY)?|MDY, *ISO)$/i],
  ['IntervalStyle', /^postgres$/i],
  ['TimeZone', /^(?:Etc\/)?(?:UTC|UCT|GMT|Universal|Zulu|Greenwich|GMT[+-]?0)$/i],
  ['array_nulls', on],
  ['bytea_output', /^hex$/i],
  ['default_text_search_config', /^(?:"?pg_catalog"?\.)?"?english"?$/],
  // All positive values mean the shortest text that is read as the same number.
  ['extra_float_digits', /^[1-3]$/],
  ['lc_monetary', english],
  ['lc_numeric', english],
  ['lc_time', english],
  ['plpgsql.check_asserts', on],
  ['plpgsql.variable_conflict', /^error$/i],
  ['quote_all_identifiers', off],
  ['standard_conforming_strings', on],
  ['timezone_abbreviations', /^default$/i],
  ['transform_null_equals', off],
  ['xmlbinary', /^base64$/i],
  ['xmloption', /^content$/i],
];

/**
 * The roles that ALTER ROLE … SET role and ALTER DATABASE … SET role store for new sessions of the role, for each
 * database that has such a value.
 */
export function storedRoles(
  roleSettings: readonly RoleSetting[],
  { databases }: Pick<PostgresqlFacts, 'databases'>,
): readonly EffectiveRoleSetting[] {
  return databases.flatMap((database) => {
    const set = storedSetting('role', roleSettings, database);
    return set === undefined ? [] : [{ database, value: set.value, set }];
  });
}

function storedSetting(name: string, roleSettings: readonly RoleSetting[], database: string): RoleSetting | undefined {
  return roleSettings
    .filter((setting) => setting.name.toLowerCase() === name.toLowerCase())
    .filter((setting) => setting.database === undefined || setting.database === database)
    .toSorted((a, b) => rank(b) - rank(a))[0];
}

function rank({ role, database }: RoleSetting): number {
  return (role === undefined ? 0 : 2) + (database === undefined ? 0 : 1);
}

export function describeSetting({ database, value, set }: EffectiveRoleSetting): string {
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
export function roleSettingFix(
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

export function combineFixes(fixes: readonly FindingFix[], text: string): FindingFix {
  return {
    sql: fixes.flatMap(({ sql }) => sql ?? []),
    undo: fixes.flatMap(({ undo }) => undo ?? []),
    effects: fixes.flatMap(({ effects }) => effects ?? []),
    by: 'the role itself, or a superuser',
    text,
  };
}

/** The number of replication slots, and of WAL senders, that a migration of this many databases uses; `sum` shows the calculation. */
export function slotDemand(databases: number): {
  readonly needed: number;
  readonly full: number;
  readonly sum: string;
} {
  const needed = databases + 1;
  const full = 3 * databases + 2;
  return {
    needed,
    full,
    sum: `${countOf(databases, 'database')} + 1 for initial copies = ${needed} needed; 3x${databases}+2 = ${full} for full speed`,
  };
}

export function raiseSlotsFix(
  settings: ServerSettings,
  used: readonly ReplicationSlot[],
  databases: number,
  least: number,
) {
  const wanted = Math.max(used.length + slotDemand(databases).full, least);
  const idle = used.filter(({ active }) => !active).length;
  const spare =
    idle === 0 ? '' : `${countOf(idle, 'slot in use is', 'slots in use are')} inactive: drop unused slots instead.`;
  return alterSystemFix(settings, { max_replication_slots: String(wanted) }, spare);
}
