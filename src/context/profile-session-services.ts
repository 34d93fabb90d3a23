import { type ApiClient, createApiClient } from '../api/client.ts';
import type { OAuthClient } from '../auth/oauth/index.ts';
import { readLoggedInAccountFile } from '../auth/session/account.ts';
import { readStoredClientSecret } from '../auth/session/client-secret.ts';
import { type CommandSession, openCommandSession } from '../auth/session/command.ts';
import type { SessionServerBinding } from '../auth/session/credential-record.ts';
import type { CredentialStore } from '../auth/session/credential-store.ts';
import type { ProfileAccessTokenProvider } from '../auth/session/profile-access-token-provider.ts';
import type { ProfilePaths } from '../auth/session/profile-paths.ts';
import {
  buildRefusedRequestHints,
  createFixedTokenSession,
  requireProfileServerBinding,
} from '../auth/session/session-server-binding.ts';
import { usageError } from '../base/errors.ts';
import { type Secret, withhold } from '../base/secret.ts';
import type { ConfigFile } from '../config/config-file.ts';
import { accessTokenSource, type ResolvedProfileSettings } from '../config/settings.ts';
import type { HostSystem, OutputSink } from '../platform/host.ts';
import { createProfileCredentialStore } from './profile-store.ts';
import {
  createStoredSessionTokenProvider,
  type StoredSessionTokenProviderDeps,
} from './stored-session-token-provider.ts';
import { announceBeforeWrites, describeTokenAccount } from './token-account.ts';

/** The parts of the command context that the services of a profile use. */
export interface ProfileSessionServicesDeps extends Omit<StoredSessionTokenProviderDeps, 'place' | 'store' | 'client'> {
  readonly host: HostSystem;
  readonly prompts: StoredSessionTokenProviderDeps['prompts'];
  readonly stderr: Pick<OutputSink, 'write'>;
  readonly config: () => ConfigFile;
  readonly profilePaths: (profile: string) => ProfilePaths;
  /** Time limit of one HTTP request, in milliseconds. */
  readonly timeout: number;
}

/** The services that use the credential store of a profile. Commands without these services do not load this module. */
export interface ProfileSessionServices {
  readonly store: (settings: ResolvedProfileSettings, limit?: number) => Promise<CredentialStore>;
  readonly session: (settings: ResolvedProfileSettings) => Promise<ProfileAccessTokenProvider>;
  /** The session of a profile with `token_command`: one for each profile, so that its program runs once in this process. */
  readonly commandSession: (settings: ResolvedProfileSettings, limit?: number) => Promise<CommandSession>;
  readonly api: (settings: ResolvedProfileSettings) => Promise<ApiClient>;
  readonly client: (settings: ResolvedProfileSettings, binding: SessionServerBinding) => Promise<OAuthClient>;
}

/** Time limit of the request that reads the account of CLOUDCTL_ACCESS_TOKEN for a notice, in milliseconds. */
const accountLimitMs = 5_000;

export function createProfileSessionServices(deps: ProfileSessionServicesDeps): ProfileSessionServices {
  const { host, output, prompts, stderr, send, lock, requireSafe, config } = deps;
  let isNoted = false;
  const noteIgnoredToken = async ({ isAccessTokenIgnored, profileName }: ResolvedProfileSettings): Promise<void> => {
    if (!isAccessTokenIgnored || isNoted) return;
    isNoted = true;
    // With -o json, stderr is empty or has one error object.
    if (output.format !== 'json')
      await output.note(`CLOUDCTL_ACCESS_TOKEN is not used, because \`--profile ${profileName}\` names a profile.`);
  };
  const store = async (settings: ResolvedProfileSettings, limit?: number): Promise<CredentialStore> => {
    await noteIgnoredToken(settings);
    return createProfileCredentialStore(
      { host, place: deps.profilePaths(settings.profileName), prompts, stderr },
      settings,
      limit,
    );
  };
  const commandSessions = new Map<string, CommandSession>();
  const commandSession = async (settings: ResolvedProfileSettings, limit?: number): Promise<CommandSession> => {
    // NODE_DEBUG would print the output of the program.
    requireSafe();
    await noteIgnoredToken(settings);
    const key = JSON.stringify([settings.profileName, settings.values.base_url]);
    const opened = commandSessions.get(key) ?? openCommandSession(host, settings, limit);
    commandSessions.set(key, opened);
    return opened;
  };
  const client = async (settings: ResolvedProfileSettings, binding: SessionServerBinding): Promise<OAuthClient> => ({
    authOrigin: binding.authOrigin,
    clientId: binding.clientId,
    clientSecret:
      environmentClientSecret(settings, binding) ?? (await readStoredClientSecret(await store(settings), binding)),
    tokenParams: settings.values.token_params ?? 'query',
  });
  const session = async (settings: ResolvedProfileSettings): Promise<ProfileAccessTokenProvider> => {
    if (settings.accessToken !== undefined) return createFixedTokenSession(settings.accessToken);
    if (accessTokenSource(settings) === 'command') return commandSession(settings);
    const binding = requireProfileServerBinding(settings, config(), host.folders.config);
    const place = deps.profilePaths(settings.profileName);
    const parts = { host, output, prompts, place, store: await store(settings), client, send, lock, requireSafe };
    return createStoredSessionTokenProvider(parts, settings, binding, async (...ended) =>
      (await import('./reauthenticate.ts')).reauthenticate(...ended),
    );
  };
  /** One notice for all clients of this process. */
  let announced: Promise<void> | undefined;
  const api = async (settings: ResolvedProfileSettings): Promise<ApiClient> => {
    requireSafe();
    // One provider may run both servers, and each may repeat what the other has been sent.
    withhold(settings.clientSecret);
    const bearer = await session(settings);
    const loginHints = buildRefusedRequestHints(settings, host.folders.config);
    const parts = {
      baseOrigin: requireBaseUrl(settings),
      send: await send(),
      bearer: bearer.bearer,
      renew: (refused: Secret) => bearer.renew(refused),
      clock: host.clock,
      timeout: deps.timeout,
      loginHints,
    };
    const client = createApiClient(parts);
    // With -o json, stderr is empty or has one error object.
    if (settings.accessToken === undefined || output.format === 'json') return client;
    const reader = createApiClient({ ...parts, timeout: Math.min(deps.timeout, accountLimitMs) });
    const own = readLoggedInAccountFile(host.folders.config, settings.profileName);
    return announceBeforeWrites(client, () => {
      announced ??= describeTokenAccount(settings, own, reader, loginHints).then(async (notice) => {
        if (notice !== undefined) await output.note(notice);
      });
      return announced;
    });
  };
  return { store, session, commandSession, api, client };
}

/** The client secret in the environment is sent only to the server for which the profile is configured. */
function environmentClientSecret(
  { clientSecret, values }: ResolvedProfileSettings,
  { authOrigin, clientId }: SessionServerBinding,
): Secret | undefined {
  return values.auth_url === authOrigin && values.client_id === clientId ? clientSecret : undefined;
}

function requireBaseUrl(settings: ResolvedProfileSettings): string {
  const base = settings.values.base_url;
  if (base === undefined)
    throw usageError('base_url is missing', 'pass --base-url, set CLOUDCTL_BASE_URL, or run `cloudctl auth setup`');
  return base;
}
