import type { CommandSpec } from '../../cli/command.ts';
import type { Context } from '../../context.ts';

export const sandboxResetCommand: CommandSpec<Context> = {
  description:
    'Tokens, sign-ins, droplets, clock and request log are as they were at the start, and no fault is left; addresses, ids and secrets stay.',
  options: [
    { name: 'admin-url', valueName: 'URL', description: 'the sandbox to talk to, instead of the one started last' },
  ],
  examples: [{ text: 'Between two tests', command: 'cloudctl sandbox reset' }],
  run: async (context, words) => {
    const admin = await context.sandbox(words.value('admin-url'));
    await admin.call('POST', '/reset');
    await context.output.note('The sandbox is as it was at its start.');
    return 0;
  },
};
