import type { CommandSpec } from '../../cli/command.ts';
import { writeCurrentProfile } from '../../config/config-file.ts';
import { requireProfileExists } from '../../config/settings.ts';
import type { CommandContext } from '../../context.ts';

export const authSwitchCommand: CommandSpec<CommandContext> = {
  arguments: [
    {
      name: 'PROFILE',
      description: 'name of a profile (see `cloudctl auth list`)',
      required: true,
      completion: { from: 'profile' },
    },
  ],
  examples: [{ text: 'Use the sandbox', command: 'cloudctl auth switch sandbox' }],
  run: async (context, args) => {
    const [name = ''] = args.positionals;
    await context.changeConfig((config) => {
      requireProfileExists(config, name);
      writeCurrentProfile(context.host.folders.config, config, name);
    });
    await context.output.note(`The current profile is now ${name}.`);
    return 0;
  },
};
