import type { CommandSpec } from '../../cli/command.ts';
import type { Context } from '../../context.ts';
import { readAccount } from '../../session/account.ts';
import { sessionReport } from '../../session/session-report.ts';
import { sessionView } from './session-view.ts';

export const authRefreshCommand: CommandSpec<Context> = {
  description:
    'Exchanges the refresh token for new tokens. The old access token becomes invalid at once, in other programs too. Commands refresh the session by themselves, so this is rarely needed.',
  examples: [{ text: 'Refresh the session before a long job', command: 'cloudctl auth refresh' }],
  run: async (context) => {
    const settings = context.settings();
    const record = await context.session(settings).forceRefresh();
    const account = readAccount(context.host.folders.config, settings.profileName);
    await context.output.object(
      sessionReport(settings.profileName, record, account, context.store(settings).kind),
      sessionView,
    );
    return 0;
  },
};
