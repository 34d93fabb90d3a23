import type { CommandSpec } from '../../cli/command.ts';
import type { CommandContext } from '../../context.ts';

export const authTokenCommand: CommandSpec<CommandContext> = {
  description:
    'Prints the access token and a newline on standard output, refreshed first if it has expired or is about to expire. No other command prints a token of your account.',
  options: [
    {
      name: 'cached',
      description:
        'with a shared credential store, print the valid token that this machine knows without reading the store',
    },
  ],
  examples: [
    {
      text: 'Call the API with another tool',
      command: 'curl -H "Authorization: Bearer $(cloudctl auth token)" "$(cloudctl config get base_url)/v2/droplets"',
    },
  ],
  run: async (context, args) => {
    const { host, output } = context;
    const settings = context.settings();
    // The caller of this command cannot refresh the token after a 401, so the newest session is read from the store first.
    if (settings.accessToken === undefined && !args.has('cached'))
      await (await context.store(settings)).synchronize?.();
    const accessToken = await (await context.session(settings)).bearer();
    if (host.stdout.isTTY) await output.warn('this access token is valid: anyone who has it can act on your account');
    await output.text(accessToken.reveal());
    return 0;
  },
};
