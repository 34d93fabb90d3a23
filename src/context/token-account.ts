import { type AccountDetails, fetchAccountDetails } from '../api/account-details.ts';
import type { RefusedRequestHints } from '../api/api-response.ts';
import type { ApiClient, ApiRequest } from '../api/client.ts';
import type { StoredAccount } from '../auth/session/index.ts';
import { CliError } from '../base/errors.ts';
import { describeTeam, personalTeamValue } from '../base/identity.ts';
import { sanitizeLine } from '../base/sanitize.ts';
import type { ResolvedProfileSettings } from '../config/settings.ts';

/** Calls `announce` before each request that may change something. */
export function announceBeforeWrites(client: ApiClient, announce: () => Promise<void>): ApiClient {
  const before =
    <T>(send: (call: ApiRequest) => Promise<T>) =>
    async (call: ApiRequest): Promise<T> => {
      if (call.method !== 'GET' && call.method !== 'HEAD') await announce();
      return send(call);
    };
  return {
    baseOrigin: client.baseOrigin,
    request: before(client.request),
    success: before(client.success),
    json: before(client.json),
  };
}

/**
 * The notice that CLOUDCTL_ACCESS_TOKEN acts as another account than the profile, whose account file is `own`; undefined if it is
 * the same account, or if there is no profile with which the user could confuse it.
 */
export async function describeTokenAccount(
  settings: ResolvedProfileSettings,
  own: StoredAccount | undefined,
  api: ApiClient,
  hints: RefusedRequestHints,
): Promise<string | undefined> {
  if (!settings.isProfileStored && own === undefined) return undefined;
  const account = await fetchAccountDetails(api, hints).catch(unknownAccount);
  const isSameServer = settings.storedBaseUrl === undefined || settings.storedBaseUrl === settings.values.base_url;
  if (isSameServer && own !== undefined && isSameAccount(account, own)) return undefined;
  const { name, email, accountUuid, team, teamName } = account;
  const where = isSameServer ? '' : ` at ${settings.values.base_url}`;
  const rest = `with the token of CLOUDCTL_ACCESS_TOKEN${where}, not as profile ${settings.profileName}`;
  const who = email ?? name ?? accountUuid;
  if (who === undefined) return `Acts ${rest}; the server does not name the account of the token.`;
  const context = teamName === undefined ? describeTeam(team) : `team ${teamName}`;
  return `Acts as ${sanitizeLine(who)}, ${sanitizeLine(context)}, ${rest}.`;
}

/** An account that cannot be read must not prevent the command, whose own request reports why. */
function unknownAccount(error: unknown): AccountDetails {
  if (error instanceof CliError) return {};
  throw error;
}

/** An account file has the beginning of the UUID, or, after `auth login --with-token`, only names. */
function isSameAccount(account: AccountDetails, own: StoredAccount): boolean {
  if (own.hint === undefined)
    return account.email !== undefined && account.email === own.email && account.teamName === own.team_name;
  const isSameUser = account.accountUuid?.toLowerCase().startsWith(own.hint.toLowerCase()) === true;
  return isSameUser && account.team === (own.team_uuid ?? personalTeamValue);
}
