import { type HttpReply, jsonReply } from '../http/http-reply.ts';
import type { HttpRequest } from '../http/http-request.ts';
import { loginTraceOfPair } from '../login-trace.ts';
import { getTokenHint, type LogFields, type LoginTrace } from '../request-log.ts';
import type { SandboxService } from '../service.ts';
import { claimedClientId } from './client-authentication.ts';
import { invalidRequest } from './oauth-errors.ts';
import { rejectInvalidParameters } from './reject-invalid-parameters.ts';

/** The revocation endpoint (RFC 7009 §2). Revokes access token and refresh token together; client credentials are not required. */
export function handleRevocation(request: HttpRequest, { world }: SandboxService): HttpReply {
  const rejection = rejectInvalidParameters(request, PARAMETERS);
  if (rejection !== undefined) return rejection;
  const value = request.parameters().get('token');
  if (value === undefined) return invalidRequest('The parameter token is missing.');
  const bearers = request.header('authorization').filter((header) => /^bearer\b/i.test(header));
  if (bearers.some((header) => header.replace(/^bearer +/i, '') !== value)) {
    return invalidRequest('The bearer token differs from the parameter token.');
  }
  const pair = world.pair(value) ?? world.pairByRefreshToken(value);
  if (pair !== undefined) world.revoke(pair);
  return jsonReply(200, {});
}

export function revocationLogFields(request: HttpRequest): LogFields {
  const clientId = claimedClientId(request);
  const hint = getTokenHint(request.parameters().get('token') ?? '');
  return {
    ...(clientId === undefined ? {} : { client_id: clientId.slice(0, 100) }),
    ...(hint === undefined ? {} : { token_hint: hint }),
  };
}

export function loginTraceOfRevocation(request: HttpRequest, { world }: SandboxService): LoginTrace | undefined {
  const value = request.parameters().get('token') ?? '';
  return loginTraceOfPair(world.pair(value) ?? world.pairByRefreshToken(value));
}

const PARAMETERS = ['token', 'token_type_hint', 'client_id', 'client_secret'];
