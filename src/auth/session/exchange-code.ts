import type { ProfileReference } from '../../config/settings.ts';
import { HttpSendError, type HttpSender } from '../../platform/http-sender.ts';
import { timeoutSignal } from '../../platform/timeout-signal.ts';
import {
  type CheckedCode,
  codeRequest,
  decodeTokenResponse,
  type OAuthClient,
  type Pkce,
  sendTokenRequest,
  type TokenGrant,
} from '../oauth/index.ts';
import type { LoginRetryCommands } from './suggested-commands.ts';
import { tokenEndpointError, tokenRequestWithoutResponseError } from './token-endpoint-error.ts';

export interface AuthorizationCodeExchangeDeps {
  readonly client: OAuthClient;
  /** Each HttpSender uses a new connection. */
  readonly createSender: () => Promise<HttpSender>;
  readonly profile: ProfileReference;
  readonly loginCommands: LoginRetryCommands;
  /** Whether the server is known to follow docs/service.md, which sends the client credentials in the query. */
  readonly isSpecServer: () => boolean;
}

export interface AuthorizationCodeExchangeInput {
  readonly code: CheckedCode;
  readonly redirectUri: string;
  readonly pkce: Pkce | undefined;
  /** Aborts the token request. */
  readonly signal: AbortSignal;
}

/**
 * Exchanges an authorization code (https://www.rfc-editor.org/rfc/rfc6749#section-4.1.3). An authorization code can be used
 * once, so the request is repeated only if it was certainly not sent, at most three times in all. Throws one of the CliErrors
 * of token-endpoint-error.ts.
 */
export async function exchangeCodeForTokens(
  deps: AuthorizationCodeExchangeDeps,
  { code, redirectUri, pkce, signal }: AuthorizationCodeExchangeInput,
): Promise<TokenGrant> {
  const request = codeRequest(deps.client, code, redirectUri, pkce?.verifier);
  const loginCommand = deps.loginCommands.sameRequest;
  for (let attempt = 1; ; attempt++) {
    try {
      const deadline = timeoutSignal(30_000, signal);
      const result = decodeTokenResponse(await sendTokenRequest(await deps.createSender(), request, deadline));
      if (result.kind === 'granted') return result.grant;
      const { authOrigin: origin, tokenParams } = deps.client;
      throw tokenEndpointError(result, {
        operation: 'exchange',
        origin,
        profile: deps.profile,
        tokenParams,
        isSpecServer: deps.isSpecServer(),
        loginCommand,
        loginCommandAfterSwitch: deps.loginCommands.profileTokenParams,
      });
    } catch (error) {
      if (!(error instanceof HttpSendError)) throw error;
      if (error.sent || attempt === 3 || error.isFinal)
        throw tokenRequestWithoutResponseError(error, 'exchange', { loginCommand });
    }
  }
}
