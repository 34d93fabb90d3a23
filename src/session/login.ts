import { CliError } from '../errors.ts';
import type { LoginOutcome } from '../loopback/outcome-page.ts';
import { evaluatePaste } from '../loopback/pasted-response.ts';
import { type AuthorizationResult, validateAuthorizationResponse } from '../oauth/authorization-response.ts';
import { authorizationUrl, createOAuthState } from '../oauth/authorization-url.ts';
import { createPkce, type Pkce } from '../oauth/pkce.ts';
import type { TokenGrant } from '../oauth/token-grant.ts';
import type { HeldLock } from '../platform/file-lock.ts';
import type { Signals } from '../platform/host.ts';
import { requireAuthorization } from './authorization-errors.ts';
import { acceptGrantedScope, requireRequestedAccount, type ScopeMismatchPolicy } from './confirm-grant.ts';
import { requireAvailable } from './credential-store.ts';
import { type CodeExchange, type ExchangeDeps, exchangeCode } from './exchange-code.ts';
import { createLoginInterruption, type LoginInterruption } from './login-interruption.ts';
import type { LoginRequest } from './login-request.ts';
import {
  bindReceiver,
  createPasteReceiver,
  type LoginAddresses,
  type ReceiverOptions,
  type ResponseReceiver,
} from './response-receiver.ts';
import { revokeAndThrow, revokeGrant } from './revoke-grant.ts';
import { rejectIfUnreachable, type ServerWatchDeps } from './server-watch.ts';
import { type LoginResult, type StoreLoginDeps, storeLogin } from './store-login.ts';

export interface LoginDeps extends ExchangeDeps, StoreLoginDeps, ServerWatchDeps {
  readonly callbackUrls: readonly string[];
  readonly issuer: string | undefined;
  readonly signals: Signals;
  /** Held for the whole login; undefined when another login of this profile is running. */
  readonly tryLoginLock: () => HeldLock | undefined;
  /** Throws when the environment would print or expose the requests. */
  readonly requireSafe: () => void;
  readonly onOtherScope: ScopeMismatchPolicy;
  /** Prints the authorization URL and opens the browser; called once the listener is bound. */
  readonly showInstructions: (addresses: LoginAddresses) => Promise<void>;
  /** Lines that a person pastes, until `signal` is aborted. */
  readonly pastedLines: (signal: AbortSignal) => AsyncIterable<string>;
  readonly reportRejectedPaste: (kind: 'incomplete' | 'unreadable') => Promise<void>;
  /** Reports the stored session in the terminal. */
  readonly report: (result: LoginResult) => Promise<void>;
}

/**
 * Logs in through the browser (https://www.rfc-editor.org/rfc/rfc8252): one login has one state, one code exchange and one
 * stored session. Throws a CliError; nothing is stored then.
 */
export async function performLogin(deps: LoginDeps, request: LoginRequest): Promise<LoginResult> {
  deps.requireSafe();
  const lock = requireLoginLock(deps);
  const ended = new AbortController();
  let receiver: ResponseReceiver | undefined;
  let interruption: LoginInterruption | undefined;
  try {
    await requireUsableStore(deps);
    const authorization = createAuthorization(deps, request);
    receiver = request.listen ? await bindReceiver(authorization) : createPasteReceiver(authorization);
    // Before the URL is shown: whoever sees it may send a signal.
    interruption = createLoginInterruption(deps);
    const { signal } = interruption;

    const response = receiveResponse(deps, request, receiver, authorization, ended.signal);
    const orUnreachable = Promise.race([response, rejectIfUnreachable(deps, ended.signal)]);
    const result = await interruption.orInterrupt(orUnreachable, request.limit, () => loginTimeoutError(deps));
    const authorized = requireAuthorization(result, { request, loginCommands: deps.loginCommands });

    const { callbackUrl: redirectUri, showOutcome } = receiver;
    const exchange = { redirectUri, pkce: authorization.pkce, signal: ended.signal };
    const grant = await interruption.withGrace(obtainGrant(deps, authorized, exchange));

    const revoke = (error: unknown): Promise<never> => revokeAndThrow(deps, grant, error);
    const scope = await confirmGrant(deps, request, grant, signal, showOutcome).catch(revoke);
    const stored = await interruption.withGrace(storeLogin(deps, grant, { scope, flow: request.flow }).catch(revoke));

    showOutcome(signedInOutcome(grant));
    await deps.report(stored);
    await revokeReplaced(deps, stored);
    interruption.throwIfInterrupted();
    await receiver.closed;
    return stored;
  } catch (error) {
    receiver?.showOutcome(failureOutcome(error));
    interruption?.throwIfInterrupted();
    // Only a tab that brought a response waits for its page.
    const isCancelled = error instanceof CliError && error.code === 'cancelled';
    if (receiver?.isAccepted() === true && !isCancelled) await receiver.closed;
    throw error;
  } finally {
    // A request in progress would keep the process alive until its own deadline.
    ended.abort();
    interruption?.close();
    await receiver?.close();
    lock.release();
  }
}

function requireLoginLock({ tryLoginLock, profile }: LoginDeps): HeldLock {
  const lock = tryLoginLock();
  if (lock !== undefined) return lock;
  throw new CliError('busy', `another login of profile "${profile}" is in progress`, {
    hint: 'finish or interrupt the other login first',
  });
}

