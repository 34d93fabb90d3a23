import type { CommandSpec } from '../../cli/command.ts';
import type { Context } from '../../context.ts';

export const authTokenCommand: CommandSpec<Context> = {
  description:
    'Prints the access token and a newline on standard output, refreshed first when it has expired or is about to. This is the only command that prints a token of yours.',
  examples: [
    {
      text: 'Call the API with another tool',
      command: 'curl -H "Authorization: Bearer $(cloudctl auth token)" "$(cloudctl config get base_url)/v2/droplets"',
    },
  ],
  run: async (context) => {
    const { host, output } = context;
    const accessToken = await context.session(context.settings()).bearer();
    if (host.stdout.isTTY) await output.warn('this is a live access token: whoever sees it can act for you');
    await output.text(accessToken.reveal());
    return 0;
  },
};
