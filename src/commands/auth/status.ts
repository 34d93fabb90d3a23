import { printTokenCommand, printVariable, requireStatus, statusFields, statusView } from '../../auth/session/index.ts';
import { exitCodes } from '../../base/errors.ts';
import type { CommandSpec } from '../../cli/command.ts';
import type { CommandContext } from '../../context.ts';

export const authStatus: CommandSpec<CommandContext> = {
  description:
    'Prints the stored session without its tokens. Exits with 4 if the profile is not logged in or the session has ended. An expired session with a refresh token is valid: the next command refreshes it. With CLOUDCTL_ACCESS_TOKEN, the command reads the account of that token from the resource API; with `token_command`, only `--check` runs the program and reads the account.',
  options: [
    {
      name: 'check',
      description: 'send a request to the resource API, refreshing the session first if necessary',
    },
  ],
  examples: [
    { text: 'Show the account', command: 'cloudctl auth status' },
    { text: 'Show the account with the alias whoami', command: 'cloudctl auth whoami' },
    {
      text: 'Test in a script whether the session is valid',
      command: 'cloudctl auth status --check --quiet >/dev/null',
    },
  ],
  columns: statusView.columns,
  fields: statusFields,
  run: async (context, args) => {
    const settings = context.settings();
    if (settings.accessToken !== undefined) {
      await printVariable(context, settings);
      return 0;
    }
    if (settings.values.token_command !== undefined) {
      await printTokenCommand(context, settings, args.has('check'));
      return 0;
    }
    if (args.has('check'))
      await (await context.api(settings)).json({ method: 'GET', path: '/v2/actions?page=1&per_page=1' });
    const { store, stored, report, login } = await requireStatus(context, settings);
    const { state } = report;
    await context.output.object(report, statusView);
    if (stored.pending)
      await context.output.note(
        `The last refresh is in the encrypted journal of the state folder, not yet in the ${store.name}; later commands use the tokens of this refresh.`,
      );
    if (state === 'in_doubt')
      await context.output.note(
        'The last refresh was interrupted; the server may have processed it. The next command checks whether it did.',
      );
    if (report.flow === 'token' && state !== 'needs_login')
      await context.output.note(
        'The access token was given to `auth login --with-token`: it cannot be renewed, and its lifetime is not known. `--check` asks the server.',
      );
    if (state !== 'needs_login') return 0;
    await context.output.note(`The session has ended. Log in with ${login}.`);
    return exitCodes.needs_login;
  },
};
