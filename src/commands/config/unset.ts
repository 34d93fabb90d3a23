import type { CommandSpec } from '../../cli/command.ts';
import { nearestWord } from '../../cli/values.ts';
import { writeProfile } from '../../config/config-file.ts';
import { forgetNames } from '../../config/known-names.ts';
import { requireNamedProfile } from '../../config/settings.ts';
import type { CommandContext } from '../../context.ts';
import { keyArgument, requireKey } from './get.ts';
import { warnOfVariable } from './set.ts';

export const configUnset: CommandSpec<CommandContext> = {
  arguments: [keyArgument],
  examples: [{ text: 'Store sessions in the keychain again', command: 'cloudctl config unset credential_store' }],
  run: async (context, args) => {
    const key = requireKey(args.positionals[0]);
    const settings = context.settings();
    requireNamedProfile(settings, context.config(), nearestWord);
    const name = settings.profileName;
    await context.changeConfig((config) => {
      const { [key]: _removed, ...rest } = config.profiles.get(name) ?? {};
      writeProfile(context.host.folders.config, config, name, rest);
    });
    // The cached names belong to the account of the earlier token.
    if (key === 'token_command') forgetNames(context.host.folders.state, name);
    await context.output.note(`${key} is no longer set for profile ${name}.`);
    await warnOfVariable(context, key);
    return 0;
  },
};
