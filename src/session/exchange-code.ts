import { tlsHintFor } from '../api/client.ts';
import { CliError, type ErrorCode } from '../errors.ts';
import type { AuthorizationErrorCode, AuthorizationResult } from '../oauth/authorization-response.ts';
import type { Pkce } from '../oauth/pkce.ts';
import {
  exchangeRequest,
  type OAuthClient,
  processRevocationResponse,
  processTokenResponse,
  revokeRequest,
  sendTokenRequest,
  type TokenResult,
} from '../oauth/token-endpoint.ts';
import type { TokenGrant } from '../oauth/token-grant.ts';
import { type HttpSender, SendError, sendErrorCode } from '../platform/http-sender.ts';
import type { LoginRequest } from './login-request.ts';
import { isServerFailure } from './send-refresh.ts';
import { type LoginCommands, otherTokenParamsCommand, profileCommand } from './suggested-commands.ts';

export interface ExchangeDeps {
  readonly client: OAuthClient;
  readonly createSender: () => Promise<HttpSender>;
  readonly pkce: Pkce | undefined;
  /** Cleans a server's text for the terminal. */
  readonly sanitize: (text: string) => string;
  readonly profile: string;
  readonly loginCommands: LoginCommands;
  /** The server is known to be of spec.md's kind, which takes credentials in the query. */
  readonly isSpecServer: () => boolean;
  readonly request: Pick<LoginRequest, 'prompt'>;
  /** Aborted when nobody waits for the exchange any more. */
  readonly abandon: AbortSignal;
}

/** Turns a judged response into a grant, or into the error a user should see. */
export async function obtainGrant(
  deps: ExchangeDeps,
  judgement: AuthorizationResult,
  redirectUri: string,
): Promise<TokenGrant> {
  switch (judgement.kind) {
    case 'code':
      return exchangeCode(deps, judgement, redirectUri);
    case 'implicit_grant':
      return judgement.grant.grant;
    case 'state_mismatch':
      throw new CliError('state_mismatch', 'the answer does not belong to this login', {
        detail: 'it came without the state this login sent, or with another; nothing was exchanged',
        hint: `start again with ${deps.loginCommands.sameRequest} and use only the page it opens`,
      });
    case 'malformed':
      throw new CliError('malformed_response', `the authorization response ${judgement.reason}`, {
        hint: hintAfterMalformed(deps),
      });
    case 'error':
      throw authorizationError(deps, judgement.error, judgement.description);
    default:
      return judgement satisfies never;
  }
}

/** Invalidates a grant that will not be kept; false when the server could not be told. */
export async function revokeGrant(
  deps: Pick<ExchangeDeps, 'client' | 'createSender'>,
  { accessToken, refreshToken }: Pick<TokenGrant, 'accessToken' | 'refreshToken'>,
): Promise<boolean> {
  const isOwn = deps.client.tokenParams === 'query';
  // Elsewhere the refresh token may outlive the access token that came with it (RFC 7009 §2.1).
  const tokens = isOwn || refreshToken === undefined ? [accessToken] : [refreshToken, accessToken];
  const headers = isOwn ? { authorization: `Bearer ${accessToken.reveal()}` } : {};
  const signal = AbortSignal.timeout(5_000);
  try {
    const failures: (string | undefined)[] = [];
    for (const token of tokens) {
      const request = revokeRequest(deps.client, token);
      failures.push(
        processRevocationResponse(await sendTokenRequest(await deps.createSender(), request, signal, headers)),
      );
    }
    return failures.every((failure) => failure === undefined);
  } catch (error) {
    if (error instanceof SendError) return false;
    throw error;
  }
}

async function exchangeCode(
  deps: ExchangeDeps,
  judged: Extract<AuthorizationResult, { kind: 'code' }>,
  redirectUri: string,
): Promise<TokenGrant> {
  const request = exchangeRequest(deps.client, judged.code, redirectUri, deps.pkce?.verifier);
  const result = await sendExchange(deps, request);
  if (result.kind === 'granted') return result.grant;
  throw exchangeError(deps, result);
}

/** A code serves once, so only an exchange that never left this machine is tried again. */
async function sendExchange(deps: ExchangeDeps, request: ReturnType<typeof exchangeRequest>): Promise<TokenResult> {
  for (let attempt = 1; ; attempt++) {
    try {
      const signal = AbortSignal.any([deps.abandon, AbortSignal.timeout(30_000)]);
      return processTokenResponse(await sendTokenRequest(await deps.createSender(), request, signal));
    } catch (error) {
      if (!(error instanceof SendError)) throw error;
      if (error.sent || attempt === 3 || error.kind === 'tls') throw exchangeUnreachableError(deps, error);
    }
  }
}

function exchangeUnreachableError(deps: ExchangeDeps, error: SendError): CliError {
  const code = sendErrorCode(error);
  return new CliError(code, `could not exchange the authorization code: ${error.message}`, {
    hint:
      code === 'tls'
        ? tlsHintFor(error)
        : `start again with ${deps.loginCommands.sameRequest} when the server can be reached`,
    cause: error,
  });
}

