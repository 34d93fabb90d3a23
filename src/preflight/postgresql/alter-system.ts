import { quoteLiteral } from '../../postgresql/quote.ts';
import type { Fix } from '../finding.ts';
import { type ServerSetting, type ServerSettings, type SettingName, settingNamesIn } from './queries/settings.ts';

/**
 * Sets server-wide settings and tells how the observed values come back. ALTER SYSTEM cannot run inside a transaction block,
 * and managed services do not allow it: there the cure is in the service's own words.
 */
export function alterSystemFix(
  settings: ServerSettings,
  wanted: Readonly<Partial<Record<SettingName, string>>>,
  why = '',
): Fix {
  const names = settingNamesIn(wanted);
  const restart = names.some((name) => (settings.get(name)?.context ?? 'postmaster') === 'postmaster');
  const service = managedServiceOf(settings);
  const after = restart ? { restart } : { reload: true };
  const listed = names.map((name) => `${name} = ${quoteLiteral(wanted[name]!)}`).join(', ');
  const reason = why === '' ? '' : ` ${why}`;
  if (service !== undefined) {
    return { ...after, by: 'who administers the instance', text: `${managedServiceFix[service](wanted)}${reason}` };
  }
  if (settings.get('allow_alter_system')?.value === 'off') {
    return {
      ...after,
      by: 'who administers the server',
      shell: [
        '# ALTER SYSTEM is not allowed (allow_alter_system = off): in the configuration of the server (SHOW config_file):',
        ...names.map((name) => `${name} = ${quoteLiteral(wanted[name]!)}`),
      ],
      undoShell: [
        '# in the configuration of the server (SHOW config_file), as it was:',
        ...names.map((name) => `${name} = ${quoteLiteral(settings.get(name)?.value ?? '')}`),
      ],
      text: `ALTER SYSTEM is not allowed here (allow_alter_system = off): set ${listed} where the configuration is kept, then ${restart ? 'restart the server' : 'load it again: SELECT pg_reload_conf()'}.${reason}`,
    };
  }
  const fixed = names.filter((name) => fixedSources.has(settings.get(name)?.source ?? ''));
  const free = names.filter((name) => !fixed.includes(name));
  return {
    ...(free.length === 0
      ? {}
      : {
          sql: free.map((name) => `ALTER SYSTEM SET ${name} = ${quoteLiteral(wanted[name]!)}`),
          undo: free.map((name) => undoStatement(name, settings.get(name))),
        }),
    ...after,
    text:
      fixed.length === 0
        ? `Set ${listed}, then ${restart ? 'restart the server' : 'load the configuration again: SELECT pg_reload_conf()'}.${reason}`
        : `${fixed.join(', ')} ${fixed.length === 1 ? 'is' : 'are'} set on the command line of the server, which wins over every file: change it there (${listed}), then restart.${reason}`,
  };
}

/** Where `ALTER SYSTEM` changes nothing. */
const fixedSources = new Set(['command line', 'environment variable']);

/** A value that ALTER SYSTEM had set is set again; anything else comes back when the line is taken away. */
function undoStatement(name: string, setting: ServerSetting | undefined): string {
  const isAltered = setting?.file?.endsWith('postgresql.auto.conf') === true;
  const isHidden = setting?.source === 'configuration file' && setting.file === undefined;
  if (setting === undefined || !(isAltered || isHidden)) return `ALTER SYSTEM RESET ${name}`;
  return `ALTER SYSTEM SET ${name} = ${quoteLiteral(setting.value)}`;
}

export type ManagedService = 'rds' | 'cloudsql' | 'azure';

/** Settings that only one service has give it away. */
export function managedServiceOf(settings: ServerSettings): ManagedService | undefined {
  if (settings.has('rds.logical_replication') || settings.has('rds.extensions')) return 'rds';
  if (settings.has('cloudsql.logical_decoding')) return 'cloudsql';
  return settings.has('azure.extensions') ? 'azure' : undefined;
}

const managedServiceFix: Readonly<Record<ManagedService, (wanted: Readonly<Record<string, string>>) => string>> = {
  rds: (wanted) =>
    `In the DB parameter group of the instance set ${settingPairs(wanted, { wal_level: ['rds.logical_replication', '1'] }, ' = ')}, then reboot the instance.`,
  cloudsql: (wanted) =>
    `Add the database flag ${settingPairs(wanted, { wal_level: ['cloudsql.logical_decoding', 'on'] }, '=')} to the instance (gcloud sql instances patch INSTANCE --database-flags=…, with every flag it already has, since the list is replaced); the instance restarts.`,
  azure: (wanted) =>
    Object.entries(wanted)
      .map(
        ([name, value]) =>
          `Set the server parameter: az postgres flexible-server parameter set --resource-group GROUP --server-name SERVER --name ${name} --value ${quoteLiteral(value)}`,
      )
      .join('; ')
      .concat(', then restart the server when the portal asks for it.'),
};

function settingPairs(
  wanted: Readonly<Record<string, string>>,
  own: Readonly<Record<string, readonly [string, string]>>,
  between: string,
): string {
  return Object.entries(wanted)
    .map(([name, value]) => (own[name] ?? [name, value]).join(between))
    .join(', ');
}
