import { tlsFailureHint } from '../../api/client.ts';
import { CliError, type CliErrorCode } from '../../base/errors.ts';
import { sanitizeLine } from '../../base/sanitize.ts';
import { quoteShellArg } from '../../base/text.ts';
import { commandFor, type ProfileReference } from '../../config/settings.ts';
import { networkCode, type SendError } from '../../platform/http-sender.ts';
import type { TokenFailure, TokenPlacement } from '../oauth/index.ts';
import { switchCommand } from './hints.ts';
import { endedMessage } from './stored.ts';

interface TokenErrorRow {
  readonly code: CliErrorCode;
  /** The reason completes the sentence "could not <operation>: <reason>". */
  readonly reason: string;
  readonly hint: keyof typeof tokenErrorHints;
}

/** The error for a server that failed, with an unknown error code or without one. */
const serverFailure: TokenErrorRow = {
  code: 'api_error',
  reason: 'the authorization server failed',
  hint: 'retryLaterOrSendForm',
};

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
  // Some servers return these codes of an authorization response (RFC 6749 §4.1.2.1).
  server_error: serverFailure,
  temporarily_unavailable: serverFailure,
};

const otherError: TokenErrorRow = {
  code: 'api_error',
  reason: 'the authorization server returned an error',
  hint: 'retry',
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
 * The hint after a logout that could not revoke the tokens: the session is already deleted on this machine, so no logout can
 * try again. The command also works when the profile was removed.
 */
export function panelHint(origin: string | undefined): string {
  const open = origin === undefined ? '' : `: \`cloudctl open --auth-url ${quoteShellArg(origin)}\``;
  return `revoke the application in the control panel${open}`;
}

/** Without `unreachableHint`, the operation is a revocation. */
const operations: Readonly<Record<TokenOperation, { readonly failed: string; readonly unreachableHint?: string }>> = {
  exchange: {
    failed: 'could not exchange the authorization code',
    unreachableHint: 'log in again when the server can be reached',
  },
  refresh: {
    failed: 'could not refresh the session',
    unreachableHint: 'run the command again when the server can be reached',
  },
  revokeAccessToken: { failed: 'could not revoke the access token' },
  revokeRefreshToken: { failed: 'could not revoke the refresh token' },
};

/** The error for a response of the token endpoint that contains no grant. */
export function tokenError(failure: TokenFailure, context: ErrorContext): CliError {
  const { operation, earlierFailure, consequence } = context;
  const detailOf = (reason: string): string => joinDetails(reason, earlierFailure, consequence);
  const row = rowOf(failure, operation);
  if (row.code === 'needs_login') {
    const { isAlive, profile } = context;
    const hint = tokenErrorHints[row.hint](context);
    if (isAlive !== true)
      return new CliError('needs_login', endedMessage(profile), { detail: detailOf(row.reason), hint });
    return new CliError('needs_login', `cannot refresh the session of profile "${profile.name}": ${row.reason}`, {
      detail: joinDetails(earlierFailure, consequence),
      hint,
    });
  }
  const isRevocation = operation !== 'exchange' && operation !== 'refresh';
  // A server that refuses the refresh has ended the session for scripts, whatever error code it gives.
  const isRefused =
    operation === 'refresh' &&
    row.code === 'api_error' &&
    row !== rateLimited &&
    row !== serverFailure &&
    isRefusal(failure.status);
  return new CliError(isRevocation ? 'api_error' : row.code, `${operations[operation].failed}: ${row.reason}`, {
    detail: detailOf(factsOf(failure, context.origin)),
    hint: isRevocation ? panelHint(context.origin) : tokenErrorHints[row.hint](context),
    status: failure.status,
    ...(isRefused ? { exitCode: 4 } : {}),
  });
}

/** A status that the same request would get again. */
function isRefusal(status: number | undefined): boolean {
  return status !== undefined && status >= 400 && status < 500 && status !== 408 && status !== 429;
}

/** Joins the parts of the detail of an error. */
export function joinDetails(...parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined).join('; ');
}

/** The error for a token request to which no complete response was received. */
export function noResponseError(
  error: SendError,
  operation: TokenOperation,
  parts: { readonly detail?: string; readonly loginCommand?: string; readonly origin?: string } = {},
): CliError {
  const code = networkCode(error);
  const { failed, unreachableHint } = operations[operation];
  const tls = code === 'tls' ? tlsFailureHint(error) : undefined;
  const login = operation === 'exchange' && parts.loginCommand !== undefined ? `: ${parts.loginCommand}` : '';
  return new CliError(code, `${failed}: ${error.message}`, {
    detail: parts.detail,
    hint: unreachableHint === undefined ? panelHint(parts.origin) : (error.hint ?? tls ?? `${unreachableHint}${login}`),
    // The cause is not the SendError itself, because callers would read from it that their own request, which waits for the
    // token, was sent.
    cause: new Error(error.message, { cause: error }),
  });
}

/**
 * A 5xx status or 408 means that the server failed; a server sends 408 for an incomplete request, but a proxy may send it for a
 * request that it has forwarded.
 */
