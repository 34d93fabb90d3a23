import { quoteLiteral } from '../../../postgresql/quote.ts';
import type { FindingFix } from '../finding.ts';
import { managedInstanceAdministrator } from '../finding.ts';
import type { PreflightFixEffect } from '../fix-effect.ts';
import {
  getKeysNamingPostgresqlSettings,
  type PostgresqlServerSetting,
  type PostgresqlServerSettings,
  type PostgresqlSettingName,
} from './queries/settings.ts';

/**
 * The fix that changes server-wide settings with ALTER SYSTEM, and the undo that restores the observed values. ALTER
 * SYSTEM cannot run inside a transaction block. Managed services do not allow it; for them the fix describes how the
 * service changes settings.
 */
export function alterSystemFix(
  settings: PostgresqlServerSettings,
  values: Readonly<Partial<Record<PostgresqlSettingName, string>>>,
  why = '',
): FindingFix {
  const names = getKeysNamingPostgresqlSettings(values);
  const restart = names.some((name) => (settings.get(name)?.context ?? 'postmaster') === 'postmaster');
  const service = detectManagedPostgresqlService(settings);
  const after = restart ? { restart } : { reload: true };
  const effectOf = (name: PostgresqlSettingName): PreflightFixEffect => ({
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
      by: managedInstanceAdministrator,
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
      text: `ALTER SYSTEM is not allowed on this server (allow_alter_system = off): set ${listed} in the configuration file, then ${restart ? 'restart the server' : 'reload it: SELECT pg_reload_conf()'}.${reason}`,
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
        ? `Set ${listed}, then ${restart ? 'restart the server' : 'reload the configuration: SELECT pg_reload_conf()'}.${reason}`
        : `${describeOverridingPlaces(fixed, settings)}: change it there (${listed})${restart || isStarted ? ', then restart the server' : ''}.${reason}`,
  };
}

/**
 * A hot standby with a lower value of the setting than its primary stops replaying WAL, or shuts down ("Hot Standby" in
 * the PostgreSQL manual).
 */
const standbySettings: ReadonlySet<PostgresqlSettingName> = new Set([
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

function describeOverridingPlaces(names: readonly PostgresqlSettingName[], settings: PostgresqlServerSettings): string {
  const [first] = names;
  const place = first === undefined ? undefined : overridingPlaces.get(settings.get(first)?.source ?? '');
  return `${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} set ${place ?? 'elsewhere'}`;
}

/**
 * The undo sets a value again that ALTER SYSTEM had set; every other value returns when its line is removed from
 * postgresql.auto.conf.
 */
function undoStatement(name: string, setting: PostgresqlServerSetting | undefined): string {
  const isAltered = setting?.file?.endsWith('postgresql.auto.conf') === true;
  const isHidden = setting?.source === 'configuration file' && setting.file === undefined;
  if (setting === undefined || !(isAltered || isHidden)) return `ALTER SYSTEM RESET ${name}`;
  return `ALTER SYSTEM SET ${name} = ${quoteLiteral(setting.value)}`;
}

type ManagedPostgresqlService = 'rds' | 'cloudsql' | 'azure';

/** The managed service that runs the server, recognized by settings and roles that only this service has. */
export function detectManagedPostgresqlService(
  settings: PostgresqlServerSettings,
): ManagedPostgresqlService | undefined {
  const has = (...names: readonly PostgresqlSettingName[]) => names.some((name) => settings.has(name));
  if (has('rds.logical_replication', 'rds.extensions', 'rds_superuser')) return 'rds';
  if (has('cloudsql.logical_decoding', 'cloudsqlsuperuser')) return 'cloudsql';
  return has('azure.extensions', 'azure_pg_admin') ? 'azure' : undefined;
}

const managedServiceFix: Readonly<
  Record<ManagedPostgresqlService, (values: Readonly<Record<string, string>>) => string>
> = {
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
