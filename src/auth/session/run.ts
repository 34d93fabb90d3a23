import { isTokenRefused } from '../../api/api-response.ts';
import type { Secret } from '../../base/secret.ts';
import type { OutputWriter } from '../../cli/output.ts';
import type { Prompts } from '../../cli/prompts.ts';
import type { ConfigFile } from '../../config/config-file.ts';
import type { Binding, ProfileSettings } from '../../config/settings.ts';
import type { HostSystem, OutputSink, SendOptions } from '../../platform/host.ts';
import { type HttpSender, readBody, SendError } from '../../platform/http-sender.ts';
import type { HeldLock } from '../../platform/locks.ts';
import type { OAuthClient } from '../oauth/index.ts';
import { readAccount } from './account.ts';
import type { FailpointObserver } from './failpoints.ts';
import { flowOption } from './hints.ts';
import type { CredentialStore } from './store.ts';

/** What login, refresh and logout of one profile work with. The context creates it, once for each profile. */
export interface SessionRun extends FailpointObserver {
  readonly host: Pick<HostSystem, 'env' | 'folders' | 'clock' | 'random' | 'signals'>;
  readonly settings: ProfileSettings;
  readonly binding: Binding;
  readonly store: CredentialStore;
  /** Waits for the lock of the profile, which excludes every other change of its session. */
  readonly lock: () => Promise<HeldLock>;
  readonly send: (options?: SendOptions) => Promise<HttpSender>;
  /** The application, with its client secret; `servers` are those of the binding if they are not given. */
  readonly client: (servers?: Binding) => Promise<OAuthClient>;
  /** Throws when an environment variable would make Node print or expose the requests. */
  readonly requireSafe: () => void;
  readonly warn: (text: string) => Promise<void>;
}

/** What sessions use of the command that is running. */
export interface CommandOfSessions {
  readonly host: HostSystem;
  readonly output: Pick<OutputWriter, 'format' | 'note' | 'warn'>;
  readonly prompts: Pick<Prompts, 'interactive' | 'confirm'>;
  readonly stderr: Pick<OutputSink, 'write'>;
  readonly config: () => ConfigFile;
  readonly send: (options?: SendOptions) => Promise<HttpSender>;
  readonly lock: (path: string) => Promise<HeldLock>;
  readonly requireSafe: () => void;
}

/** Opens what a session works with, on first use. */
export interface SessionRuns {
  /** `limit`: milliseconds to wait for the keychain. */
  readonly store: (settings: ProfileSettings, limit?: number) => Promise<CredentialStore>;
  /** What login and refresh of a profile work with. */
  readonly sessionRun: (settings: ProfileSettings, binding: Binding) => Promise<SessionRun>;
}

/** Each HttpSender uses a new connection. */
export function sendTokens({ send }: Pick<SessionRun, 'send'>): Promise<HttpSender> {
  return send({ fresh: true, obtainsTokens: true });
}

/**
 * The application for a refresh or a revocation. In query form both send no client credentials (docs/service.md S5.7), so these
 * are not read from the store.
 */
export async function tokenClient(
  { settings, client }: Pick<SessionRun, 'settings'> & { readonly client: (servers: Binding) => Promise<OAuthClient> },
  { authOrigin, baseOrigin, clientId }: Binding,
): Promise<OAuthClient> {
  if ((settings.values.token_params ?? 'query') !== 'query') return client({ authOrigin, baseOrigin, clientId });
  return { authOrigin, clientId, tokenParams: 'query' };
}

/** The option of `auth login` that selects the flow of this session. */
export function flowOfSession(
  { host, settings }: Pick<SessionRun, 'host' | 'settings'>,
  sid: string,
): readonly string[] {
  const account = readAccount(host.folders.config, settings.profileName);
  return flowOption(account?.sid === sid ? account.flow : undefined, settings.values.flow);
}

/** Whether the resource API accepts an access token; `unknown` when the API was not reached or its response does not show it. */
export type TokenAcceptance = 'accepted' | 'refused' | 'unknown';

/** A collection that always exists and that every scope may read (docs/service.md S7.2). */
export const probePath = '/v2/actions?page=1&per_page=1';

/** Checks whether the resource API of the session accepts an access token. The request is never repeated. */
export async function probeToken(
  { send, binding }: Pick<SessionRun, 'send' | 'binding'>,
  accessToken: Secret,
  signal: AbortSignal,
): Promise<TokenAcceptance> {
  try {
    const sender = await send({ fresh: true });
    const answer = await sender(`${binding.baseOrigin}${probePath}`, {
      method: 'GET',
      headers: { accept: 'application/json', authorization: `Bearer ${accessToken.reveal()}` },
      signal,
      redirect: 'manual',
    });
    const body = (await readBody(answer, 1024 * 1024)) ?? '';
    if (answer.status >= 200 && answer.status < 300) return 'accepted';
    return isTokenRefused({ status: answer.status, text: () => body }, probePath) ? 'refused' : 'unknown';
  } catch (error) {
    if (error instanceof SendError) return 'unknown';
    throw error;
  }
}
