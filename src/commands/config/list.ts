import type { ListView } from '../../cli/columns.ts';
import type { CommandSpec } from '../../cli/command.ts';
import { nearestWord } from '../../cli/values.ts';
import { formatSetting, isSettingKey, settingSpecs } from '../../config/profile.ts';
import { type ProfileSettings, profileSource, requireNamedProfile, variableValue } from '../../config/settings.ts';
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

export const configList: CommandSpec<CommandContext> = {
  description:
    'Lists every setting that has a value and its source: option, environment variable or profile. Of CLOUDCTL_ACCESS_TOKEN it says only that it is set. Secrets are not settings: the client secret and the session are in the credential store.',
  examples: [{ text: 'Show the settings in use and the source of each', command: 'cloudctl config list' }],
  columns: view.columns,
  fields: ['key', 'value', 'source'],
  run: async (context) => {
    const settings = context.settings();
    requireNamedProfile(settings, context.config(), nearestWord);
    const source = profileSource({
      env: context.host.env,
      config: context.config(),
      profile: context.globals.value('profile'),
    });
    const rows: SettingRow[] = [
      { key: 'profile', value: settings.profileName, source },
      ...accessTokenVariableRows(settings),
    ];
    for (const [key, value] of Object.entries(settings.values)) {
      if (!isSettingKey(key)) continue;
      rows.push({
        key,
        value: formatSetting(key, value),
        source: settingSource(context, key),
      });
    }
    await context.output.list(rows, view);
    return 0;
  },
};

function settingSource(context: CommandContext, key: keyof typeof settingSpecs): string {
  const option =
    key === 'auth_url' ? 'auth-url' : key === 'base_url' ? 'base-url' : key === 'output' ? 'output' : undefined;
  if (option !== undefined && context.globals.value(option) !== undefined) return `--${option}`;
  const { variable } = settingSpecs[key];
  return variable !== undefined && variableValue(context.host.env[variable]) !== undefined ? variable : 'profile';
}

/** The variable is not a setting, but it decides as which account commands act. */
function accessTokenVariableRows({ accessToken, isAccessTokenIgnored }: ProfileSettings): readonly SettingRow[] {
  const row = { key: 'access_token', source: 'CLOUDCTL_ACCESS_TOKEN' };
  if (isAccessTokenIgnored) return [{ ...row, value: 'set, not used with --profile' }];
  return accessToken === undefined ? [] : [{ ...row, value: 'set' }];
}
