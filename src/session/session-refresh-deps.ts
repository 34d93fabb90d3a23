import type { Secret } from '../base/secret.ts';
import type { RegisteredOAuthClient } from '../oauth/token-endpoint.ts';
import type { HeldFileLock } from '../platform/file-lock.ts';
import type { Signals } from '../platform/host.ts';
import type { SessionRecoveryDeps } from './recover-session.ts';
import type { TokenAcceptance } from './send-access-token-probe.ts';
import type { SendTokenRefreshDeps } from './send-token-refresh.ts';
import type { AccountUpdateAfterRefreshDeps } from './update-account-after-token-refresh.ts';

export interface SessionRefreshDeps extends SessionRecoveryDeps, SendTokenRefreshDeps, AccountUpdateAfterRefreshDeps {
  /** The OAuth client; it has its client secret only for a server that requires the secret in a refresh. */
  readonly client: () => Promise<RegisteredOAuthClient>;
  readonly lock: () => Promise<HeldFileLock>;
  readonly random: (bytes: number) => Uint8Array;
  readonly signals: Signals;
  /** Throws when an environment variable would make Node print or expose the request. */
  readonly requireSafe: () => void;
  /**
   * Checks whether the resource API accepts an access token. The API refuses the old access token as soon as the server
   * has processed a refresh.
   */
  readonly probe: (accessToken: Secret, signal: AbortSignal) => Promise<TokenAcceptance>;
}
