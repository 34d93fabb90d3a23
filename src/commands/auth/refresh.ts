import type { CommandSpec } from '../../cli/command.ts';
import type { Context } from '../../context.ts';
import { readAccount } from '../../session/account.ts';
import { sessionReport } from '../../session/session-report.ts';
import { sessionView } from './session-view.ts';

export const authRefreshCommand: CommandSpec<Context> = {
  description:
    'Exchanges the refresh token for a new pair. The old access token dies at once, also in other programs that hold it. Commands renew the session by themselves, so this is seldom needed.',
  examples: [{ text: 'Renew before a long night', command: 'cloudctl auth refresh' }],
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
