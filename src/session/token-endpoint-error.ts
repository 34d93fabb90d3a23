import { buildTlsFailureHint } from '../api/client.ts';
import type { ProfileReference } from '../config/settings.ts';
import { CliError, type CliErrorCode } from '../errors.ts';
import type { TokenEndpointFailure, TokenEndpointParameterPlacement } from '../oauth/token-endpoint.ts';
import { type HttpSendError, readHttpSendErrorCode } from '../platform/http-sender.ts';
import { sanitizeLine } from '../sanitize/terminal-text.ts';
import { sessionEndedMessage } from './stored-session.ts';
import { formatCommandForProfile, formatTokenParamsSwitchCommand } from './suggested-commands.ts';

/** What a request to the token endpoint or the revocation endpoint was sent for. */
export type TokenOperation = 'exchange' | 'refresh' | 'revokeAccessToken' | 'revokeRefreshToken';

export interface TokenErrorContext {
  readonly operation: TokenOperation;
  /** Origin of the authorization server. */
  readonly origin: string;
  readonly profile: ProfileReference;
  readonly tokenParams: TokenEndpointParameterPlacement;
  /** Whether the server is known to implement spec.md, which sends the parameters in the query (spec.md §4.2). */
  readonly isSpecServer: boolean;
  /** The command that logs in again, in backquotes. */
  readonly loginCommand: string;
  /** The command that logs in after `token_params` of the profile was changed (default: `loginCommand`). */
  readonly loginCommandAfterSwitch?: string;
  /** The consequence for the session, which is added to the detail of the error. */
  readonly consequence?: string;
}

interface TokenErrorRow {
  readonly code: CliErrorCode;
  /** The reason completes the sentence "could not <operation>: <reason>". */
  readonly reason: string;
  readonly hint: keyof typeof hints;
}

/**
 * The only table of errors of the token and revocation endpoints: maps the error code (RFC 6749 §5.2, RFC 7009 §2.2.1) to the
 * error that the user sees. An entry for one operation takes precedence over the general entry of the error code.
 */
const tokenErrors: Readonly<Record<string, TokenErrorRow & Partial<Record<TokenOperation, TokenErrorRow>>>> = {
  invalid_client: {
    code: 'invalid_client',
    reason: 'the authorization server rejected the client ID or the client secret',
    hint: 'checkClient',
  },
  invalid_grant: {
    code: 'invalid_grant',
    reason: 'the authorization server rejected the grant',
    hint: 'retry',
    exchange: {
      code: 'invalid_grant',
      reason: 'the authorization server rejected the authorization code',
      hint: 'retry',
    },
    refresh: {
      code: 'needs_login',
      reason: 'the authorization server rejected the refresh token',
      hint: 'sendCredentials',
    },
  },
  // Some servers return unauthorized_client for missing or unknown client credentials, for which RFC 6749 §5.2 specifies
  // invalid_client.
  unauthorized_client: {
    code: 'api_error',
    reason: 'the authorization server does not allow this application to use this grant type',
    hint: 'checkClient',
  },
  // A server that expects form parameters but receives an empty body returns invalid_request or unsupported_grant_type (RFC
  // 6749 §4.1.3).
  invalid_request: {
    code: 'api_error',
    reason: 'the authorization server rejected the parameters of the request',
    hint: 'sendForm',
  },
  unsupported_grant_type: {
    code: 'api_error',
    reason: 'the authorization server does not support this grant type',
    hint: 'sendForm',
  },
  invalid_scope: { code: 'api_error', reason: 'the authorization server rejected the scope', hint: 'retry' },
};

const otherError: TokenErrorRow = {
  code: 'api_error',
  reason: 'the authorization server returned an error',
  hint: 'retry',
};

/** The error for a server response without an error code of OAuth. */
const serverFailure: TokenErrorRow = {
  code: 'api_error',
  reason: 'the authorization server failed',
  hint: 'retryLaterOrSendForm',
};
const rateLimited: TokenErrorRow = {
  code: 'api_error',
  reason: 'the authorization server limits the number of requests',
  hint: 'retryLater',
};
const malformedResponse: TokenErrorRow = {
  code: 'api_error',
  reason: 'the response of the authorization server is not a token response',
  hint: 'checkAuthUrl',
};
const errorWithoutCode: TokenErrorRow = {
  code: 'api_error',
  reason: 'the authorization server returned an error without an error code',
  hint: 'checkAuthUrlAndForm',
};

/**
 * The hint after a logout that could not revoke the tokens: the session is already deleted on this machine, so no command can
 * try again.
 */
export const revokeInPanelHint = 'revoke the application in the control panel';

const operations: Readonly<Record<TokenOperation, { readonly failed: string; readonly unreachableHint: string }>> = {
  exchange: {
    failed: 'could not exchange the authorization code',
    unreachableHint: 'log in again when the server can be reached',
  },
  refresh: {
    failed: 'could not refresh the session',
    unreachableHint: 'run the command again when the server can be reached',
  },
  revokeAccessToken: { failed: 'could not revoke the access token', unreachableHint: revokeInPanelHint },
  revokeRefreshToken: { failed: 'could not revoke the refresh token', unreachableHint: revokeInPanelHint },
};

