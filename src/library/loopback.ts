import { type CallbackParameters, type LoopbackServer, startLoopback, type TabAnswer } from '../auth/loopback/index.ts';
import { type AuthorizationResult, validateResponse } from '../auth/oauth/index.ts';
import { CliError } from '../base/errors.ts';
import { createDeferred, systemClock } from '../platform/waiting.ts';

export interface ReceiveAuthorizationOptions {
  /**
   * The redirect URI, such as `http://127.0.0.1:0/callback`; port 0 is any free port. If several URIs are given, the
   * first one whose port can be bound is used. Only `http` on 127.0.0.0/8, `[::1]` or `localhost` is valid (RFC 8252
   * §7.3).
   */
  readonly callbackUrl: string | readonly string[];
  /** The state of the authorization request: random, at least 128 bits. A response with another state is not accepted. */
  readonly state: string;
  /** Where the response is: `code`: in the query of the redirect URL; `implicit`: in its fragment. */
  readonly flow: 'code' | 'implicit';
  /** The authorization URL for the redirect URI with the port that was bound. Required for `startUrl`. */
  readonly authorizationUrl?: (redirectUri: string) => string;
  /** Called once when the port is bound: open `startUrl` in the browser, or show `authorizationUrl`. */
  readonly onListening?: (addresses: ListeningAddresses) => void;
  /** The response must name this issuer in `iss` (RFC 9207). Default: `iss` is ignored. */
  readonly issuer?: string;
  /** When aborted, the loopback server closes its port, and the promise rejects with the reason of the signal. */
  readonly signal?: AbortSignal;
}

export interface ListeningAddresses {
  readonly redirectUri: string;
  /** The authorization URL to open in the browser; absent without the option `authorizationUrl`. */
  readonly authorizationUrl?: string;
  /**
   * URL of the loopback server that redirects to the authorization URL, once. Open this URL in the browser: other users of
   * the machine can read the arguments of the program that opens it. Absent without the option `authorizationUrl`.
   */
  readonly startUrl?: string;
}

/** What the browser tab shows at the end, or the address at which it continues. The texts are escaped. */
export type AuthorizationTabOutcome =
  | { readonly kind: 'signed_in'; readonly name?: string; readonly email?: string; readonly team?: string }
  | { readonly kind: 'access_denied' }
  /** `reason` is one sentence without its full stop. */
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'continue'; readonly url: string };

export interface ReceivedAuthorization {
  /** The decoded parameters of the response: `code` or `access_token`, or `error`; no name is repeated. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly redirectUri: string;
  /**
   * Shows the outcome of the login in the browser tab. Resolves when the port is free. Only the first call has an effect.
   */
  finish(outcome: AuthorizationTabOutcome): Promise<void>;
}

/** Why no authorization was received. */
export class ReceiveAuthorizationError extends Error {
  override readonly name = 'ReceiveAuthorizationError';
  readonly code: 'port_in_use' | 'invalid_callback_url' | 'state_mismatch' | 'invalid_response';

  constructor(code: ReceiveAuthorizationError['code'], message: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.code = code;
  }
}

/**
 * Waits for one authorization response on a loopback port, with the checks of docs/library/loopback.md: only the browser of
 * this user, only a navigation, only this state, only once.
 * @throws ReceiveAuthorizationError; the reason of the signal; TypeError for an option of another type
 */
export async function receiveAuthorization(options: ReceiveAuthorizationOptions): Promise<ReceivedAuthorization> {
  const checked = checkOptions(options);
  const { signal, onListening } = checked;
  signal?.throwIfAborted();
  const outcome = createDeferred<TabAnswer>();
  const server = await listen(checked, () => outcome.promise);
  const listening = new AbortController();
  void server.closed.then(() => listening.abort());
  const aborted = new Promise<never>((_, reject) => {
    const onAbort = () => {
      void server.close();
      reject(signal?.reason);
    };
    // A signal that was aborted while the port was bound sends no event any more.
    if (signal?.aborted) onAbort();
    else signal?.addEventListener('abort', onAbort, { once: true, signal: listening.signal });
  });
  aborted.catch(() => undefined);
  try {
    // `authorizationUrl` and `startUrl` exist only with the option `authorizationUrl`.
    const { authorizationUrl, startUrl } = server;
    const announced: unknown = onListening?.({
      redirectUri: server.callbackUrl,
      ...(checked.authorizationUrl === undefined ? {} : { authorizationUrl, startUrl }),
    });
    // An asynchronous `onListening` ends the wait only when it rejects.
    const failed = Promise.resolve(announced).then(() => new Promise<never>(() => undefined));
    const { parameters, result } = await Promise.race([server.taken, aborted, failed]);
    const problem = problemOf(result);
    if (problem !== undefined) {
      outcome.resolve(
        problem.code === 'state_mismatch'
          ? { kind: 'state_mismatch' }
          : { kind: 'failed', reason: 'The authorization response is not valid' },
      );
      throw problem;
    }
    return {
      parameters: Object.fromEntries(parameters),
      redirectUri: server.callbackUrl,
      finish: async (shown) => {
        outcome.resolve(checkOutcome(shown));
        await server.closed;
      },
    };
  } catch (error) {
    // The tab of a refused response still waits for its page; the port closes afterwards.
    if (!(error instanceof ReceiveAuthorizationError)) await server.close();
    throw libraryError(error);
  }
}

