import { type ApiClient, createApiClient } from '../api/client.ts';
import type { OAuthClient } from '../auth/oauth/index.ts';
import {
  type CommandSession,
  type CredentialStore,
  failpointAction,
  fixedProvider,
  openCommand,
  openStore,
  type ProfilePaths,
  readAccount,
  readClientSecret,
  refusedHints,
  requireBinding,
  type SessionRun,
  storedProvider,
  type TokenProvider,
  withReauthentication,
} from '../auth/session/index.ts';
import { usageError } from '../base/errors.ts';
import { type Secret, withhold } from '../base/secret.ts';
import type { CommandOutputWriter } from '../cli/output.ts';
import type { Prompts } from '../cli/prompts.ts';
import type { ConfigFile } from '../config/config-file.ts';
import { accessTokenSource, type Binding, type ResolvedProfileSettings } from '../config/settings.ts';
import type { HeldFileLock } from '../platform/file-lock.ts';
import type { CommandHttpSenderOptions, HostSystem, OutputSink } from '../platform/host.ts';
import type { HttpSender } from '../platform/http-sender.ts';
import { announceBeforeWrites, describeTokenAccount } from './token-account.ts';

/** What the services of a profile use of the command. */
export interface ServicesOfCommand {
  readonly host: HostSystem;
  readonly output: Pick<CommandOutputWriter, 'format' | 'note' | 'warn'>;
  readonly prompts: Pick<Prompts, 'interactive' | 'confirm'>;
  readonly stderr: Pick<OutputSink, 'write'>;
  readonly config: () => ConfigFile;
  readonly profilePaths: (profile: string) => ProfilePaths;
  readonly send: (options?: CommandHttpSenderOptions) => Promise<HttpSender>;
  readonly lock: (path: string) => Promise<HeldFileLock>;
  readonly requireSafe: () => void;
  /** Time limit of one HTTP request, in milliseconds. */
  readonly timeout: number;
}

/** The services that use the credential store of a profile. Commands without these services do not load this module. */
export interface ProfileServices {
  readonly store: (settings: ResolvedProfileSettings, limit?: number) => Promise<CredentialStore>;
  readonly session: (settings: ResolvedProfileSettings) => Promise<TokenProvider>;
  /** What login and refresh work with. */
  readonly sessionRun: (settings: ResolvedProfileSettings, binding: Binding) => Promise<SessionRun>;
  /** The session of a profile with `token_command`: one for each profile, so that its program runs once in this process. */
  readonly commandSession: (settings: ResolvedProfileSettings, limit?: number) => Promise<CommandSession>;
  readonly api: (settings: ResolvedProfileSettings) => Promise<ApiClient>;
  readonly client: (settings: ResolvedProfileSettings, binding: Binding) => Promise<OAuthClient>;
}

/** Time limit of the request that reads the account of CLOUDCTL_ACCESS_TOKEN for a notice, in milliseconds. */
const accountLimitMs = 5_000;

export function createProfileServices(command: ServicesOfCommand): ProfileServices {
  const { host, output, prompts, stderr, send, lock, requireSafe, config } = command;
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
    return openStore(host, command.profilePaths(settings.profileName), settings, {
      // In a terminal a person can unlock the keychain.
      limit: limit ?? (prompts.interactive ? 60_000 : 3_000),
      onWaiting: () => {
        if (prompts.interactive) void stderr.write('waiting for the keychain to be unlocked\n');
      },
    });
  };
  const commandSessions = new Map<string, CommandSession>();
  const commandSession = async (settings: ResolvedProfileSettings, limit?: number): Promise<CommandSession> => {
    // NODE_DEBUG would print the output of the program.
    requireSafe();
    await noteIgnoredToken(settings);
    const key = JSON.stringify([settings.profileName, settings.values.base_url]);
    const opened = commandSessions.get(key) ?? openCommand(host, settings, limit);
    commandSessions.set(key, opened);
    return opened;
  };
  const client = async (settings: ResolvedProfileSettings, binding: Binding): Promise<OAuthClient> => ({
    authOrigin: binding.authOrigin,
    clientId: binding.clientId,
    clientSecret:
      environmentClientSecret(settings, binding) ?? (await readClientSecret(await store(settings), binding)),
    tokenParams: settings.values.token_params ?? 'query',
  });
  const sessionRun = async (settings: ResolvedProfileSettings, binding: Binding): Promise<SessionRun> => {
    const opened = await store(settings);
    return {
      ...{ host, settings, binding, store: opened, send, requireSafe },
      client: () => client(settings, binding),
      lock: () => lock(opened.place.lock),
      // With -o json, stderr is empty or has one error object, so no warnings are printed.
      warn: output.format === 'json' ? async () => {} : output.warn,
      onFailpoint: failpointAction(host.env),
    };
  };
  const session = async (settings: ResolvedProfileSettings): Promise<TokenProvider> => {
    if (settings.accessToken !== undefined) return fixedProvider(settings.accessToken);
    if (accessTokenSource(settings) === 'command') return commandSession(settings);
    const binding = requireBinding(settings, config(), host.folders.config);
    const run = await sessionRun(settings, binding);
    return withReauthentication(
      storedProvider(run),
      async () =>
        prompts.interactive && (await import('./reauthenticate.ts')).reauthenticate({ host, output, prompts }, run),
    );
  };
  /** One notice for all clients of this process. */
  let announced: Promise<void> | undefined;
  const api = async (settings: ResolvedProfileSettings): Promise<ApiClient> => {
    requireSafe();
    // One provider may run both servers, and each may repeat what the other has been sent.
    withhold(settings.clientSecret);
    const bearer = await session(settings);
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
    const client = createApiClient(parts);
    // With -o json, stderr is empty or has one error object.
    if (settings.accessToken === undefined || output.format === 'json') return client;
    const reader = createApiClient({ ...parts, timeout: Math.min(command.timeout, accountLimitMs) });
    const own = readAccount(host.folders.config, settings.profileName);
    return announceBeforeWrites(client, () => {
      announced ??= describeTokenAccount(settings, own, reader, loginHints).then(async (notice) => {
        if (notice !== undefined) await output.note(notice);
      });
      return announced;
    });
  };
  return { store, session, sessionRun, commandSession, api, client };
}

/** The client secret in the environment is sent only to the server for which the profile is configured. */
function environmentClientSecret(
  { clientSecret, values }: ResolvedProfileSettings,
  { authOrigin, clientId }: Binding,
): Secret | undefined {
  return values.auth_url === authOrigin && values.client_id === clientId ? clientSecret : undefined;
}

function requireBaseUrl(settings: ResolvedProfileSettings): string {
  const base = settings.values.base_url;
  if (base === undefined)
    throw usageError('base_url is missing', 'pass --base-url, set CLOUDCTL_BASE_URL, or run `cloudctl auth setup`');
  return base;
}
