import { CliError } from '../../base/errors.ts';
import type { HeldFileLock } from '../../platform/file-lock.ts';
import type { Signals } from '../../platform/host.ts';
import type { LoginOutcome } from '../loopback/index.ts';
import { type AuthorizationResult, needsInteraction, type TokenGrant } from '../oauth/index.ts';
import {
  type AuthorizationAttempt,
  type AuthorizationAttemptDeps,
  createAuthorizationAttempt,
  showInstructionsAndReceiveAuthorization,
} from './authorization-attempt.ts';
import {
  type AuthorizationReceiver,
  bindAuthorizationReceiver,
  createPastedAuthorizationReceiver,
} from './authorization-receiver.ts';
import { confirmGrantedOAuthScope, requireRequestedAccount, type ScopeMismatchPolicy } from './confirm-grant.ts';
import { credentialStoreUnavailableError, requireCredentialStoreAvailable } from './credential-store.ts';
import {
  type AuthorizationCodeExchangeDeps,
  type AuthorizationCodeExchangeInput,
  exchangeCodeForTokens,
} from './exchange-code.ts';
import { createLoginSignalHandler, type LoginSignalHandler } from './login-signal-handler.ts';
import type { OAuthLoginOptions } from './oauth-login-options.ts';
import {
  type AuthServerReachabilityCheckDeps,
  rejectWhenAuthServerUnreachable,
} from './reject-when-auth-server-unreachable.ts';
import { requireAuthorizationResponseGrant } from './require-authorization-response-grant.ts';
import { revokeReplacedSession, revokeTokenGrantAndThrow } from './revoke-grant.ts';
import { type LoginResult, type StoreLoginSessionDeps, storeLoginSession } from './store-login.ts';
import { formatCommandForProfile } from './suggested-commands.ts';

export interface LoginDeps
  extends AuthorizationCodeExchangeDeps,
    StoreLoginSessionDeps,
    AuthServerReachabilityCheckDeps,
    AuthorizationAttemptDeps {
  readonly signals: Signals;
  /** Acquires the lock for the whole login; returns undefined when another login of this profile is running. */
  readonly tryLoginLock: () => HeldFileLock | undefined;
  /** Throws when an environment variable would make Node print or expose the requests. */
  readonly requireSafe: () => void;
  readonly onOtherScope: ScopeMismatchPolicy;
  /**
   * Whether a login with `prompt=none` that requires user input continues in the same browser tab with the sign-in page. If
   * `canContinue` is false, a login that requires user input fails.
   */
  readonly canContinue: boolean;
  /** Reports the stored session in the terminal. */
  readonly report: (result: LoginResult) => Promise<void>;
}

/**
 * Logs in through the browser (https://www.rfc-editor.org/rfc/rfc8252): one login has one state parameter, one code exchange
 * and one stored session. Throws a CliError, in which case no session is stored.
 */
export async function performLogin(deps: LoginDeps, request: OAuthLoginOptions): Promise<LoginResult> {
  deps.requireSafe();
  const lock = requireLoginLock(deps);
  const ended = new AbortController();
  let receiver: AuthorizationReceiver | undefined;
  let interruption: LoginSignalHandler | undefined;
  try {
    await requireUsableStore(deps);
    let attempt = createAuthorizationAttempt(deps, request);
    receiver = await openReceiver(attempt, request);
    // The program listens for signals before it shows the URL, because a user who sees the URL may press Ctrl-C.
    interruption = createLoginSignalHandler(deps);
    const { signal } = interruption;

    let result = await awaitResponse(deps, request, { attempt, receiver, interruption, ended: ended.signal });
    if (deps.canContinue && needsPerson(result, request)) {
      const withPerson = { ...request, prompt: undefined, limit: Math.max(request.limit, personLimitMs) };
      attempt = createAuthorizationAttempt({ ...deps, callbackUrls: [receiver.callbackUrl] }, withPerson);
      receiver.showOutcome({ kind: 'continue', url: attempt.authorizationUrl(receiver.callbackUrl) });
      await receiver.closed;
      receiver = await openReceiver(attempt, request);
      const open = { attempt, receiver, interruption, isContinued: true, ended: ended.signal };
      result = await awaitResponse(deps, withPerson, open);
    }
    const authorized = requireAuthorizationResponseGrant(result, { request, loginCommands: deps.loginCommands });

    const { callbackUrl: redirectUri, showOutcome } = receiver;
    const exchange = { redirectUri, pkce: attempt.pkce, signal: ended.signal };
    const grant = await interruption.withGrace(obtainGrant(deps, authorized, exchange), {
      detail: 'the token request was abandoned 5 s after the signal; tokens that it may have issued are not stored',
      hint: `start again with ${deps.loginCommands.sameRequest}`,
    });

    const revoke = (error: unknown): Promise<never> => revokeTokenGrantAndThrow(deps, grant, error);
    const scope = await confirmGrant(deps, request, grant, signal, showOutcome).catch(revoke);
    const stored = await interruption.withGrace(
      storeLoginSession(deps, grant, { scope, flow: request.flow }).catch(revoke),
      {
        detail: 'the session was being stored, and may be stored',
        hint: `see ${formatCommandForProfile(deps.profile, 'auth status --check')}`,
      },
    );

    showOutcome(signedInOutcome(grant));
    // The new session is stored, also if it cannot be reported.
    await deps.report(stored).finally(() => revokeReplacedSession(deps, stored));
    interruption.throwIfInterrupted();
    await receiver.closed;
    return stored;
  } catch (error) {
    receiver?.showOutcome(failureOutcome(error));
    const isCancelled = error instanceof CliError && error.code === 'cancelled';
    interruption?.throwIfInterrupted();
    // The login waits for the browser tab only if a tab sent the accepted response.
    if (receiver?.isAccepted() === true && !isCancelled) await receiver.closed;
    throw error;
  } finally {
    // Requests in progress are aborted, because they would keep the process running until their own deadline.
    ended.abort();
    interruption?.close();
    await receiver?.close();
    lock.release();
  }
}

