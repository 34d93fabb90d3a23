import { type AccountDetails, fetchAccount } from '../api/account-details.ts';
import type { RefusedHints } from '../api/api-response.ts';
import { type ApiClient, type ApiRequest, createClient } from '../api/client.ts';
import {
  type CommandOfSessions,
  createSessions,
  readAccount,
  refusedHints,
  type Sessions,
  type StoredAccount,
} from '../auth/session/index.ts';
import { CliError, usageError } from '../base/errors.ts';
import { describeTeam, personalTeam } from '../base/identity.ts';
import { sanitizeLine } from '../base/sanitize.ts';
import { type Secret, withhold } from '../base/secret.ts';
import type { ProfileSettings } from '../config/settings.ts';

/** Calls `announce` before each request that may change something. */
export function announceWrites(client: ApiClient, announce: () => Promise<void>): ApiClient {
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
export async function accountNotice(
  settings: ProfileSettings,
  own: StoredAccount | undefined,
  api: ApiClient,
  hints: RefusedHints,
): Promise<string | undefined> {
  if (!settings.isProfileStored && own === undefined) return undefined;
  const account = await fetchAccount(api, hints).catch(unknownAccount);
  if (account === undefined) return undefined;
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

/**
 * An account that cannot be read must not prevent the command, whose own request reports why. Undefined if no server was
 * reached.
 */
function unknownAccount(error: unknown): AccountDetails | undefined {
  if (error instanceof CliError) return error.exitCode === 6 ? undefined : {};
  throw error;
}

/** An account file has the beginning of the UUID, or, after `auth login --with-token`, only names. */
function isSameAccount(account: AccountDetails, own: StoredAccount): boolean {
  if (own.hint === undefined)
    return account.email !== undefined && account.email === own.email && account.teamName === own.team_name;
  const isSameUser = account.accountUuid?.toLowerCase().startsWith(own.hint.toLowerCase()) === true;
  return isSameUser && account.team === (own.team_uuid ?? personalTeam);
}

/** What the services of a profile use of the command. */
export interface CommandParts extends CommandOfSessions {
  /** Time limit of one HTTP request, in milliseconds. */
  readonly timeout: number;
}

/** The services that use the credential store of a profile. Commands without these services do not load this module. */
export interface ProfileServices extends Sessions {
  readonly api: (settings: ProfileSettings) => Promise<ApiClient>;
}

/** Time limit of the request that reads the account of CLOUDCTL_ACCESS_TOKEN for a notice, in milliseconds. */
const accountLimitMs = 5_000;

export function createServices(command: CommandParts): ProfileServices {
  const { host, output, send, requireSafe } = command;
  const sessions = createSessions(command);
  /** One notice for all clients of this process. */
  let announced: Promise<void> | undefined;
  const api = async (settings: ProfileSettings): Promise<ApiClient> => {
    requireSafe();
    // One provider may run both servers, and each may repeat what the other has been sent.
    withhold(settings.clientSecret);
    const bearer = await sessions.session(settings);
    const loginHints = refusedHints(settings, host.folders.config);
    const parts = {
      baseOrigin: requireBaseUrl(settings),
      send: await send(),
      bearer: bearer.bearer,
      renew: (refused: Secret) => bearer.renew(refused),
      clock: host.clock,
      timeout: command.timeout,
      loginHints,
    };
    const client = createClient(parts);
    // With -o json, stderr is empty or has one error object.
    if (settings.accessToken === undefined || output.format === 'json') return client;
    const reader = createClient({ ...parts, timeout: Math.min(command.timeout, accountLimitMs) });
    const own = readAccount(host.folders.config, settings.profileName);
    return announceWrites(client, () => {
      announced ??= accountNotice(settings, own, reader, loginHints).then(async (notice) => {
        if (notice !== undefined) await output.note(notice);
      });
      return announced;
    });
  };
  return { ...sessions, api };
}

function requireBaseUrl(settings: ProfileSettings): string {
  const base = settings.values.base_url;
  if (base === undefined)
    throw usageError('base_url is missing', 'pass --base-url, set CLOUDCTL_BASE_URL, or run `cloudctl auth setup`');
  return base;
}
