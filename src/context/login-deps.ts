import type { OAuthClient } from '../auth/oauth/index.ts';
import { storeLoggedInAccount } from '../auth/session/account.ts';
import type { SessionServerBinding } from '../auth/session/credential-record.ts';
import type { LoginDeps } from '../auth/session/login.ts';
import type { OAuthLoginOptions } from '../auth/session/oauth-login-options.ts';
import {
  buildProfileServerUnreachableHint,
  isServerKnownToImplementSpec,
} from '../auth/session/session-server-binding.ts';
import { buildLoginRetryCommands } from '../auth/session/suggested-commands.ts';
import { removeCachedCompletionNames } from '../config/cached-completion-names.ts';
import type { ResolvedProfileSettings } from '../config/settings.ts';
import { probeOrigin } from '../platform/connector.ts';
import { tryAcquireFileLock } from '../platform/file-lock.ts';
import type { StoredSessionTokenProviderDeps } from './stored-session-token-provider.ts';

/** The dependencies of a login, without those for questions, instructions and reports to the user. */
export type LoginDepsWithoutInteraction = Omit<
  LoginDeps,
  | 'canContinue'
  | 'onOtherScope'
  | 'showInstructions'
  | 'pastedLines'
  | 'reportRejectedPaste'
  | 'onRefusedPeer'
  | 'onOversizedRequest'
  | 'report'
>;

export interface ProfileLoginParameters {
  readonly settings: ResolvedProfileSettings;
  readonly binding: SessionServerBinding;
  readonly client: OAuthClient;
  readonly request: OAuthLoginOptions;
  /** The OAuth flow that the profile configures; a suggested login command with this flow needs no `--flow`. */
  readonly profileFlow: OAuthLoginOptions['flow'] | undefined;
  /** The typed options that a suggested login command repeats, each with its quoted value. */
  readonly typedOptions?: readonly string[];
}

/** Time limit of a connection to the authorization server, in milliseconds. */
const probeLimitMs = 10_000;

export function createLoginDeps(
  parts: Omit<StoredSessionTokenProviderDeps, 'client' | 'output' | 'prompts'>,
  { settings, binding, client, request, profileFlow, typedOptions }: ProfileLoginParameters,
): LoginDepsWithoutInteraction {
  const { host, place, store } = parts;
  const { profileName, values } = settings;
  return {
    profile: settings.profile,
    binding,
    client,
    callbackUrls: values.callback_urls ?? [],
    issuer: values.issuer,
    store,
    createSender: () => parts.send({ fresh: true, obtainsTokens: true }),
    lock: () => parts.lock(place.lock),
    tryLoginLock: () => tryAcquireFileLock(place.loginLock),
    clock: host.clock,
    random: host.random,
    signals: host.signals,
    requireSafe: parts.requireSafe,
    probeServer: () => probeOrigin(binding.authOrigin, host.env, probeLimitMs),
    unreachableHint: buildProfileServerUnreachableHint(settings),
    isSpecServer: () => isServerKnownToImplementSpec(host.folders, profileName, binding.authOrigin),
    loginCommands: buildLoginRetryCommands(settings.profile, request, profileFlow, typedOptions),
    writeAccount: (account) => {
      // Removes the cached names for completion, because they belong to the account of the previous session.
      removeCachedCompletionNames(host.folders.state, profileName);
      storeLoggedInAccount(host.folders.config, profileName, account);
    },
  };
}