function openReceiver(
  attempt: AuthorizationAttempt,
  { listen }: OAuthLoginOptions,
): Promise<AuthorizationReceiver> | AuthorizationReceiver {
  return listen ? bindAuthorizationReceiver(attempt) : createPastedAuthorizationReceiver(attempt);
}

interface OpenAttempt {
  readonly attempt: AuthorizationAttempt;
  readonly receiver: AuthorizationReceiver;
  readonly interruption: LoginSignalHandler;
  readonly isContinued?: boolean;
  /** The signal that is aborted when the login has ended. */
  readonly ended: AbortSignal;
}

async function awaitResponse(
  deps: LoginDeps,
  request: OAuthLoginOptions,
  { attempt, receiver, interruption, ended, isContinued = false }: OpenAttempt,
): Promise<AuthorizationResult> {
  const { listen, limit } = request;
  const response = showInstructionsAndReceiveAuthorization(deps, { listen, isContinued }, receiver, attempt, ended);
  const orUnreachable = Promise.race([response, rejectWhenAuthServerUnreachable(deps, ended)]);
  return interruption.orInterrupt(orUnreachable, limit, () => loginTimeoutError(deps));
}

/** Whether a login without a page failed because a person must sign in or authorize the application (docs/service.md S4.10, S4.11). */
function needsPerson(result: AuthorizationResult, { prompt }: OAuthLoginOptions): boolean {
  return prompt === 'none' && result.kind === 'error' && needsInteraction(result.error);
}

/** Milliseconds for a person to sign in after a login without a page was refused. */
const personLimitMs = 300_000;

function requireLoginLock({ tryLoginLock, profile }: LoginDeps): HeldFileLock {
  const lock = tryLoginLock();
  if (lock !== undefined) return lock;
  throw new CliError('busy', `another login of profile "${profile.name}" is in progress`, {
    hint: 'finish or interrupt the other login first',
  });
}

/** A locked or missing keychain is reported before the user signs in in the browser. */
async function requireUsableStore({ store, profile }: LoginDeps): Promise<void> {
  requireCredentialStoreAvailable(await store.withItems((items) => items.read('credential')), profile);
  const failure = store.checkWritable?.();
  if (failure !== undefined) throw credentialStoreUnavailableError(failure, profile);
}

async function obtainGrant(
  deps: LoginDeps,
  authorized: ReturnType<typeof requireAuthorizationResponseGrant>,
  exchange: Omit<AuthorizationCodeExchangeInput, 'code'>,
): Promise<TokenGrant> {
  return 'grant' in authorized ? authorized.grant : exchangeCodeForTokens(deps, { ...authorized, ...exchange });
}

async function confirmGrant(
  { loginCommands, onOtherScope }: LoginDeps,
  request: OAuthLoginOptions,
  grant: TokenGrant,
  signal: AbortSignal,
  showOutcome: (outcome: LoginOutcome) => void,
): Promise<string> {
  requireRequestedAccount(grant, request, loginCommands);
  const onQuestion = (): void => showOutcome({ kind: 'unfinished' });
  return confirmGrantedOAuthScope(grant, { request, loginCommands, onOtherScope, onQuestion, signal });
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
      'if the page shows an error about the redirect URI or the scope, compare client_id, callback_urls and scope of `cloudctl config list` with the registered application',
    hint: `start again with ${loginCommands.sameRequest}, or allow more time with --login-timeout 15m`,
  });
}
