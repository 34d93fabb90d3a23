import type { SandboxRequestHandler } from '../handler-context.ts';
import { jsonReply } from '../http/http-reply.ts';
import type { SandboxHttpRequest } from '../http/http-request.ts';
import { createLoginCorrelationOfTokenPair, type LoginCorrelationFinder } from '../login-trace.ts';
import { getLastTokenCharacters, type RequestLogFields } from '../request-log.ts';
import { readUnverifiedClientId } from './client-authentication.ts';
import { buildInvalidRequestReply } from './oauth-errors.ts';
import { rejectInvalidParameters } from './reject-invalid-parameters.ts';

/** The revocation endpoint (RFC 7009 §2). Revokes access token and refresh token together; client credentials are not required. */
export const handleTokenRevocationRequest: SandboxRequestHandler = (request, { world }) => {
  const rejection = rejectInvalidParameters(request, PARAMETERS);
  if (rejection !== undefined) return rejection;
  const value = request.parameters().get('token');
  if (value === undefined) return buildInvalidRequestReply('The parameter token is missing.');
  const bearers = request.header('authorization').filter((header) => /^bearer\b/i.test(header));
  if (bearers.some((header) => header.replace(/^bearer +/i, '') !== value)) {
    return buildInvalidRequestReply('The bearer token differs from the parameter token.');
  }
  const pair = world.pair(value) ?? world.pairByRefreshToken(value);
  if (pair !== undefined) world.revoke(pair);
  return jsonReply(200, {});
};

export function getLogFieldsOfRevocationRequest(request: SandboxHttpRequest): RequestLogFields {
  const clientId = readUnverifiedClientId(request);
  const hint = getLastTokenCharacters(request.parameters().get('token') ?? '');
  return {
    ...(clientId === undefined ? {} : { client_id: clientId }),
    ...(hint === undefined ? {} : { token_hint: hint }),
  };
}

export const findLoginCorrelationOfRevocation: LoginCorrelationFinder = (request, { world }) => {
  const value = request.parameters().get('token') ?? '';
  return createLoginCorrelationOfTokenPair(world.pair(value) ?? world.pairByRefreshToken(value));
};

const PARAMETERS = ['token', 'token_type_hint', 'client_id', 'client_secret'];
