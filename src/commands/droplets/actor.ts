import { refusedHints, reloginCommand } from '../../auth/session/index.ts';
import {
  describeCurrentAccount,
  readAccountAndServerOriginsIfAvailable,
  readCurrentAccountAndServerOrigins,
} from '../../context/current-identity.ts';
import type { CommandContext } from '../../context.ts';
import type { Actor } from '../../droplets/index.ts';
import { formatProfileAndServerOptions } from '../profile-options.ts';

/** Who the commands of droplets act as. */
export function actorOf(context: CommandContext): Actor {
  const { settings } = context;
  return {
    settings,
    api: () => context.api(settings()),
    identity: (waits) => readCurrentAccountAndServerOrigins(context, settings(), waits),
    identityIfAvailable: (waits) => readAccountAndServerOriginsIfAvailable(context, settings(), waits),
    describe: (identity) => describeCurrentAccount(context, settings(), identity),
    loginHints: () => refusedHints(settings(), context.host.folders.config),
    loginHint({ account, team }) {
      const { accessToken, profile, values } = settings();
      if (accessToken !== undefined)
        return 'set CLOUDCTL_ACCESS_TOKEN to a token of the account that started the batch';
      if (values.token_command !== undefined)
        return 'let token_command print a token of the account that started the batch';
      const ended = {
        scope: 'read write',
        ...(account === undefined ? {} : { accountUuid: account }),
        ...(team === undefined ? {} : { team }),
      };
      return `log in as the account that started the batch: ${reloginCommand(profile, ended, [])}`;
    },
    profileOptions: () => formatProfileAndServerOptions(context.globals, settings().profile),
  };
}
