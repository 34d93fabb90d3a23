import { tlsFailureHint } from '../../api/client.ts';
import { CliError } from '../../base/errors.ts';
import { probeOrigin } from '../../platform/connector.ts';
import { networkCode, SendError } from '../../platform/http-sender.ts';
import { createDeferred } from '../../platform/waiting.ts';
import {
  type ListenAddress,
  type OnRefusedPeer,
  type ResponseValidator,
  readPaste,
  startLoopback,
  type TabAnswer,
} from '../loopback/index.ts';
import {
  type AuthorizationResult,
  buildAuthorizationUrl,
  createPkce,
  createState,
  type OAuthFlow,
  type Pkce,
  validateResponse,
} from '../oauth/index.ts';
import type { StoredAccount } from './account.ts';
import { unreachableHint } from './hints.ts';
import type { SessionRecord } from './record.ts';
import type { SessionRun } from './run.ts';

/** What one login asks for. */
export interface LoginRequest {
  readonly flow: OAuthFlow;
  /** The requested scope; if undefined, the parameter is omitted, which means `read` (docs/service.md S3.1). */
  readonly scope: string | undefined;
  readonly prompt: string | undefined;
  /** The first 6 characters of the account's UUID. */
  readonly accountHint: string | undefined;
  /** The complete UUID of the expected account. A grant of another account is refused, and so is a grant that names no account. */
  readonly accountUuid?: string | undefined;
  /**
   * The expected context: `personal` or the UUID of a team. A grant in another context is refused, and so is a grant
   * that names no account.
   */
  readonly team?: string | undefined;
  readonly pkce: boolean;
  /** False with `--paste`: no port is bound, and the user pastes the redirect URL. */
  readonly listen: boolean;
  /** Where the listener listens instead of at the address of the callback URL. */
  readonly listenAddress?: ListenAddress | undefined;
  /** Time limit for the authorization response, in milliseconds. */
  readonly limit: number;
  /** The flow of the profile; a suggested login command with this flow needs no `--flow`. */
  readonly profileFlow?: OAuthFlow | undefined;
  /** The typed options that a suggested login command repeats, each with its quoted value. */
  readonly typed?: readonly string[] | undefined;
}

/** The URLs of a login that the user may need. */
export interface LoginUrls {
  readonly authorizationUrl: string;
  /** A one-time URL for the command that opens the browser, whose arguments other users can see; absent without a listener. */
  readonly startUrl: string | undefined;
  /** A short URL that leads to the authorization URL where the port is forwarded; absent without a listener. */
  readonly shortUrl?: string | undefined;
  readonly callbackUrl: string;
}

/**
 * What happens when the granted scope differs from the requested one: store the session, refuse it, or ask the user (rejects
 * when `signal` is aborted).
 */
export type ScopePolicy =
  | 'accept'
  | 'refuse'
  | ((requested: string, granted: string, signal: AbortSignal) => Promise<boolean>);

/** What a login has stored. */
export interface LoginResult {
  readonly record: SessionRecord;
  readonly account: StoredAccount;
  /** Whether the grant named no scope, so that the requested scope is assumed. */
  readonly isScopeAssumed: boolean;
  /** Whether the grant named no lifetime, so that the lifetime of docs/service.md S2.7 is assumed. */
  readonly isLifetimeAssumed: boolean;
  readonly isAccountKnown: boolean;
  /** The session that the login replaced, if it was at the same servers. */
  readonly replaced: SessionRecord | undefined;
}

/** Messages and questions of a login, which the command that logs in shows. */
export interface LoginDialog {
  /** Prints the authorization URL and opens the browser; called once the listener is bound. */
  readonly showInstructions: (addresses: LoginUrls, options: { readonly isContinued: boolean }) => Promise<void>;
  /** The lines that the user pastes, until `signal` is aborted. */
  readonly pastedLines: (signal: AbortSignal) => AsyncIterable<string>;
  readonly reportRejectedPaste: (kind: 'incomplete' | 'other_login' | 'unreadable') => Promise<void>;
  readonly onRefusedPeer?: OnRefusedPeer;
  /** Called when the listener refused a request of which this part is too long. */
  readonly onOversizedRequest?: (part: 'headers' | 'body') => void;
  /**
   * Whether a login with `prompt=none` that requires user input continues in the same browser tab with the sign-in page. If
   * `canContinue` is false, a login that requires user input fails.
   */
  readonly canContinue: boolean;
  readonly onOtherScope: ScopePolicy;
  /** Reports the stored session in the terminal. */
  readonly report: (result: LoginResult) => Promise<void>;
}

/** One authorization request with its own state parameter and PKCE verifier, and the validation of its response. */
export interface Attempt {
  readonly pkce: Pkce | undefined;
  /** Creates the authorization URL for a redirect URI. */
  readonly authorizationUrl: (redirectUri: string) => string;
  readonly validate: ResponseValidator<AuthorizationResult>;
}

