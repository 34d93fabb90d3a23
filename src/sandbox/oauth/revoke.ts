import { json, type Reply } from '../http/reply.ts';
import type { Request } from '../http/request.ts';
import { hintOf, type Subject, type Trace } from '../log.ts';
import type { Service } from '../service.ts';
import { traceOfMandate } from '../trace.ts';
import { claimedClientId } from './client-authentication.ts';
import { invalidRequest } from './errors.ts';
import { unreadable } from './unreadable.ts';

/** Revocation (RFC 7009 §2). Whoever holds a token may end it; the access token and the refresh token die together. */
export function revoke(request: Request, { world }: Service): Reply {
  const problem = unreadable(request, PARAMETERS);
  if (problem !== undefined) return problem;
  const value = request.parameters().get('token');
  if (value === undefined) return invalidRequest('The parameter token is missing.');
  const bearers = request.header('authorization').filter((header) => /^bearer\b/i.test(header));
  if (bearers.some((header) => header.replace(/^bearer +/i, '') !== value)) {
    return invalidRequest('The bearer token is not the token to revoke.');
  }
  const pair = world.pair(value) ?? world.pairByRefreshToken(value);
  if (pair !== undefined) world.revoke(pair);
  return json(200, {});
}

export function revokeSubject(request: Request): Subject {
  const clientId = claimedClientId(request);
  const hint = hintOf(request.parameters().get('token') ?? '');
  return {
    ...(clientId === undefined ? {} : { client_id: clientId.slice(0, 100) }),
    ...(hint === undefined ? {} : { token_hint: hint }),
  };
}

export function revokeTrace(request: Request, { world }: Service): Trace | undefined {
  const value = request.parameters().get('token') ?? '';
  return traceOfMandate(world.pair(value) ?? world.pairByRefreshToken(value));
}

const PARAMETERS = ['token', 'token_type_hint', 'client_id', 'client_secret'];
