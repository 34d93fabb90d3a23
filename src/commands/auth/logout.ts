import { createApi } from '../../api/client.ts';
import { isTokenRefused } from '../../api/problem.ts';
import type { CommandSpec } from '../../cli/command.ts';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { CliError, type ExitCode, usage } from '../../errors.ts';
import type { Client } from '../../oauth/token-endpoint.ts';
import { removeAccount } from '../../session/account.ts';
import { loginCommand } from '../../session/current.ts';
import { logout as endSession, type LogoutOutcome } from '../../session/logout.ts';
import type { CredentialRecord } from '../../session/record.ts';

export const logout: CommandSpec<Context> = {
  summary: 'revoke the session and delete it',
  description:
    'Deletes the stored session, revokes its access token at the authorization server and proves that the resource API refuses it. When the server cannot be reached the session is deleted all the same, and exit 6 tells.',
  options: [
    { name: 'all', description: 'every profile' },
    { name: 'local', description: 'delete only; tell the server nothing' },
  ],
  examples: [
    { text: 'Log out of the current profile', command: 'cloudctl auth logout' },
    { text: 'Leave nothing on this machine', command: 'cloudctl auth logout --all' },
  ],
  run: async (context, words) => {
    const current = context.settings();
    if (words.flag('all') && context.globals.text('profile') !== undefined)
      throw usage('cannot use --all with --profile', 'leave one of them out');
    const profiles = words.flag('all') ? [...context.config().profiles.keys()].map(context.storedSettings) : [current];
    let worst: CliError | undefined;
    for (const settings of profiles) {
      const outcome = await endOne(context, settings, words.flag('local'));
      if (outcome.kind !== 'unproven') await context.output.note(wordsOf(outcome, settings.profileName));
      else if (profiles.length > 1)
        await context.output.warn(`profile ${settings.profileName}: ${outcome.error.message}`);
      if (outcome.kind === 'unproven') worst ??= outcome.error;
    }
    if (worst !== undefined) throw worst;
    return 0 satisfies ExitCode;
  },
};

async function endOne(context: Context, settings: Settings, local: boolean): Promise<LogoutOutcome> {
  const store = context.store(settings);
  const { profileName } = settings;
  return endSession(
    {
      store,
      send: () => context.send({ fresh: true }),
      lock: () => context.lock(context.place(profileName).lock),
      client: (record) => clientOf(context, settings, record),
      requireSafe: context.requireSafe,
      removeAccount: () => removeAccount(context.host.folders.config, profileName),
      isRefused: (record) => isRefused(context, record, profileName),
    },
    local,
  );
}

/** The server that issued the session is told, wherever the profile points now; only a form wants the client's credentials. */
async function clientOf(context: Context, settings: Settings, record: CredentialRecord): Promise<Client> {
  if (settings.values.token_params === 'body') return context.client(settings, record);
  return { authOrigin: record.authOrigin, clientId: record.clientId, tokenParams: 'query' };
}

async function isRefused(context: Context, record: CredentialRecord, profile: string): Promise<boolean> {
  const path = '/v2/actions?page=1&per_page=1';
  const api = createApi({
    baseOrigin: record.baseOrigin,
    send: await context.send(),
    bearer: async () => record.accessToken,
    renew: async () => Promise.reject(new CliError('token_refused', 'refused')),
    clock: context.host.clock,
    timeout: context.timeout,
    login: loginCommand(profile),
  });
  try {
    return isTokenRefused(await api.request({ method: 'GET', path }), path);
  } catch (error) {
    if (error instanceof CliError && error.code === 'token_refused') return true;
    throw error;
  }
}

function wordsOf(outcome: Exclude<LogoutOutcome, { kind: 'unproven' }>, profile: string): string {
  switch (outcome.kind) {
    case 'nothing':
      return `Profile ${profile} was not logged in.`;
    case 'local':
      return `Profile ${profile}: the session was deleted here; the server was not told.`;
    case 'revoked':
      return `Profile ${profile} is logged out: the access token was revoked and is refused.`;
    default:
      return outcome satisfies never;
  }
}
