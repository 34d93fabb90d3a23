import type { CommandSpec } from '../../cli/command.ts';
import { isProfileKey, type ProfileKey, profileKeys } from '../../config/profile.ts';
import { requireKnownProfile } from '../../config/settings.ts';
import type { CommandContext } from '../../context.ts';
import { CliError, usageError } from '../../errors.ts';

export const profileKeyArgument = {
  name: 'KEY',
  description: Object.keys(profileKeys).join(', '),
  required: true,
  choices: Object.keys(profileKeys),
} as const;

export const configGetCommand: CommandSpec<CommandContext> = {
  description:
    'Prints the value in use: an option takes precedence over an environment variable, and a variable over the profile. Exits with 1 if the setting has no value.',
  arguments: [profileKeyArgument],
  examples: [{ text: 'Print the origin of the API', command: 'cloudctl config get base_url' }],
  run: async (context, args) => {
    const key = requireProfileKey(args.positionals[0]);
    const settings = context.settings();
    requireKnownProfile(settings, context.config());
    const value = settings.values[key];
    if (value === undefined) {
      throw new CliError('not_found', `${key} is not set for profile "${settings.profileName}"`, {
        hint: `\`cloudctl config set ${key} ${profileKeys[key].example}\``,
      });
    }
    if (context.output.format !== 'table') await context.output.data(value);
    else await context.output.text(Array.isArray(value) ? value.join('\n') : String(value));
    return 0;
  },
};

export function requireProfileKey(word: string | undefined): ProfileKey {
  if (word !== undefined && isProfileKey(word)) return word;
  throw usageError(`unknown key "${word}"`, `use one of ${Object.keys(profileKeys).join(', ')}`);
}
