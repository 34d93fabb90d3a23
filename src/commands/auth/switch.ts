import type { CommandSpec } from '../../cli/command.ts';
import { writeCurrentProfile } from '../../config/config-file.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';

export const authSwitchCommand: CommandSpec<Context> = {
  arguments: [
    { name: 'PROFILE', description: 'a profile of `cloudctl auth list`', required: true, completion: 'profile' },
  ],
  examples: [{ text: 'Work on the sandbox', command: 'cloudctl auth switch sandbox' }],
  run: async (context, words) => {
    const [name = ''] = words.positionals;
    await context.changeConfig((config) => {
      if (config.profiles.has(name)) return writeCurrentProfile(context.host.folders.config, config, name);
      const known = [...config.profiles.keys()].join(', ');
      throw new CliError('profile_unknown', `profile "${name}" is unknown`, {
        detail: known === '' ? 'there is no profile yet' : `known profiles: ${known}`,
        hint: known === '' ? `\`cloudctl auth setup --profile ${name}\`` : '`cloudctl auth list`',
      });
    });
    await context.output.note(`Profile ${name} is now the current one.`);
    return 0;
  },
};
