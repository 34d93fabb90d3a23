import type { SandboxHandlerContext } from '../handler-context.ts';
import type { SandboxHttpReply } from '../http/http-reply.ts';
import type { SandboxHttpRequest } from '../http/http-request.ts';
import {
  createLoginCorrelationOfTokenPair,
  findLoginCorrelationOfAuthorizationCode,
  type LoginCorrelationFinder,
} from '../login-trace.ts';
import { getLastTokenCharacters, type RequestLogFields } from '../request-log.ts';
import { handleAuthorizationCodeGrant } from './authorization-code-grant.ts';
import {
  authenticateOAuthClient,
  type OAuthClientAuthenticationResult,
  readUnverifiedClientId,
} from './client-authentication.ts';
import { buildInvalidRequestReply, buildOAuthErrorReply } from './oauth-errors.ts';
import { handleRefreshTokenGrant } from './refresh-token-grant.ts';
import { rejectInvalidParameters } from './reject-invalid-parameters.ts';

/** The token endpoint (RFC 6749 §3.2). The token endpoint checks the client credentials before the other parameters. */
export function handleTokenRequest(request: SandboxHttpRequest, service: SandboxHandlerContext): SandboxHttpReply {
  const rejection = rejectInvalidParameters(request, PARAMETERS);
  if (rejection !== undefined) return rejection;
  const client = authenticateOAuthClient(request, service.world);
  if (client.kind === 'rejected') return client.reply;
  const type = request.parameters().get('grant_type');
  if (type === undefined)
    return buildInvalidRequestReply(`The parameter grant_type is missing.${bodyTypeNote(request)}`);
  const exchange = GRANT_HANDLERS.get(type);
  if (exchange === undefined) {
    return buildOAuthErrorReply(
      400,
      'unsupported_grant_type',
      'The grant type must be authorization_code or refresh_token.',
    );
  }
  return exchange(request, service, client);
}

export function getLogFieldsOfTokenRequest(request: SandboxHttpRequest): RequestLogFields {
  const parameters = request.parameters();
  const clientId = readUnverifiedClientId(request);
  const grantType = parameters.get('grant_type');
  const hint = getLastTokenCharacters(parameters.get('refresh_token') ?? '');
  return {
    ...(clientId === undefined ? {} : { client_id: clientId }),
    ...(grantType === undefined ? {} : { grant_type: grantType }),
    ...(hint === undefined ? {} : { token_hint: hint }),
  };
}

export const findLoginCorrelationOfTokenRequest: LoginCorrelationFinder = (request, { world }) => {
  const parameters = request.parameters();
  return (
    findLoginCorrelationOfAuthorizationCode(world.code(parameters.get('code') ?? '')) ??
    createLoginCorrelationOfTokenPair(world.pairByRefreshToken(parameters.get('refresh_token') ?? ''))
  );
};

type GrantHandler = (
  request: SandboxHttpRequest,
  service: SandboxHandlerContext,
  client: Exclude<OAuthClientAuthenticationResult, { kind: 'rejected' }>,
) => SandboxHttpReply;

const GRANT_HANDLERS: ReadonlyMap<string, GrantHandler> = new Map<string, GrantHandler>([
  ['authorization_code', handleAuthorizationCodeGrant],
  ['refresh_token', handleRefreshTokenGrant],
]);

const PARAMETERS = [
  'grant_type',
  'code',
  'client_id',
  'client_secret',
  'redirect_uri',
  'refresh_token',
  'code_verifier',
];

function bodyTypeNote(request: SandboxHttpRequest): string {
  return request.body === '' ? '' : ' The body must be application/x-www-form-urlencoded or application/json.';
}
