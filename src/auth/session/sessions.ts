import type { Secret } from '../../base/secret.ts';
import type { CommandIo } from '../../cli/command-io.ts';
import type { ConfigFile } from '../../config/config-file.ts';
import { type Binding, type ProfileSettings, type TypedSettings, tokenSource } from '../../config/settings.ts';
import type { SendOptions } from '../../platform/host.ts';
import type { HttpSender } from '../../platform/http-sender.ts';
import type { HeldLock } from '../../platform/locks.ts';
import { type CommandSession, openCommand } from './command.ts';
import { failpointAction } from './failpoints.ts';
import { requireBinding } from './hints.ts';
import { profilePaths } from './paths.ts';
import { fixedProvider, storedProvider, type TokenProvider, withReauthentication } from './provider.ts';
import type { CommandOfSessions, SessionRuns } from './run.ts';
import { openStore, readClientSecret } from './store.ts';

/** The sessions of the profiles that a command uses. */
export interface Sessions extends SessionRuns {
  /** The access token for the resource API: `CLOUDCTL_ACCESS_TOKEN`, the token command of the profile, or its stored session. */
  readonly session: (settings: ProfileSettings) => Promise<TokenProvider>;
  /**
   * The session of a profile with `token_command`: one for each profile, so that its program runs once in this process.
   * `limit`: milliseconds until the program is ended.
   */
  readonly commandSession: (settings: ProfileSettings, limit?: number) => Promise<CommandSession>;
}

/** The command that is running, as login, setup and logout use it: its streams, settings and sessions. */
export interface ProfileCommand extends CommandIo, Sessions {
  /** The content of config.json. Throws DamagedConfigError. */
  readonly config: () => ConfigFile;
  /** The settings of this run; `options` are those of the command and have the highest precedence. */
  readonly settings: (options?: TypedSettings) => ProfileSettings;
  /**
   * The same without CLOUDCTL_ACCESS_TOKEN, for commands that change the session of the profile, such as a login or a logout.
   */
  readonly sessionSettings: (options?: TypedSettings) => ProfileSettings;
  /** The settings of a stored profile without the options of this run, for commands that list profiles. */
  readonly storedSettings: (profile: string) => ProfileSettings;
  /** Reads config.json under its lock, applies `change` and discards the cached content. */
  readonly changeConfig: <T>(change: (config: ConfigFile) => T) => Promise<T>;
  readonly send: (options?: SendOptions) => Promise<HttpSender>;
  readonly lock: (path: string) => Promise<HeldLock>;
  /** Throws if an environment variable would expose secrets of requests, such as NODE_DEBUG=http. */
  readonly requireSafe: () => void;
  /** Time limit of one HTTP request, in milliseconds. */
  readonly timeout: number;
}

export function createSessions(command: CommandOfSessions): Sessions {
  const { host, output, prompts, stderr, send, lock, requireSafe, config } = command;
  let isNoted = false;
  const noteIgnoredToken = async ({ isAccessTokenIgnored, profileName }: ProfileSettings): Promise<void> => {
    if (!isAccessTokenIgnored || isNoted) return;
    isNoted = true;
    // With -o json, stderr is empty or has one error object.
    if (output.format !== 'json')
      await output.note(`CLOUDCTL_ACCESS_TOKEN is not used, because \`--profile ${profileName}\` names a profile.`);
  };
  const store: Sessions['store'] = async (settings, limit) => {
    await noteIgnoredToken(settings);
    return openStore(host, profilePaths(host.folders.state, settings.profileName), settings, {
      // In a terminal a person can unlock the keychain.
      limit: limit ?? (prompts.interactive ? 60_000 : 3_000),
      onWaiting: () => {
        if (prompts.interactive) void stderr.write('waiting for the keychain to be unlocked\n');
      },
    });
  };
  const commandSessions = new Map<string, CommandSession>();
  const commandSession: Sessions['commandSession'] = async (settings, limit) => {
    // NODE_DEBUG would print the output of the program.
    requireSafe();
    await noteIgnoredToken(settings);
    const key = JSON.stringify([settings.profileName, settings.values.base_url]);
    const opened = commandSessions.get(key) ?? openCommand(host, settings, limit);
    commandSessions.set(key, opened);
    return opened;
  };
  const sessionRun: Sessions['sessionRun'] = async (settings, binding) => {
    const opened = await store(settings);
    return {
      ...{ host, settings, binding, store: opened, send, requireSafe },
      client: async ({ authOrigin, clientId } = binding) => ({
        authOrigin,
        clientId,
        clientSecret:
          environmentSecret(settings, { authOrigin, clientId }) ??
          (await readClientSecret(opened, { authOrigin, clientId })),
        tokenParams: settings.values.token_params ?? 'query',
      }),
      lock: () => lock(opened.place.lock),
      // With -o json, stderr is empty or has one error object, so no warnings are printed.
      warn: output.format === 'json' ? async () => {} : output.warn,
      onFailpoint: failpointAction(host.env),
    };
  };
  const session: Sessions['session'] = async (settings) => {
    if (settings.accessToken !== undefined) return fixedProvider(settings.accessToken);
    if (tokenSource(settings) === 'command') return commandSession(settings);
    const run = await sessionRun(settings, requireBinding(settings, config(), host.folders.config));
    return withReauthentication(
      storedProvider(run),
      async () =>
        prompts.interactive && (await import('./reauthenticate.ts')).reauthenticate({ host, output, prompts }, run),
    );
  };
  return { store, session, sessionRun, commandSession };
}

/** The client secret in the environment is sent only to the server for which the profile is configured. */
function environmentSecret(
  { clientSecret, values }: ProfileSettings,
  { authOrigin, clientId }: Pick<Binding, 'authOrigin' | 'clientId'>,
): Secret | undefined {
  return values.auth_url === authOrigin && values.client_id === clientId ? clientSecret : undefined;
}
