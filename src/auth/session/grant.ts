import { CliError, type CliErrorCode } from '../../base/errors.ts';
import { describeTeam } from '../../base/identity.ts';
import { sanitizeLine } from '../../base/sanitize.ts';
import { SendError } from '../../platform/http-sender.ts';
import { timeoutSignal } from '../../platform/waiting.ts';
import {
  type AuthorizationErrorCode,
  type AuthorizationResult,
  accountAndTeam,
  type CheckedCode,
  isSameScope,
  type OAuthClient,
  type Pkce,
  redeemCode,
  type TokenGrant,
} from '../oauth/index.ts';
import type { StoredAccount } from './account.ts';
import type { LoginRequest, ScopePolicy } from './authorize.ts';
import { noResponseError, tokenError } from './errors.ts';
import type { RetryCommands } from './hints.ts';
import { revokeGrant } from './logout.ts';
import { type SessionRun, sendTokens } from './run.ts';

interface GrantContext {
  readonly request: Pick<LoginRequest, 'prompt'>;
  readonly retry: RetryCommands;
}

/**
 * Returns the code or the grant of an authorization response whose state parameter was validated. Throws a CliError for every
 * authorization response without a code or grant.
 */
export function requireGrant(
  result: AuthorizationResult,
  context: GrantContext,
): { readonly code: CheckedCode } | { readonly grant: TokenGrant } {
  const { sameRequest } = context.retry;
  switch (result.kind) {
    case 'code':
      return { code: result.code };
    case 'implicit_grant':
      return { grant: result.grant.grant };
    case 'state_mismatch':
      throw new CliError('state_mismatch', 'the authorization response does not belong to this login', {
        detail: 'the state of the response is missing or different from the state of this login; no code was exchanged',
        hint: `start again with ${sameRequest} and use only the page that it opens`,
      });
    case 'malformed':
      throw new CliError('malformed_response', `the authorization response ${result.reason}`, {
        hint: malformedHint(context.retry),
      });
    case 'error':
      throw authorizationError(result.error, result.description, context);
    default:
      return result satisfies never;
  }
}

/** Maps error codes of an authorization response (RFC 6749 §4.1.2.1) to the errors that the user sees. */
const authorizationErrors: Readonly<
  Record<AuthorizationErrorCode, { readonly code: CliErrorCode; readonly message: string }>
> = {
  access_denied: { code: 'access_denied', message: 'the authorization was denied' },
  consent_required: { code: 'consent_required', message: 'this account has not authorized the application' },
  login_required: { code: 'login_required', message: 'the browser is not signed in to the expected account' },
  interaction_required: { code: 'login_required', message: 'the authorization server requires an action of the user' },
  account_selection_required: { code: 'login_required', message: 'the user must select an account' },
  invalid_scope: { code: 'invalid_scope', message: 'the authorization server rejected the requested scope' },
  server_error: { code: 'server_error', message: 'the authorization server failed' },
  temporarily_unavailable: {
    code: 'temporarily_unavailable',
    message: 'the authorization server is temporarily unavailable',
  },
  unsupported_response_type: { code: 'api_error', message: 'the authorization server does not support this flow' },
  unauthorized_client: { code: 'api_error', message: 'the application is not allowed to use this flow' },
  unknown: { code: 'api_error', message: 'the authorization server returned an error' },
};

function authorizationError(
  error: AuthorizationErrorCode,
  description: string | undefined,
  context: GrantContext,
): CliError {
  const { code, message } = authorizationErrors[error];
  // A login without --prompt none expects no particular account.
  const isUnexpected = error === 'login_required' && context.request.prompt !== 'none';
  return new CliError(code, isUnexpected ? 'the browser is not signed in' : message, {
    detail: description === undefined ? undefined : sanitizeLine(description),
    hint: authorizationHint(error, context),
  });
}

function authorizationHint(error: AuthorizationErrorCode, { retry, request }: GrantContext): string {
  const { sameRequest, otherFlow } = retry;
  switch (error) {
    // Some servers return these codes when a person declined or did not sign in.
    case 'consent_required':
    case 'login_required':
    case 'interaction_required':
    case 'account_selection_required':
      return request.prompt === 'none'
        ? `log in without --prompt none: ${sameRequest}`
        : `start again with ${sameRequest}, then sign in and authorize the application on the page that it opens`;
    // A server allows each flow (code, implicit) to an application separately (RFC 6749 §4.1.2.1 and §4.2.2.1).
    case 'unsupported_response_type':
    case 'unauthorized_client':
      return `log in with the other flow: ${otherFlow}`;
    default:
      return `start again with ${sameRequest}`;
  }
}

/** A server that returns the access token in another place, or writes the fragment in another form, does so in every login. */
function malformedHint({ flow, sameRequest, otherFlow }: RetryCommands): string {
  const again = `start again with ${sameRequest}`;
  return flow === 'code' ? again : `${again}; if the error persists, log in with the other flow: ${otherFlow}`;
}

interface CodeExchange {
  readonly client: OAuthClient;
  readonly retry: RetryCommands;
  /** Whether the server is known to follow docs/service.md, which sends the client credentials in the query. */
  readonly isSpecServer: () => boolean;
  readonly code: CheckedCode;
  readonly redirectUri: string;
  readonly pkce: Pkce | undefined;
  /** Aborts the token request. */
  readonly signal: AbortSignal;
}