export function isServerFailure(status: number): boolean {
  return status >= 500 || status === 408;
}

function rowOf(failure: TokenFailure, operation: TokenOperation): TokenErrorRow {
  const { kind, status } = failure;
  const ofStatus = isServerFailure(status) ? serverFailure : status === 429 ? rateLimited : undefined;
  if (kind === 'malformed') return ofStatus ?? (status < 400 ? malformedResponse : errorWithoutCode);
  const row = Object.hasOwn(tokenErrors, failure.error) ? tokenErrors[failure.error] : undefined;
  return row?.[operation] ?? row ?? ofStatus ?? otherError;
}

function factsOf(failure: TokenFailure, origin: string): string {
  if (failure.kind === 'malformed')
    return isServerFailure(failure.status)
      ? `${origin} answered with status ${failure.status}`
      : `${origin}: ${failure.reason}`;
  const { error, description, status } = failure;
  const text = description === undefined ? error : `${error}: ${description.replace(/\.$/, '')}`;
  return `${sanitizeLine(text)} (status ${status})`;
}

/** What a request to the token endpoint or the revocation endpoint was sent for. */
export type TokenOperation = 'exchange' | 'refresh' | 'revokeAccessToken' | 'revokeRefreshToken';

export interface ErrorContext {
  readonly operation: TokenOperation;
  /** Origin of the authorization server. */
  readonly origin: string;
  readonly profile: ProfileReference;
  readonly tokenParams: TokenPlacement;
  /** Whether the server is known to follow docs/service.md, which sends the parameters in the query (S5.1). */
  readonly isSpecServer: boolean;
  /** The command that logs in again, in backquotes. */
  readonly loginCommand: string;
  /** How an earlier attempt to send the same request failed, if the server may have processed it. */
  readonly earlierFailure?: string | undefined;
  /** The command that logs in after `token_params` of the profile was changed (default: `loginCommand`). */
  readonly loginCommandAfterSwitch?: string;
  /** Whether the access token of a session whose refresh token was refused is still valid (default: false). */
  readonly isAlive?: boolean;
  /** The consequence for the session, which is added to the detail of the error. */
  readonly consequence?: string;
}

/** The hints of errors of the token endpoint, each with the commands for the profile. */
const tokenErrorHints = {
  retry: (context: ErrorContext): string => retry(context),
  retryLater: ({ operation, loginCommand }: ErrorContext): string =>
    operation === 'exchange' ? `log in again later: ${loginCommand}` : 'run the command again later',
  /** A server that expects form parameters may fail at an empty body. */
  retryLaterOrSendForm: (context: ErrorContext): string => {
    const form = context.operation === 'exchange' && mayExpectForm(context) ? sendForm(context) : undefined;
    return [
      tokenErrorHints.retryLater(context),
      ...(form === undefined ? [] : [`if the error persists, ${form}`]),
    ].join('; ');
  },
  /**
   * A refresh with its parameters in the query contains no client credentials (docs/service.md S5.7), so changing the credentials would
   * not help.
   */
  checkClient: (context: ErrorContext): string => {
    const { operation, profile } = context;
    if (operation === 'refresh' && mayExpectForm(context)) return sendForm(context);
    const setup = `set the client ID and secret with ${commandFor(profile, 'auth setup')}`;
    // Some servers read the client credentials from one place only (RFC 6749 §2.3.1), and report only that they are missing.
    const isOnlyWay = context.tokenParams === 'query' && (context.isSpecServer || operation === 'refresh');
    return isOnlyWay ? setup : `${setup}; if they are correct, ${sendForm(context)}`;
  },
  sendForm: (context: ErrorContext): string => (mayExpectForm(context) ? sendForm(context) : retry(context)),
  /** Some servers bind a refresh token to the client credentials (RFC 6749 §6), which the query form does not contain. */
  sendCredentials: (context: ErrorContext): string =>
    mayExpectForm(context) ? `run ${formCommand(context)}, then ${context.loginCommand}` : context.loginCommand,
  checkAuthUrl: (context: ErrorContext): string => `${checkAuthUrl}, then ${retry(context)}`,
  checkAuthUrlAndForm: (context: ErrorContext): string => {
    const check = `${checkAuthUrl}, then ${retry(context)}`;
    return mayExpectForm(context) ? `${check}; if the URL is correct, ${sendForm(context)}` : check;
  },
} as const;

const checkAuthUrl = 'check auth_url with `cloudctl config list`';

function retry({ operation, loginCommand }: ErrorContext): string {
  return operation === 'exchange'
    ? loginCommand
    : `run the command again; if the error persists, log in: ${loginCommand}`;
}

function sendForm(context: ErrorContext): string {
  const { loginCommand, loginCommandAfterSwitch = loginCommand } = context;
  return `run ${formCommand(context)}, then ${retry({ ...context, loginCommand: loginCommandAfterSwitch })}`;
}

function formCommand({ profile, tokenParams }: ErrorContext): string {
  return switchCommand(profile, tokenParams);
}

function mayExpectForm({ tokenParams, isSpecServer }: ErrorContext): boolean {
  return tokenParams === 'query' && !isSpecServer;
}
