import type { CommandSpec } from '../../../cli/command.ts';
import { adminUrlOption } from '../../../config/sandboxes.ts';
import type { CommandContext } from '../../../context.ts';

export const faultsClear: CommandSpec<CommandContext> = {
  description: 'Requests in progress still have their fault; later requests have none.',
  options: [adminUrlOption],
  examples: [{ text: 'Remove every fault', command: 'cloudctl sandbox faults clear' }],
  run: async (context, args) => {
    const admin = await context.sandbox(args.value('admin-url'));
    await admin.call('DELETE', '/faults');
    return 0;
  },
};