/**
 * Exchanges an authorization code (https://www.rfc-editor.org/rfc/rfc6749#section-4.1.3). An authorization code can be used
 * once, so the request is repeated only if it was certainly not sent, at most three times in all. Throws one of the CliErrors
 * of errors.ts.
 */
export async function exchangeCode(
  run: Pick<SessionRun, 'send' | 'settings'>,
  { client, retry, isSpecServer, code, redirectUri, pkce, signal }: CodeExchange,
): Promise<TokenGrant> {
  const exchange = { code, redirectUri, verifier: pkce?.verifier };
  const loginCommand = retry.sameRequest;
  for (let attempt = 1; ; attempt++) {
    try {
      const deadline = timeoutSignal(30_000, signal);
      const result = await redeemCode(await sendTokens(run), client, exchange, deadline);
      if (result.kind === 'granted') return result.grant;
      // Tokens of a response that is otherwise no valid grant would stay valid.
      const partial = result.kind === 'malformed' ? result.partial : undefined;
      if (partial?.accessToken !== undefined)
        await revokeGrant({ ...run, client }, { ...partial, accessToken: partial.accessToken });
      const { authOrigin: origin, tokenParams } = client;
      throw tokenError(result, {
        operation: 'exchange',
        origin,
        profile: run.settings.profile,
        tokenParams,
        isSpecServer: isSpecServer(),
        loginCommand,
        loginCommandAfterSwitch: retry.profileTokenParams,
      });
    } catch (error) {
      if (!(error instanceof SendError)) throw error;
      if (error.sent || attempt === 3 || error.isFinal) throw noResponseError(error, 'exchange', { loginCommand });
    }
  }
}

interface ScopeQuestion {
  readonly request: LoginRequest;
  readonly retry: RetryCommands;
  readonly onOtherScope: ScopePolicy;
  /** Called before a question to the user: the browser tab gets its page immediately, because the user may take long to answer. */
  readonly onQuestion: () => void;
  /** Aborts the question to the user. */
  readonly signal: AbortSignal;
}

interface AccountContext {
  readonly retry: RetryCommands;
  /** The account of the last login of the profile, which may be the expected one. */
  readonly known: Pick<StoredAccount, 'hint' | 'email'> | undefined;
}

/** Throws `login_required` when the grant belongs to an account other than the requested one. */
export function requireAccount(grant: TokenGrant, request: LoginRequest, { retry, known }: AccountContext): void {
  const hint = request.accountHint?.toLowerCase();
  const expected = request.accountUuid?.toLowerCase();
  const uuid = grant.info?.uuid?.toLowerCase();
  const matchesHint = hint === undefined || uuid === undefined || uuid.startsWith(hint);
  requireRequestedTeam(grant, request, retry);
  if (matchesHint && (expected === undefined || expected === uuid)) return;
  throw new CliError('login_required', 'the browser is signed in to another account than the expected one', {
    detail: describeAccounts(grant, hint ?? expected?.slice(0, 6) ?? '', known),
    hint: `log in and choose the account: ${retry.chooseAccount}`,
  });
}

function describeAccounts({ info }: TokenGrant, hint: string, known: AccountContext['known']): string {
  const email = known?.hint?.toLowerCase() === hint ? known.email : undefined;
  const uuid = info?.uuid?.slice(0, 6).toLowerCase();
  const found = [info?.email, ...(uuid === undefined ? [] : [`UUID ${uuid}…`])].filter((part) => part !== undefined);
  const granted = found.length === 0 ? 'the server named no account' : `signed in: ${found.join(', ')}`;
  return sanitizeLine(`expected: ${email === undefined ? '' : `${email}, `}UUID ${hint}…; ${granted}`);
}

function requireRequestedTeam(grant: TokenGrant, { team, prompt }: LoginRequest, retry: RetryCommands): void {
  const granted = accountAndTeam(grant.info).team;
  if (team === undefined || team.toLowerCase() === granted?.toLowerCase()) return;
  throw new CliError('login_required', `the session was granted for another context than ${describeTeam(team)}`, {
    detail: `the server granted the session for the ${sanitizeLine(describeTeam(granted))}`,
    hint:
      prompt === 'none'
        ? `log in without --prompt none, and choose the context on the page: ${retry.sameRequest}`
        : `log in again and choose the ${describeTeam(team)} on the page that asks for access: ${retry.sameRequest}`,
  });
}

/**
 * Returns the scope that is stored with a grant. A grant without a scope has the requested scope (RFC 6749 §5.1). Throws
 * `scope_mismatch` when the granted scope differs from the requested one and is not accepted.
 */
export async function confirmScope(grant: TokenGrant, options: ScopeQuestion): Promise<string> {
  const { request, retry, onOtherScope, onQuestion, signal } = options;
  const requested = request.scope ?? 'read';
  const granted = grant.scope ?? requested;
  if (isSameScope(requested, granted) || onOtherScope === 'accept') return granted;
  if (onOtherScope !== 'refuse') {
    onQuestion();
    if (await onOtherScope(requested, granted, signal)) return granted;
  }
  throw new CliError('scope_mismatch', `the granted scope is "${sanitizeLine(granted)}", not "${requested}"`, {
    hint: `accept the granted scope with ${retry.acceptAnyScope}`,
  });
}