function exchangeError(deps: ExchangeDeps, result: Exclude<TokenResult, { kind: 'granted' }>): CliError {
  const status = result.status;
  if (result.kind === 'malformed' && isServerFailure(status)) {
    return new CliError('api_error', `could not exchange the authorization code: the server answered ${status}`, {
      detail: deps.client.authOrigin,
      hint: `start again later with ${deps.loginCommands.sameRequest}`,
      status,
    });
  }
  if (result.kind === 'malformed') {
    return new CliError(
      'api_error',
      'could not exchange the authorization code: the answer of the authorization server is not understood',
      {
        detail: `${deps.client.authOrigin}: ${result.reason}`,
        hint: `check auth_url with \`cloudctl config list\`${formHint(deps, status)}`,
        status,
      },
    );
  }
  const detail = result.description === undefined ? undefined : deps.sanitize(result.description);
  if (result.error === 'invalid_client') {
    return new CliError('invalid_client', 'the authorization server does not accept the client ID and secret', {
      detail,
      hint: `${profileCommand(deps.profile, 'auth setup')} sets them${otherParamsHint(deps)}`,
      status,
    });
  }
  if (result.error === 'invalid_grant') {
    return new CliError('invalid_grant', 'the authorization server does not accept the authorization code', {
      detail,
      hint: deps.loginCommands.sameRequest,
      status,
    });
  }
  return new CliError(
    'api_error',
    `could not exchange the authorization code: the server answered ${deps.sanitize(result.error)}`,
    { detail, hint: hintAfterOtherError(deps, result.error), status },
  );
}

function hintAfterOtherError(deps: ExchangeDeps, error: string): string {
  const { client, profile, loginCommands: login } = deps;
  // Some servers say it of credentials that they do not find or know, for which RFC 6749 §5.2 has invalid_client.
  if (error === 'unauthorized_client')
    return `see in the registration of the application that it may use this flow; ${profileCommand(profile, 'auth setup')} sets its client ID and secret${otherParamsHint(deps)}`;
  // What a server says that looks for the parameters in the body, and finds none (RFC 6749 §4.1.3).
  const isElsewhere = ['invalid_request', 'unsupported_grant_type'].includes(error) && client.tokenParams === 'query';
  return isElsewhere ? `${otherTokenParamsCommand(profile, 'query')}, then ${login.sameRequest}` : login.sameRequest;
}

/** A server that finds nothing where it looks may have no words for that. */
function formHint(
  { client, profile, isSpecServer: isOfSpec, loginCommands: login }: ExchangeDeps,
  status: number,
): string {
  if (client.tokenParams !== 'query' || status < 400 || isOfSpec()) return '';
  return `; if it is right, the server may want a form: ${otherTokenParamsCommand(profile, 'query')}, then ${login.sameRequest}`;
}

/**
 * Some servers look for the credentials in one place only (RFC 6749 §2.3.1 lets them), never in the query unless they are of
 * the kind of spec.md §4.2, and say no more than that there are none.
 */
function otherParamsHint({ client, profile, isSpecServer: isOfSpec }: ExchangeDeps): string {
  if (isOfSpec() && client.tokenParams === 'query') return '';
  return `; if they are right, the server may look for them elsewhere: ${otherTokenParamsCommand(profile, client.tokenParams)}`;
}

const authorizationErrorTexts: Readonly<
  Record<AuthorizationErrorCode, { readonly code: ErrorCode; readonly message: string }>
> = {
  access_denied: { code: 'access_denied', message: 'the authorization was refused' },
  consent_required: { code: 'consent_required', message: 'this account has not authorized the application yet' },
  login_required: {
    code: 'login_required',
    message: 'the browser is not signed in to the expected account',
  },
  invalid_scope: { code: 'invalid_scope', message: 'the authorization server does not know the requested scope' },
  server_error: { code: 'server_error', message: 'the authorization server failed' },
  temporarily_unavailable: {
    code: 'temporarily_unavailable',
    message: 'the authorization server is temporarily unavailable',
  },
  unsupported_response_type: { code: 'api_error', message: 'the authorization server does not offer this flow' },
  unauthorized_client: { code: 'api_error', message: 'the application may not use this flow' },
  unknown: { code: 'api_error', message: 'the authorization server answered with an error' },
};

function authorizationError(
  deps: ExchangeDeps,
  error: AuthorizationErrorCode,
  description: string | undefined,
): CliError {
  const { code, message } = authorizationErrorTexts[error];
  const isUnexpected = error === 'login_required' && deps.request.prompt !== 'none';
  return new CliError(code, isUnexpected ? 'the browser is not signed in' : message, {
    detail: description === undefined ? undefined : deps.sanitize(description),
    hint: hintAfterAuthorizationError(deps, error),
  });
}

/** A server that writes the fragment in its own way, or puts the access token elsewhere, does so each time. */
function hintAfterMalformed({ loginCommands: login }: ExchangeDeps): string {
  const same = `start again with ${login.sameRequest}`;
  return login.flow === 'code' ? same : `${same}; if it stays so, log in with the other flow: ${login.otherFlow}`;
}

function hintAfterAuthorizationError(
  { loginCommands: login, request }: ExchangeDeps,
  error: AuthorizationErrorCode,
): string {
  switch (error) {
    // Some servers answer so to a person who refused, or did not sign in.
    case 'consent_required':
    case 'login_required':
      return request.prompt === 'none'
        ? `log in without --prompt none: ${login.sameRequest}`
        : `start again with ${login.sameRequest}, sign in and agree on the page it opens`;
    // Each flow is allowed by itself (RFC 6749 §4.1.2.1 and §4.2.2.1).
    case 'unsupported_response_type':
    case 'unauthorized_client':
      return `log in with the other flow: ${login.otherFlow}`;
    default:
      return `start again with ${login.sameRequest}`;
  }
}
