import type { CommandSpec } from '../../cli/command.ts';
import { writeCurrentProfile } from '../../config/config-file.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';

export const authSwitchCommand: CommandSpec<Context> = {
  arguments: [
    {
      name: 'PROFILE',
      description: 'name of a profile (see `cloudctl auth list`)',
      required: true,
      completion: 'profile',
    },
  ],
  examples: [{ text: 'Use the sandbox', command: 'cloudctl auth switch sandbox' }],
  run: async (context, args) => {
    const [name = ''] = args.positionals;
    await context.changeConfig((config) => {
      if (config.profiles.has(name)) return writeCurrentProfile(context.host.folders.config, config, name);
      const known = [...config.profiles.keys()].join(', ');
      throw new CliError('profile_unknown', `unknown profile "${name}"`, {
        detail: known === '' ? 'config.json has no profile' : `known profiles: ${known}`,
        hint:
          known === ''
            ? `create it: \`cloudctl auth setup --profile ${name}\``
            : 'list the profiles: `cloudctl auth list`',
      });
    });
    await context.output.note(`The current profile is now ${name}.`);
    return 0;
  },
};
