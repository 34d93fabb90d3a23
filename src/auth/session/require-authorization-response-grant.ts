import { CliError, type CliErrorCode } from '../../base/errors.ts';
import { sanitizeLine } from '../../base/sanitize.ts';
import type { AuthorizationErrorCode, AuthorizationResult, CheckedCode, TokenGrant } from '../oauth/index.ts';
import type { OAuthLoginOptions } from './oauth-login-options.ts';
import type { LoginRetryCommands } from './suggested-commands.ts';

export interface AuthorizationErrorContext {
  readonly request: Pick<OAuthLoginOptions, 'prompt'>;
  readonly loginCommands: LoginRetryCommands;
}

/**
 * Returns the code or the grant of an authorization response whose state parameter was validated. Throws a CliError for every
 * authorization response without a code or grant.
 */
export function requireAuthorizationResponseGrant(
  result: AuthorizationResult,
  context: AuthorizationErrorContext,
): { readonly code: CheckedCode } | { readonly grant: TokenGrant } {
  const { sameRequest } = context.loginCommands;
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
        hint: malformedHint(context.loginCommands),
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
  context: AuthorizationErrorContext,
): CliError {
  const { code, message } = authorizationErrors[error];
  // A login without --prompt none expects no particular account.
  const isUnexpected = error === 'login_required' && context.request.prompt !== 'none';
  return new CliError(code, isUnexpected ? 'the browser is not signed in' : message, {
    detail: description === undefined ? undefined : sanitizeLine(description),
    hint: authorizationHint(error, context),
  });
}

function authorizationHint(
  error: AuthorizationErrorCode,
  { loginCommands, request }: AuthorizationErrorContext,
): string {
  const { sameRequest, otherFlow } = loginCommands;
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
function malformedHint({ flow, sameRequest, otherFlow }: LoginRetryCommands): string {
  const again = `start again with ${sameRequest}`;
  return flow === 'code' ? again : `${again}; if the error persists, log in with the other flow: ${otherFlow}`;
}