/** Creates the authorization request of a login, and the function that validates its response with the same state parameter. */
export function createAttempt(
  { host, binding, settings }: Pick<SessionRun, 'host' | 'binding' | 'settings'>,
  { flow, scope, prompt, accountHint, pkce: isPkce }: LoginRequest,
): Attempt {
  const state = createState(host.random);
  const pkce = isPkce && flow === 'code' ? createPkce(host.random) : undefined;
  const { authOrigin, clientId } = binding;
  return {
    pkce,
    authorizationUrl: (redirectUri) =>
      buildAuthorizationUrl({
        ...{ authOrigin, clientId, redirectUri, flow, scope, state, prompt },
        accountHint: prompt === 'none' ? accountHint : undefined,
        challenge: pkce?.challenge,
      }),
    validate: (parameters, location) =>
      validateResponse(parameters, location, { state, flow, issuer: settings.values.issuer }),
  };
}

/** Receives one authorization response. */
export interface Receiver extends LoginUrls {
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

/**
 * Receives the response of an attempt at the first callback URL that can be bound (port 0 means any free port), or with
 * `--paste` only from pasted lines. Throws `port_in_use` or `config_invalid` when none of the callback URLs can be used.
 */
export async function openReceiver(
  { host, binding }: Pick<SessionRun, 'host' | 'binding'>,
  { listen, listenAddress, flow }: LoginRequest,
  { onRefusedPeer, onOversizedRequest }: LoginDialog,
  attempt: Attempt,
  callbackUrls: readonly string[],
): Promise<Receiver> {
  if (!listen) return createPastedReceiver(callbackUrls, attempt);
  const outcome = createDeferred<TabAnswer>();
  const server = await startLoopback<AuthorizationResult>({
    ...{ ...attempt, callbackUrls, flow, listenAddress, onRefusedPeer, onOversizedRequest },
    authorizationOrigin: binding.authOrigin,
    random: host.random,
    clock: host.clock,
    finish: () => outcome.promise,
  });
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
function createPastedReceiver([callbackUrl]: readonly string[], { authorizationUrl }: Attempt): Receiver {
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

/** Shows the instructions, then waits for the redirect or a pasted response, whichever is accepted first. */
export async function receiveResponse(
  dialog: LoginDialog,
  { listen }: LoginRequest,
  receiver: Receiver,
  attempt: Attempt,
  { isContinued, signal }: { readonly isContinued: boolean; readonly signal: AbortSignal },
): Promise<AuthorizationResult> {
  await dialog.showInstructions(receiver, { isContinued });
  const reading = new AbortController();
  const pasted = readPastedResponses(dialog, receiver, attempt, AbortSignal.any([signal, reading.signal]), listen);
  // If the loopback listener waits for the redirect, an error in reading the terminal does not end the login.
  pasted.catch(() => undefined);
  try {
    if (listen) return await receiver.response;
    return await Promise.race([receiver.response, pasted.then(() => failUnlessAccepted(receiver))]);
  } finally {
    reading.abort();
  }
}

/** Returns when a pasted response was accepted or the input has ended. */
async function readPastedResponses(
  dialog: LoginDialog,
  receiver: Receiver,
  { validate }: Attempt,
  signal: AbortSignal,
  isListening: boolean,
): Promise<void> {
  let mismatch: AuthorizationResult | undefined;
  for await (const line of dialog.pastedLines(signal)) {
    if (line.trim() === '') continue;
    const pasted = readPaste(line, validate);
    if (pasted.kind === 'accepted' && pasted.accepted.kind === 'state_mismatch') {
      // The user may have pasted the address of an earlier login.
      mismatch = pasted.accepted;
      await dialog.reportRejectedPaste('other_login');
      continue;
    }
    if (pasted.kind === 'accepted') {
      receiver.accept(pasted.accepted);
      return;
    }
    await dialog.reportRejectedPaste(pasted.kind);
  }
  if (mismatch !== undefined && !isListening && !signal.aborted) receiver.accept(mismatch);
}

function failUnlessAccepted(receiver: Receiver): Promise<never> {
  if (receiver.isAccepted()) return new Promise<never>(() => {});
  throw new CliError('usage', 'no redirect URL was pasted before the input ended', {
    hint: 'run the command again and paste the whole address of the last page',
  });
}

/** The number of connection attempts and the milliseconds between them, for a server that restarts within a few seconds. */
const attempts = 3;
const pauseMs = 1_000;
/** Time limit of a connection to the authorization server, in milliseconds. */
const probeLimitMs = 10_000;

/**
 * Resolves when this machine has connected to the authorization server; rejects when it cannot, which would otherwise be noticed
 * only after the user has signed in, or never.
 */
export async function requireReachable(
  { host, binding, settings }: Pick<SessionRun, 'host' | 'binding' | 'settings'>,
  signal: AbortSignal,
  probe = (): Promise<void> => probeOrigin(binding.authOrigin, host.env, probeLimitMs),
  onFailure: (error: SendError) => void = () => {},
): Promise<void> {
  for (let attempt = 1; !signal.aborted; attempt++) {
    try {
      return await probe();
    } catch (error) {
      if (!(error instanceof SendError)) throw error;
      onFailure(error);
      if (attempt === attempts || error.isFinal)
        throw new CliError(networkCode(error), `could not log in: ${error.message}`, {
          hint: error.hint ?? (error.kind === 'tls' ? tlsFailureHint(error) : unreachableHint(settings, 'auth_url')),
          cause: error,
        });
    }
    await host.clock.sleep(pauseMs, signal).catch(() => undefined);
  }
}
