import type { CommandSpec } from '../../../cli/command.ts';
import type { Context } from '../../../context.ts';

export const sandboxFaultsClearCommand: CommandSpec<Context> = {
  description: 'What is under way ends as its fault has it; from now on the sandbox behaves.',
  options: [
    { name: 'admin-url', valueName: 'URL', description: 'the sandbox to talk to, instead of the one started last' },
  ],
  examples: [{ text: 'Behave again', command: 'cloudctl sandbox faults clear' }],
  run: async (context, words) => {
    const admin = await context.sandbox(words.value('admin-url'));
    await admin.call('DELETE', '/faults');
    return 0;
  },
};
