import { loginFields, loginReport, loginView, readAccount, requireOwnSession } from '../../auth/session/index.ts';
import type { CommandSpec } from '../../cli/command.ts';
import type { CommandContext } from '../../context.ts';
import { warnOfToken } from './environment-token.ts';

export const authRefresh: CommandSpec<CommandContext> = {
  description:
    'Exchanges the refresh token for new tokens. The old access token becomes invalid at once, in other programs too. Commands refresh the session by themselves, so this is rarely needed.',
  examples: [{ text: 'Refresh the session before a long job', command: 'cloudctl auth refresh' }],
  fields: loginFields,
  run: warnOfToken(async (context) => {
    const settings = context.sessionSettings();
    requireOwnSession(settings);
    const record = await (await context.session(settings)).forceRefresh();
    const account = readAccount(context.host.folders.config, settings.profileName);
    await context.output.object(
      loginReport(settings.profileName, record, account, (await context.store(settings)).kind),
      loginView,
    );
    return 0;
  }),
};
