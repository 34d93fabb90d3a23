import { CliError, usageError } from '../../base/errors.ts';
import type { CommandSpec } from '../../cli/command.ts';
import { nearestWord } from '../../cli/values.ts';
import {
  formatProfileSetting,
  isProfileSettingKey,
  type ProfileSettingKey,
  profileSettingSpecs,
} from '../../config/profile.ts';
import { requireNamedProfileExists } from '../../config/settings.ts';
import type { CommandContext } from '../../context.ts';

export const profileSettingKeyArgument = {
  name: 'KEY',
  description: Object.keys(profileSettingSpecs).join(', '),
  required: true,
  choices: Object.keys(profileSettingSpecs),
} as const;

export const configGetCommand: CommandSpec<CommandContext> = {
  description:
    'Prints the value in use: an option takes precedence over an environment variable, and a variable over the profile. Exits with 1 if the setting has no value.',
  arguments: [profileSettingKeyArgument],
  examples: [{ text: 'Print the origin of the API', command: 'cloudctl config get base_url' }],
  run: async (context, args) => {
    const key = requireProfileSettingKey(args.positionals[0]);
    const settings = context.settings();
    requireNamedProfileExists(settings, context.config(), nearestWord);
    const value = settings.values[key];
    if (value === undefined) {
      throw new CliError('not_found', `${key} is not set for profile "${settings.profileName}"`, {
        hint: `\`cloudctl config set ${key} ${profileSettingSpecs[key].example}\``,
      });
    }
    if (context.output.format !== 'table') await context.output.data(value);
    else await context.output.text(formatProfileSetting(key, value, '\n'));
    return 0;
  },
};

export function requireProfileSettingKey(word: string | undefined): ProfileSettingKey {
  if (word !== undefined && isProfileSettingKey(word)) return word;
  throw usageError(`unknown key "${word}"`, `use one of ${Object.keys(profileSettingSpecs).join(', ')}`);
}