/** The error for a response of the token endpoint that contains no grant. */
export function tokenEndpointError(failure: TokenEndpointFailure, context: TokenErrorContext): CliError {
  const { operation, consequence } = context;
  const row = rowOf(failure, operation);
  const facts = factsOf(failure, context.origin);
  if (row.code === 'needs_login') {
    const detail = [row.reason, consequence].filter((part) => part !== undefined).join('; ');
    return new CliError('needs_login', sessionEndedMessage(context.profile), {
      detail,
      hint: hints[row.hint](context),
    });
  }
  const isRevocation = operation !== 'exchange' && operation !== 'refresh';
  return new CliError(isRevocation ? 'api_error' : row.code, `${operations[operation].failed}: ${row.reason}`, {
    detail: consequence === undefined ? facts : `${facts}; ${consequence}`,
    hint: isRevocation ? revokeInPanelHint : hints[row.hint](context),
    status: failure.status,
  });
}

/** The error for a token request to which no complete response was received. */
export function tokenRequestWithoutResponseError(
  error: HttpSendError,
  operation: TokenOperation,
  parts: { readonly detail?: string; readonly loginCommand?: string } = {},
): CliError {
  const code = readHttpSendErrorCode(error);
  const { failed, unreachableHint } = operations[operation];
  const login = operation === 'exchange' && parts.loginCommand !== undefined ? `: ${parts.loginCommand}` : '';
  return new CliError(code, `${failed}: ${error.message}`, {
    detail: parts.detail,
    hint:
      code === 'tls' && unreachableHint !== revokeInPanelHint
        ? buildTlsFailureHint(error)
        : `${unreachableHint}${login}`,
    // The cause is not the SendError itself, because callers would read from it that their own request, which waits for the
    // token, was sent.
    cause: new Error(error.message, { cause: error }),
  });
}

/**
 * A 5xx status or 408 means that the server failed; a server sends 408 for an incomplete request, but a proxy may send it for a
 * request that it has forwarded.
 */
export function isServerFailureStatus(status: number): boolean {
  return status >= 500 || status === 408;
}

function rowOf(failure: TokenEndpointFailure, operation: TokenOperation): TokenErrorRow {
  if (failure.kind === 'malformed') {
    if (isServerFailureStatus(failure.status)) return serverFailure;
    if (failure.status === 429) return rateLimited;
    return failure.status < 400 ? malformedResponse : errorWithoutCode;
  }
  const row = Object.hasOwn(tokenErrors, failure.error) ? tokenErrors[failure.error] : undefined;
  return row?.[operation] ?? row ?? otherError;
}

function factsOf(failure: TokenEndpointFailure, origin: string): string {
  if (failure.kind === 'malformed')
    return isServerFailureStatus(failure.status)
      ? `${origin} answered with status ${failure.status}`
      : `${origin}: ${failure.reason}`;
  const { error, description, status } = failure;
  const text = description === undefined ? error : `${error}: ${description.replace(/\.$/, '')}`;
  return `${sanitizeLine(text)} (status ${status})`;
}

const hints = {
  retry: (context: TokenErrorContext): string => retry(context),
  retryLater: ({ operation, loginCommand }: TokenErrorContext): string =>
    operation === 'exchange' ? `log in again later: ${loginCommand}` : 'run the command again later',
  /** A server that expects form parameters may fail at an empty body. */
  retryLaterOrSendForm: (context: TokenErrorContext): string => {
    const form = context.operation === 'exchange' && mayExpectForm(context) ? sendForm(context) : undefined;
    return [hints.retryLater(context), ...(form === undefined ? [] : [`if the error persists, ${form}`])].join('; ');
  },
  /**
   * A refresh with its parameters in the query contains no client credentials (spec.md §5.3), so changing the credentials would
   * not help.
   */
  checkClient: (context: TokenErrorContext): string => {
    const { operation, profile } = context;
    if (operation === 'refresh' && mayExpectForm(context)) return sendForm(context);
    const setup = `set the client ID and secret with ${formatCommandForProfile(profile, 'auth setup')}`;
    // Some servers read the client credentials from one place only (RFC 6749 §2.3.1), and report only that they are missing.
    const isOnlyWay = context.tokenParams === 'query' && (context.isSpecServer || operation === 'refresh');
    return isOnlyWay ? setup : `${setup}; if they are correct, ${sendForm(context)}`;
  },
  sendForm: (context: TokenErrorContext): string => (mayExpectForm(context) ? sendForm(context) : retry(context)),
  /** Some servers bind a refresh token to the client credentials (RFC 6749 §6), which the query form does not contain. */
  sendCredentials: (context: TokenErrorContext): string =>
    mayExpectForm(context) ? `run ${formCommand(context)}, then ${context.loginCommand}` : context.loginCommand,
  checkAuthUrl: (context: TokenErrorContext): string => `${checkAuthUrl}, then ${retry(context)}`,
  checkAuthUrlAndForm: (context: TokenErrorContext): string => {
    const check = `${checkAuthUrl}, then ${retry(context)}`;
    return mayExpectForm(context) ? `${check}; if the URL is correct, ${sendForm(context)}` : check;
  },
} as const;

const checkAuthUrl = 'check auth_url with `cloudctl config list`';

function retry({ operation, loginCommand }: TokenErrorContext): string {
  return operation === 'exchange'
    ? loginCommand
    : `run the command again; if the error persists, log in: ${loginCommand}`;
}

function sendForm(context: TokenErrorContext): string {
  const { loginCommand, loginCommandAfterSwitch = loginCommand } = context;
  return `run ${formCommand(context)}, then ${retry({ ...context, loginCommand: loginCommandAfterSwitch })}`;
}

function formCommand({ profile, tokenParams }: TokenErrorContext): string {
  return formatTokenParamsSwitchCommand(profile, tokenParams);
}

function mayExpectForm({ tokenParams, isSpecServer }: TokenErrorContext): boolean {
  return tokenParams === 'query' && !isSpecServer;
}