/**
 * The options, each read once and of its type: a program in JavaScript can pass anything, and what is noticed only while a
 * request is answered would end the process of that program.
 */
function checkOptions(options: ReceiveAuthorizationOptions): ReceiveAuthorizationOptions {
  if (typeof options !== 'object' || options === null) throw new TypeError('the options are not an object');
  const { callbackUrl, state, flow, authorizationUrl, onListening, issuer, signal } = options;
  const urls: readonly unknown[] = Array.isArray(callbackUrl) ? [...callbackUrl] : [callbackUrl];
  if (urls.length === 0 || !urls.every((url) => typeof url === 'string'))
    throw new TypeError('callbackUrl is neither a string nor a list of strings');
  if (typeof state !== 'string' || state === '') throw new TypeError('state is not a string, or empty');
  if (flow !== 'code' && flow !== 'implicit') throw new TypeError('flow is neither code nor implicit');
  for (const [name, callback] of Object.entries({ authorizationUrl, onListening }))
    if (callback !== undefined && typeof callback !== 'function') throw new TypeError(`${name} is not a function`);
  if (issuer !== undefined && typeof issuer !== 'string') throw new TypeError('issuer is not a string');
  if (signal !== undefined && typeof signal?.throwIfAborted !== 'function')
    throw new TypeError('signal is not an AbortSignal');
  return {
    callbackUrl: urls,
    state,
    flow,
    ...(authorizationUrl === undefined
      ? {}
      : { authorizationUrl: (uri) => checkUrl('authorizationUrl', authorizationUrl(uri)) }),
    ...(onListening === undefined ? {} : { onListening }),
    ...(issuer === undefined ? {} : { issuer }),
    ...(signal === undefined ? {} : { signal }),
  };
}

function checkOutcome(outcome: AuthorizationTabOutcome): TabAnswer {
  if (typeof outcome !== 'object' || outcome === null) throw new TypeError('the outcome is not an object');
  switch (outcome.kind) {
    case 'signed_in': {
      const { name, email, team } = outcome;
      for (const [field, text] of Object.entries({ name, email, team }))
        if (text !== undefined && typeof text !== 'string') throw new TypeError(`${field} is not a string`);
      return { kind: 'signed_in', name, email, team };
    }
    case 'access_denied':
      return { kind: 'access_denied' };
    case 'failed': {
      const { reason } = outcome;
      if (typeof reason !== 'string') throw new TypeError('reason is not a string');
      return { kind: 'failed', reason };
    }
    case 'continue':
      return { kind: 'continue', url: checkUrl('url', outcome.url) };
    default:
      throw new TypeError('the kind of the outcome is unknown');
  }
}

/** The URL as a header can contain it. */
function checkUrl(name: string, url: unknown): string {
  const parsed = typeof url === 'string' && URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol)) throw new TypeError(`${name} is not an http URL`);
  if (parsed.href.length > maxUrlLength) throw new TypeError(`${name} is longer than 64 KiB`);
  return parsed.href;
}

const maxUrlLength = 64 * 1024;

interface AcceptedResponse {
  readonly parameters: CallbackParameters;
  readonly result: AuthorizationResult;
}

async function listen(
  { callbackUrl, state, flow, issuer, authorizationUrl }: ReceiveAuthorizationOptions,
  finish: () => Promise<TabAnswer>,
): Promise<LoopbackServer<AcceptedResponse>> {
  try {
    const callbackUrls = typeof callbackUrl === 'string' ? [callbackUrl] : callbackUrl;
    return await startLoopback<AcceptedResponse>({
      callbackUrls,
      flow,
      authorizationOrigin:
        authorizationUrl === undefined ? '' : new URL(authorizationUrl(callbackUrls[0] ?? '')).origin,
      authorizationUrl: authorizationUrl ?? (() => ''),
      validate: (parameters, place) => {
        const result = validateResponse(parameters, place, { state, flow, issuer });
        return result === undefined ? undefined : { parameters, result };
      },
      finish,
      random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
      clock: systemClock,
    });
  } catch (error) {
    throw libraryError(error);
  }
}

function problemOf(result: AuthorizationResult): ReceiveAuthorizationError | undefined {
  if (result.kind === 'state_mismatch')
    return new ReceiveAuthorizationError(
      'state_mismatch',
      'the state of the authorization response is missing or different',
    );
  if (result.kind === 'malformed')
    return new ReceiveAuthorizationError('invalid_response', `the authorization response ${result.reason}`);
  return undefined;
}

/**
 * Converts an error of the program to an error of the library, without the hint, which names commands of the program.
 */
function libraryError(error: unknown): unknown {
  if (!(error instanceof CliError)) return error;
  const code = error.code === 'port_in_use' || error.code === 'state_mismatch' ? error.code : 'invalid_callback_url';
  return new ReceiveAuthorizationError(code, [error.message, error.detail].filter(Boolean).join(': '), error);
}
