import { isSameScope } from '../auth/oauth/index.ts';
import { type LoggedInAccount, readLoggedInAccountFile } from '../auth/session/account.ts';
import type { CredentialRecord } from '../auth/session/credential-record.ts';
import { performLogin } from '../auth/session/login.ts';
import { browserObstacle, openBrowserAndPrintLoginInstructions } from '../auth/session/login-instructions.ts';
import type { OAuthLoginOptions } from '../auth/session/oauth-login-options.ts';
import { loadStoredSession } from '../auth/session/stored-session.ts';
import { buildAuthorizationAccountPrefix } from '../auth/session/suggested-commands.ts';
import { describeTeam } from '../base/identity.ts';
import { detectBrowserEnvironment } from '../platform/browser-environment.ts';
import { createLoginDeps } from './login-deps.ts';
import type { Reauthenticate } from './stored-session-token-provider.ts';

/** Time limit of a login through the browser without user input, in milliseconds. */
const loginLimitMs = 120_000;

/**
 * Logs in again with `prompt=none` (docs/service.md S4.9): if the user is still signed in, the browser returns a new grant without
 * showing a page. The user is asked for confirmation before the new login. Returns false if the user declines or the account is
 * not known.
 */
export const reauthenticate: Reauthenticate = async (parts, settings, binding) => {
  const { host, output, prompts, store } = parts;
  const { profileName, values } = settings;
  const stored = await loadStoredSession(store, binding);
  const record = stored.kind === 'found' ? stored.record : undefined;
  const request = silentRequest(
    record,
    readLoggedInAccountFile(host.folders.config, profileName),
    values.pkce !== false,
  );
  const client = await parts.client(settings, binding);
  const isPublic = client.tokenParams === 'query' && client.clientSecret === undefined;
  if (request === undefined || isPublic || (values.callback_urls ?? []).length === 0) return false;
  const message = `The session of profile "${profileName}" has ended. Log in again?`;
  if (!(await prompts.confirm({ message, default: true }))) return false;
  const runtimeEnvironment = detectBrowserEnvironment(host.env, host.platform);
  const obstacle = browserObstacle(runtimeEnvironment, true, host.env.BROWSER);
  await performLogin(
    {
      ...createLoginDeps(parts, { settings, binding, client, request, profileFlow: values.flow }),
      // Only a server that follows docs/service.md supports `prompt=none`.
      isSpecServer: () => true,
      onOtherScope: 'refuse',
      canContinue: true,
      showInstructions: async (addresses, { isContinued }) => {
        await openBrowserAndPrintLoginInstructions(host, addresses, {
          profile: settings.profile,
          runtimeEnvironment,
          obstacle,
          canOpen: obstacle === undefined,
          isContinued,
          listening: true,
          pasting: false,
          limit: '2m',
        });
      },
      pastedLines: () => noPastedLines(),
      reportRejectedPaste: async () => undefined,
      report: async ({ account }) =>
        output.note(
          `Logged in again as ${account.email ?? account.name ?? 'the same account'}, ${account.team_name === undefined ? describeTeam(record?.team) : `team ${account.team_name}`}.`,
        ),
    },
    request,
  );
  return true;
};

/**
 * The request for a login with the same account and scope; undefined for the implicit flow, which has neither `prompt` nor an
 * account.
 */
function silentRequest(
  record: CredentialRecord | undefined,
  account: LoggedInAccount | undefined,
  pkce: boolean,
): OAuthLoginOptions | undefined {
  const hint = buildAuthorizationAccountPrefix(record?.accountUuid ?? account?.hint);
  const scope = record?.scope ?? account?.scope;
  if (hint === undefined || scope === undefined || record?.isGivenToken === true) return undefined;
  if (account?.flow === 'implicit' || account?.flow === 'token') return undefined;
  return {
    flow: 'code',
    scope: isSameScope(scope, 'read') ? undefined : scope,
    prompt: 'none',
    accountHint: hint,
    accountUuid: record?.accountUuid,
    team: record?.team ?? account?.team_uuid,
    pkce,
    listen: true,
    limit: loginLimitMs,
  };
}

async function* noPastedLines(): AsyncGenerator<string> {}
