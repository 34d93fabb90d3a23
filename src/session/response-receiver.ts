import { CliError } from '../errors.ts';
import { startLoopbackServer } from '../loopback/loopback-server.ts';
import type { BrowserTabOutcome } from '../loopback/outcome-page.ts';
import type { ResponseValidator } from '../loopback/request-decision.ts';
import type { AuthorizationResult } from '../oauth/authorization-response.ts';
import type { OAuthFlow } from '../oauth/authorization-url.ts';
import { deferred } from '../platform/deferred.ts';
import type { Clock } from '../platform/host.ts';

/** Where a person has to go to log in. */
export interface LoginAddresses {
  readonly authorizationUrl: string;
  /** One-time address for the opener, whose arguments other users can see; absent without a listener. */
  readonly startUrl: string | undefined;
  readonly callbackUrl: string;
}

/** Receives one authorization response: from the loopback listener, or only from what is pasted. */
export interface ResponseReceiver extends LoginAddresses {
  /** The first response that was accepted, whichever way it came. */
  readonly response: Promise<AuthorizationResult>;
  isAccepted(): boolean;
  /** Accepts a pasted response; false when another one was accepted before. */
  accept(response: AuthorizationResult): boolean;
  /** The page of the tab that brought the response; only the first call counts. */
  showOutcome(outcome: BrowserTabOutcome): void;
  /** Settles when the tab has its page, or 5 s after the response without a tab that requests it. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

export interface ReceiverOptions {
  /** The first that can be bound is used (port 0: any free port). */
  readonly callbackUrls: readonly string[];
  readonly flow: OAuthFlow;
  /** Origin of the authorization server. */
  readonly authorizationOrigin: string;
  readonly validate: ResponseValidator<AuthorizationResult>;
  /** The authorization URL for a redirect URI. */
  readonly authorizationUrl: (redirectUri: string) => string;
  readonly random: (bytes: number) => Uint8Array;
  readonly clock: Clock;
}

/** Binds the loopback listener. Throws `port_in_use` or `config_invalid` when no callback URL can be served. */
export async function bindReceiver(options: ReceiverOptions): Promise<ResponseReceiver> {
  const outcome = deferred<BrowserTabOutcome>();
  const server = await startLoopbackServer<AuthorizationResult>({ ...options, finish: () => outcome.promise });
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
    callbackUrl: server.callbackUrl,
    response: server.taken,
    isAccepted: () => isAccepted,
    accept: (response) => server.take(response),
    showOutcome: outcome.resolve,
    closed: server.closed,
    close: () => server.close(),
  };
}

/** With `--paste`: nothing is bound, and the first callback URL is the redirect URI. */
export function createPasteReceiver({ callbackUrls, authorizationUrl }: ReceiverOptions): ResponseReceiver {
  const [callbackUrl] = callbackUrls;
  if (callbackUrl === undefined)
    throw new CliError('usage', 'callback_urls is missing', { hint: 'run `cloudctl auth setup`' });
  const response = deferred<AuthorizationResult>();
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