/** A locked or missing keychain is reported before a person goes through the browser. */
async function requireUsableStore({ store, profile }: LoginDeps): Promise<void> {
  requireAvailable(await store.withItems((items) => items.read('credential')), profile);
}

interface Authorization extends ReceiverOptions {
  readonly pkce: Pkce | undefined;
}

/** The authorization request of this login, and the validation of its response by the same state. */
function createAuthorization(deps: LoginDeps, request: LoginRequest): Authorization {
  const state = createOAuthState(deps.random);
  const pkce = request.pkce && request.flow === 'code' ? createPkce(deps.random) : undefined;
  const { authOrigin, clientId } = deps.client;
  const { flow, scope, prompt, accountHint } = request;
  return {
    callbackUrls: deps.callbackUrls,
    flow,
    authorizationOrigin: authOrigin,
    random: deps.random,
    clock: deps.clock,
    pkce,
    authorizationUrl: (redirectUri) =>
      authorizationUrl({
        authOrigin,
        clientId,
        redirectUri,
        flow,
        scope,
        state,
        prompt,
        accountHint,
        challenge: pkce?.challenge,
      }),
    validate: (parameters, location) =>
      validateAuthorizationResponse(parameters, location, { state, flow, issuer: deps.issuer }),
  };
}

/** Shows the instructions, then waits for the redirect or a pasted response, whichever is accepted first. */
async function receiveResponse(
  deps: LoginDeps,
  request: LoginRequest,
  receiver: ResponseReceiver,
  authorization: Authorization,
  signal: AbortSignal,
): Promise<AuthorizationResult> {
  await deps.showInstructions(receiver);
  const reading = new AbortController();
  const pasted = readPastedResponses(deps, receiver, authorization, AbortSignal.any([signal, reading.signal]));
  // With a listener, a terminal that cannot be read does not end the login.
  pasted.catch(() => undefined);
  try {
    if (request.listen) return await receiver.response;
    return await Promise.race([receiver.response, pasted.then(() => failUnlessAccepted(receiver))]);
  } finally {
    reading.abort();
  }
}

/** Returns when a pasted response was accepted, or the input has ended. */
async function readPastedResponses(
  deps: LoginDeps,
  receiver: ResponseReceiver,
  { validate }: Authorization,
  signal: AbortSignal,
): Promise<void> {
  for await (const line of deps.pastedLines(signal)) {
    if (line.trim() === '') continue;
    const pasted = evaluatePaste(line, validate);
    if (pasted.kind === 'accepted') {
      receiver.accept(pasted.accepted);
      return;
    }
    await deps.reportRejectedPaste(pasted.kind);
  }
}

function failUnlessAccepted(receiver: ResponseReceiver): Promise<never> {
  if (receiver.isAccepted()) return new Promise<never>(() => {});
  throw new CliError('usage', 'no redirect URL was pasted before the input ended', {
    hint: 'run the command again and paste the whole address of the last page',
  });
}

async function obtainGrant(
  deps: LoginDeps,
  authorized: ReturnType<typeof requireAuthorization>,
  exchange: Omit<CodeExchange, 'code'>,
): Promise<TokenGrant> {
  return 'grant' in authorized ? authorized.grant : exchangeCode(deps, { ...authorized, ...exchange });
}

async function confirmGrant(
  { loginCommands, onOtherScope }: LoginDeps,
  request: LoginRequest,
  grant: TokenGrant,
  signal: AbortSignal,
  showOutcome: (outcome: LoginOutcome) => void,
): Promise<string> {
  requireRequestedAccount(grant, request, loginCommands);
  const onQuestion = (): void => showOutcome({ kind: 'unfinished' });
  return acceptGrantedScope(grant, { request, loginCommands, onOtherScope, onQuestion, signal });
}

/**
 * Revokes the session that the login replaced. Only at a server of spec.md: elsewhere a revocation may end all grants of the
 * application (RFC 7009 §2.1), the new one included. A failure changes nothing, because its tokens are no longer stored.
 */
async function revokeReplaced(deps: LoginDeps, { replaced }: LoginResult): Promise<void> {
  if (replaced === undefined || deps.client.tokenParams !== 'query' || !deps.isSpecServer()) return;
  await revokeGrant(deps, replaced);
}

function signedInOutcome({ info }: TokenGrant): LoginOutcome {
  return { kind: 'signed_in', name: info?.name, email: info?.email, team: info?.teamName };
}

function failureOutcome(error: unknown): LoginOutcome {
  if (!(error instanceof CliError))
    return { kind: 'failed', reason: 'The program failed; the terminal shows the error' };
  if (error.code === 'access_denied') return { kind: 'access_denied' };
  if (error.code === 'state_mismatch') return { kind: 'state_mismatch' };
  return { kind: 'failed', reason: `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}` };
}

function loginTimeoutError({ loginCommands }: LoginDeps): CliError {
  return new CliError('login_timeout', 'could not log in: no response from the browser in time', {
    detail:
      'if the page shows an error about the redirect URI or the scope, compare client_id, callback_urls and scope with the registered application',
    hint: `start again with ${loginCommands.sameRequest}, or allow more time with --login-timeout 15m`,
  });
}
