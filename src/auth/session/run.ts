import type { Secret } from '../../base/secret.ts';
import type { Binding, ResolvedProfileSettings } from '../../config/settings.ts';
import type { HeldFileLock } from '../../platform/file-lock.ts';
import type { CommandHttpSenderOptions, HostSystem } from '../../platform/host.ts';
import type { HttpSender } from '../../platform/http-sender.ts';
import type { OAuthClient } from '../oauth/index.ts';
import { readAccount } from './account.ts';
import type { FailpointObserver } from './failpoints.ts';
import { flowOption } from './hints.ts';
import { sendProbe, type TokenAcceptance } from './probe.ts';
import type { CredentialStore } from './store.ts';

/** What login, refresh and logout of one profile work with. The context creates it, once for each profile. */
export interface SessionRun extends FailpointObserver {
  readonly host: Pick<HostSystem, 'env' | 'folders' | 'clock' | 'random' | 'signals'>;
  readonly settings: ResolvedProfileSettings;
  readonly binding: Binding;
  readonly store: CredentialStore;
  /** Waits for the lock of the profile, which excludes every other change of its session. */
  readonly lock: () => Promise<HeldFileLock>;
  readonly send: (options?: CommandHttpSenderOptions) => Promise<HttpSender>;
  /** The application, with its client secret. */
  readonly client: () => Promise<OAuthClient>;
  /** Throws when an environment variable would make Node print or expose the requests. */
  readonly requireSafe: () => void;
  readonly warn: (text: string) => Promise<void>;
}

/** Each HttpSender uses a new connection. */
export function sendTokens({ send }: Pick<SessionRun, 'send'>): Promise<HttpSender> {
  return send({ fresh: true, obtainsTokens: true });
}

/** Checks whether the resource API of the session accepts an access token. */
export async function probeToken(
  { send, binding }: Pick<SessionRun, 'send' | 'binding'>,
  token: Secret,
  signal: AbortSignal,
): Promise<TokenAcceptance> {
  return sendProbe(await send({ fresh: true }), binding.baseOrigin, token, signal);
}

/** The option of `auth login` that selects the flow of this session. */
export function flowOfSession(
  { host, settings }: Pick<SessionRun, 'host' | 'settings'>,
  sid: string,
): readonly string[] {
  const account = readAccount(host.folders.config, settings.profileName);
  return flowOption(account?.sid === sid ? account.flow : undefined, settings.values.flow);
}
