import type { ListView } from '../../cli/columns.ts';
import type { CommandSpec } from '../../cli/command.ts';
import { formatProfileSetting, isProfileSettingKey, profileSettingSpecs } from '../../config/profile.ts';
import { normalizeEnvironmentVariableValue, requireNamedProfileExists } from '../../config/settings.ts';
import type { CommandContext } from '../../context.ts';

interface SettingRow {
  readonly key: string;
  readonly value: string;
  readonly source: string;
}

const view: ListView<SettingRow> = {
  columns: [
    { name: 'Key', value: (row) => row.key },
    { name: 'Value', value: (row) => row.value },
    { name: 'Source', value: (row) => row.source },
  ],
};

export const configListCommand: CommandSpec<CommandContext> = {
  description:
    'Lists every setting that has a value and its source: option, environment variable or profile. Secrets are not settings: the client secret and the session are in the credential store.',
  examples: [{ text: 'Show the settings in use and the source of each', command: 'cloudctl config list' }],
  columns: view.columns,
  run: async (context) => {
    const settings = context.settings();
    requireNamedProfileExists(settings, context.config());
    const rows: SettingRow[] = [
      { key: 'profile', value: settings.profileName, source: profileSource(context, settings.isProfileNamed) },
    ];
    for (const [key, value] of Object.entries(settings.values)) {
      if (!isProfileSettingKey(key)) continue;
      rows.push({
        key,
        value: formatProfileSetting(key, value),
        source: settingSource(context, key),
      });
    }
    await context.output.list(rows, view);
    return 0;
  },
};

function settingSource(context: CommandContext, key: keyof typeof profileSettingSpecs): string {
  const option =
    key === 'auth_url' ? 'auth-url' : key === 'base_url' ? 'base-url' : key === 'output' ? 'output' : undefined;
  if (option !== undefined && context.globals.value(option) !== undefined) return `--${option}`;
  const { variable } = profileSettingSpecs[key];
  return variable !== undefined && normalizeEnvironmentVariableValue(context.host.env[variable]) !== undefined
    ? variable
    : 'profile';
}

function profileSource(context: CommandContext, named: boolean): string {
  if (context.globals.value('profile') !== undefined) return '--profile';
  if (normalizeEnvironmentVariableValue(context.host.env.CLOUDCTL_PROFILE) !== undefined) return 'CLOUDCTL_PROFILE';
  return named ? 'current' : 'default';
}
