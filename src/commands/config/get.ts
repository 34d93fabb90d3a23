import { CliError, usageError } from '../../base/errors.ts';
import type { CommandSpec } from '../../cli/command.ts';
import { nearestWord } from '../../cli/values.ts';
import { formatSetting, isSettingKey, type SettingKey, settingSpecs } from '../../config/profile.ts';
import { requireNamedProfile } from '../../config/settings.ts';
import type { CommandContext } from '../../context.ts';

export const keyArgument = {
  name: 'KEY',
  description: Object.keys(settingSpecs).join(', '),
  required: true,
  choices: Object.keys(settingSpecs),
} as const;

export const configGet: CommandSpec<CommandContext> = {
  description:
    'Prints the value in use: an option takes precedence over an environment variable, and a variable over the profile. Exits with 1 if the setting has no value.',
  arguments: [keyArgument],
  examples: [{ text: 'Print the origin of the API', command: 'cloudctl config get base_url' }],
  run: async (context, args) => {
    const key = requireKey(args.positionals[0]);
    const settings = context.settings();
    requireNamedProfile(settings, context.config(), nearestWord);
    const value = settings.values[key];
    if (value === undefined) {
      throw new CliError('not_found', `${key} is not set for profile "${settings.profileName}"`, {
        hint: `\`cloudctl config set ${key} ${settingSpecs[key].example}\``,
      });
    }
    if (context.output.format !== 'table') await context.output.data(value);
    else await context.output.text(formatSetting(key, value, '\n'));
    return 0;
  },
};

export function requireKey(word: string | undefined): SettingKey {
  if (word !== undefined && isSettingKey(word)) return word;
  throw usageError(`unknown key "${word}"`, `use one of ${Object.keys(settingSpecs).join(', ')}`);
}
