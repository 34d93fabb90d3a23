import type { CommandSpec } from '../../cli/command.ts';
import { adminUrlOption } from '../../config/sandboxes.ts';
import type { CommandContext } from '../../context.ts';

export const sandboxReset: CommandSpec<CommandContext> = {
  description:
    'Resets tokens, sign-ins, droplets, the clock and the request log, and removes every fault. URLs, ids and secrets stay the same.',
  options: [adminUrlOption],
  examples: [{ text: 'Reset between two tests', command: 'cloudctl sandbox reset' }],
  run: async (context, args) => {
    const admin = await context.sandbox(args.value('admin-url'));
    await admin.call('POST', '/reset');
    await context.output.note('The sandbox was reset.');
    return 0;
  },
};
