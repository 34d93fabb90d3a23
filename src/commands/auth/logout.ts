import { isAccessTokenRefused } from '../../api/api-response.ts';
import { createApiClient } from '../../api/client.ts';
import type { OAuthClient } from '../../auth/oauth/index.ts';
import { removeLoggedInAccountFile } from '../../auth/session/account.ts';
import { requireOwnSession } from '../../auth/session/command.ts';
import type { CredentialRecord } from '../../auth/session/credential-record.ts';
import { findProfileServerBinding } from '../../auth/session/credential-record.ts';
import { performLogout as endSession, type LogoutOutcome } from '../../auth/session/logout.ts';
import type { TokenAcceptance } from '../../auth/session/send-access-token-probe.ts';
import { buildRefusedRequestHints } from '../../auth/session/session-server-binding.ts';
import { CliError, type ExitCode, usageError } from '../../base/errors.ts';
import type { CommandSpec } from '../../cli/command.ts';
import { removeCachedCompletionNames } from '../../config/cached-completion-names.ts';
import { type ResolvedProfileSettings, requireNamedProfileExists } from '../../config/settings.ts';
import type { CommandContext } from '../../context.ts';
import { warnOfAccessTokenVariable } from './environment-token.ts';

export const authLogoutCommand: CommandSpec<CommandContext> = {
  description:
    'Deletes the stored session, revokes its access token at the authorization server and checks that the resource API refuses it. If the server cannot be reached, the session is deleted nevertheless and the exit code is 6.',
  options: [
    { name: 'all', description: 'log out of every profile' },
    { name: 'local', description: 'delete the session without revoking the token' },
  ],
  examples: [
    { text: 'Log out of the current profile', command: 'cloudctl auth logout' },
    { text: 'End the sessions of every profile', command: 'cloudctl auth logout --all' },
  ],
  run: warnOfAccessTokenVariable(async (context, args) => {
    const current = context.sessionSettings();
    if (args.has('all') && context.globals.value('profile') !== undefined)
      throw usageError('cannot use --all with --profile', 'remove one of the two options');
    if (args.has('all')) await logoutAllProfiles(context, current, args.has('local'));
    else await logoutCurrentProfile(context, current, args.has('local'));
    return 0 satisfies ExitCode;
  }),
};

async function logoutCurrentProfile(
  context: CommandContext,
  settings: ResolvedProfileSettings,
  local: boolean,
): Promise<void> {
  requireOwnSession(settings);
  const outcome = await logoutProfile(context, settings, local);
  if (outcome.kind === 'unproven') throw outcome.error;
  // A missing profile without a session is probably a typing error; a session whose profile was removed can still be ended.
  if (outcome.kind === 'nothing' && findProfileServerBinding(settings) === undefined)
    requireNamedProfileExists(settings, context.config());
  await context.output.note(logoutText(outcome, settings.profileName));
}

/**
 * Logs out of every profile in config.json, and of a profile that is defined only by environment variables. An error in one
 * profile does not prevent the logout of the others.
 */
async function logoutAllProfiles(
  context: CommandContext,
  current: ResolvedProfileSettings,
  local: boolean,
): Promise<void> {
  let first: CliError | undefined;
  for (const name of new Set([...context.config().profiles.keys(), current.profileName])) {
    const settings = name === current.profileName ? current : context.storedSettings(name);
    const outcome = await logoutProfile(context, settings, local).catch(unprovenOutcome);
    if (outcome.kind === 'unproven') {
      await context.output.warn(`profile ${name}: ${outcome.error.message}`);
      first ??= outcome.error;
    } else await context.output.note(logoutText(outcome, name));
  }
  if (first !== undefined) throw first;
}

function unprovenOutcome(thrown: unknown): LogoutOutcome {
  if (thrown instanceof CliError) return { kind: 'unproven', error: thrown };
  throw thrown;
}

export async function logoutProfile(
  context: CommandContext,
  settings: ResolvedProfileSettings,
  local: boolean,
): Promise<LogoutOutcome> {
  const store = await context.store(settings);
  const { profileName } = settings;
  removeCachedCompletionNames(context.host.folders.state, profileName);
  return endSession(
    {
      store,
      createSender: () => context.send({ fresh: true }),
      lock: () => context.lock(context.profilePaths(profileName).lock),
      client: (record) => revocationClient(context, settings, record),
      requireSafe: context.requireSafe,
      removeAccount: () => removeLoggedInAccountFile(context.host.folders.config, profileName),
      probe: (record) => probeTokenAcceptance(context, record),
    },
    local,
  );
}

/**
 * The OAuth client at the server that issued the session, which may differ from the server of the profile. The revocation
 * request in query form sends no client credentials.
 */
async function revocationClient(
  context: CommandContext,
  settings: ResolvedProfileSettings,
  record: CredentialRecord,
): Promise<OAuthClient> {
  if ((settings.values.token_params ?? 'query') !== 'query') return context.client(settings, record);
  return { authOrigin: record.authOrigin, clientId: record.clientId, tokenParams: 'query' };
}

async function probeTokenAcceptance(context: CommandContext, record: CredentialRecord): Promise<TokenAcceptance> {
  const path = '/v2/actions?page=1&per_page=1';
  const api = createApiClient({
    baseOrigin: record.baseOrigin,
    send: await context.send(),
    bearer: async () => record.accessToken,
    renew: async () => Promise.reject(new CliError('token_refused', 'refused')),
    clock: context.host.clock,
    timeout: context.timeout,
    loginHints: buildRefusedRequestHints(context.sessionSettings(), context.host.folders.config),
  });
  try {
    const answer = await api.request({ method: 'GET', path });
    if (answer.status >= 200 && answer.status < 300) return 'accepted';
    /**
     * Some servers respond to a revoked token with 403. Every scope may read this path, so 403 means that the token is
     * refused.
     */
    return answer.status === 403 || isAccessTokenRefused(answer, path) ? 'refused' : 'unknown';
  } catch (error) {
    if (error instanceof CliError && error.code === 'token_refused') return 'refused';
    throw error;
  }
}

export function logoutText(outcome: Exclude<LogoutOutcome, { kind: 'unproven' }>, profile: string): string {
  switch (outcome.kind) {
    case 'nothing':
      return `Profile ${profile} was not logged in.`;
    case 'local':
      return `Profile ${profile}: the session was deleted from this machine; its token was not revoked.`;
    case 'revoked':
      return `Profile ${profile} is logged out; the access token is revoked.`;
    default:
      return outcome satisfies never;
  }
}
