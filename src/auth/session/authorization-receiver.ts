import { CliError } from '../../base/errors.ts';
import { createDeferred } from '../../platform/create-deferred.ts';
import type { Clock } from '../../platform/host.ts';
import {
  type ListenAddress,
  type OnRefusedPeer,
  type ResponseValidator,
  startLoopback,
  type TabAnswer,
} from '../loopback/index.ts';
import type { AuthorizationResult, OAuthFlow } from '../oauth/index.ts';

/** The URLs of a login that the user may need. */
export interface LoginUrls {
  readonly authorizationUrl: string;
  /** A one-time URL for the command that opens the browser, whose arguments other users can see; absent without a listener. */
  readonly startUrl: string | undefined;
  /** A short URL that leads to the authorization URL where the port is forwarded; absent without a listener. */
  readonly shortUrl?: string | undefined;
  readonly callbackUrl: string;
}

/** Receives one authorization response, from the loopback listener or, with `--paste`, only from pasted lines. */
export interface AuthorizationReceiver extends LoginUrls {
  /** The first accepted response, whether redirected or pasted. */
  readonly response: Promise<AuthorizationResult>;
  isAccepted(): boolean;
  /** Accepts a pasted response; returns false when another response was accepted before. */
  accept(response: AuthorizationResult): boolean;
  /** Sets the page for the browser tab that sent the response; only the first call has an effect. */
  showOutcome(outcome: TabAnswer): void;
  /** Settles when the browser tab has its page, or 5 s after the response if no tab requests the page. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

export interface AuthorizationReceiverOptions {
  /** The receiver uses the first callback URL that can be bound (port 0 means any free port). */
  readonly callbackUrls: readonly string[];
  readonly flow: OAuthFlow;
  /** Origin of the authorization server. */
  readonly authorizationOrigin: string;
  readonly validate: ResponseValidator<AuthorizationResult>;
  /** Creates the authorization URL for a redirect URI. */
  readonly authorizationUrl: (redirectUri: string) => string;
  readonly random: (bytes: number) => Uint8Array;
  readonly clock: Clock;
  /** Where the listener listens (default: at the address of the callback URL). */
  readonly listenAddress?: ListenAddress | undefined;
  readonly onRefusedPeer?: OnRefusedPeer | undefined;
  readonly onOversizedRequest?: ((part: 'headers' | 'body') => void) | undefined;
}

/** Binds the loopback listener. Throws `port_in_use` or `config_invalid` when none of the callback URLs can be used. */
export async function bindAuthorizationReceiver(options: AuthorizationReceiverOptions): Promise<AuthorizationReceiver> {
  const outcome = createDeferred<TabAnswer>();
  const server = await startLoopback<AuthorizationResult>({ ...options, finish: () => outcome.promise });
  let isAccepted = false;
  void server.taken.then(
    () => {
      isAccepted = true;
    },
    () => undefined,
  );
  return {
    authorizationUrl: server.authorizationUrl,
    startUrl: server.startUrl,
    shortUrl: server.shortUrl,
    callbackUrl: server.callbackUrl,
    response: server.taken,
    isAccepted: () => isAccepted,
    accept: (response) => server.take(response),
    showOutcome: outcome.resolve,
    closed: server.closed,
    close: () => server.close(),
  };
}

/** With `--paste` no port is bound, and the first callback URL is the redirect URI. */
export function createPastedAuthorizationReceiver({
  callbackUrls,
  authorizationUrl,
}: AuthorizationReceiverOptions): AuthorizationReceiver {
  const [callbackUrl] = callbackUrls;
  if (callbackUrl === undefined)
    throw new CliError('usage', 'callback_urls is missing', { hint: 'run `cloudctl auth setup`' });
  const response = createDeferred<AuthorizationResult>();
  let isAccepted = false;
  return {
    authorizationUrl: authorizationUrl(callbackUrl),
    startUrl: undefined,
    callbackUrl,
    response: response.promise,
    isAccepted: () => isAccepted,
    accept: (accepted) => {
      if (isAccepted) return false;
      isAccepted = true;
      response.resolve(accepted);
      return true;
    },
    showOutcome: () => undefined,
    closed: Promise.resolve(),
    close: async () => undefined,
  };
}
