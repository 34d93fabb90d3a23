import type { OAuthClient } from '../auth/oauth/index.ts';
import { readLoggedInAccountFile, updateAccountFileAfterRefresh } from '../auth/session/account.ts';
import type { SessionServerBinding } from '../auth/session/credential-record.ts';
import type { CredentialStore } from '../auth/session/credential-store.ts';
import { createFailpointActionOfTestBuild } from '../auth/session/failpoints.ts';
import {
  createProfileAccessTokenProvider,
  type ProfileAccessTokenProvider,
} from '../auth/session/profile-access-token-provider.ts';
import type { ProfilePaths } from '../auth/session/profile-paths.ts';
import { sendAccessTokenProbe } from '../auth/session/send-access-token-probe.ts';
import { formatLoginFlowOption } from '../auth/session/suggested-commands.ts';
import { wrapSessionWithReauthentication } from '../auth/session/wrap-session-with-reauthentication.ts';
import type { CommandOutputWriter } from '../cli/output.ts';
import type { Prompts } from '../cli/prompts.ts';
import type { ResolvedProfileSettings } from '../config/settings.ts';
import type { HeldFileLock } from '../platform/file-lock.ts';
import type { CommandHttpSenderOptions, HostSystem } from '../platform/host.ts';
import type { HttpSender } from '../platform/http-sender.ts';

/** The parts of the command context that a stored session uses. */
export interface StoredSessionTokenProviderDeps {
  readonly host: HostSystem;
  readonly output: Pick<CommandOutputWriter, 'format' | 'note' | 'warn'>;
  readonly prompts: Pick<Prompts, 'interactive' | 'confirm'>;
  readonly place: ProfilePaths;
  readonly store: CredentialStore;
  readonly client: (settings: ResolvedProfileSettings, binding: SessionServerBinding) => Promise<OAuthClient>;
  readonly send: (options?: CommandHttpSenderOptions) => Promise<HttpSender>;
  readonly lock: (path: string) => Promise<HeldFileLock>;
  readonly requireSafe: () => void;
}

/** Logs in again after a session has ended; returns false if the user declines or a new login is not possible. */
export type Reauthenticate = (
  parts: StoredSessionTokenProviderDeps,
  settings: ResolvedProfileSettings,
  binding: SessionServerBinding,
) => Promise<boolean>;

/** The stored session of a profile. In a terminal, the session offers a new login after it has ended. */
export function createStoredSessionTokenProvider(
  parts: StoredSessionTokenProviderDeps,
  settings: ResolvedProfileSettings,
  binding: SessionServerBinding,
  reauthenticate: Reauthenticate,
): ProfileAccessTokenProvider {
  const { host, output, place, store, send } = parts;
  const session = createProfileAccessTokenProvider({
    profile: settings.profile,
    binding,
    // The refresh request in query form sends no client credentials (docs/service.md S5.7), so they are not read from the credential
    // store.
    client: async () =>
      (settings.values.token_params ?? 'query') !== 'query'
        ? parts.client(settings, binding)
        : { authOrigin: binding.authOrigin, clientId: binding.clientId, tokenParams: 'query' },
    store,
    createSender: () => send({ fresh: true, obtainsTokens: true }),
    lock: () => parts.lock(place.lock),
    probe: async (token, signal) =>
      sendAccessTokenProbe(await send({ fresh: true }), binding.baseOrigin, token, signal),
    random: host.random,
    flowOption: (sid) => {
      const account = readLoggedInAccountFile(host.folders.config, settings.profileName);
      return formatLoginFlowOption(account?.sid === sid ? account.flow : undefined, settings.values.flow);
    },
    clock: host.clock,
    signals: host.signals,
    requireSafe: parts.requireSafe,
    // With -o json, stderr is empty or has one error object, so no warnings are printed.
    warn: output.format === 'json' ? async () => {} : output.warn,
    updateAccount: (record, info) =>
      updateAccountFileAfterRefresh(host.folders.config, settings.profileName, record, info),
    onFailpoint: createFailpointActionOfTestBuild(host.env),
  });
  return wrapSessionWithReauthentication(
    session,
    async () => parts.prompts.interactive && reauthenticate(parts, settings, binding),
  );
}
