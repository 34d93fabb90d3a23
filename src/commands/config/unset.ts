import type { CommandSpec } from '../../cli/command.ts';
import { writeProfile } from '../../config/file.ts';
import { requireProfile } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { keyArgument, requireKey } from './get.ts';

export const unset: CommandSpec<Context> = {
  summary: 'remove one value of the profile',
  arguments: [keyArgument],
  examples: [{ text: 'Back to the keychain', command: 'cloudctl config unset credential_store' }],
  run: async (context, words) => {
    const key = requireKey(words.args[0]);
    const settings = context.settings();
    requireProfile(settings, context.config());
    const name = settings.profileName;
    await context.changeConfig((config) => {
      const { [key]: _removed, ...rest } = config.profiles.get(name) ?? {};
      writeProfile(context.host.folders.config, config, name, rest);
    });
    await context.output.note(`${key} is no longer set for profile ${name}.`);
    return 0;
  },
};
