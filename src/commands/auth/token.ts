import { usageError } from '../../base/errors.ts';
import type { CommandSpec } from '../../cli/command.ts';
import type { CommandContext } from '../../context.ts';

export const authToken: CommandSpec<CommandContext> = {
  description:
    'Prints the access token and a newline on standard output, refreshed first if it has expired or is about to expire. No other command prints a token of your account.',
  examples: [
    {
      text: 'Call the API with another tool',
      command: 'curl -H "Authorization: Bearer $(cloudctl auth token)" "$(cloudctl config get base_url)/v2/droplets"',
    },
  ],
  run: async (context) => {
    const { host, output, globals } = context;
    const option = ['format', 'json', 'query'].find((name) => globals.has(name));
    if (option !== undefined)
      throw usageError(
        `cannot use --${option} with \`auth token\`, which prints the token alone`,
        `remove \`--${option}\``,
      );
    const accessToken = await (await context.session(context.settings())).bearer();
    if (host.stdout.isTTY) await output.warn('this access token is valid: anyone who has it can act on your account');
    await output.secret(accessToken.reveal());
    return 0;
  },
};
