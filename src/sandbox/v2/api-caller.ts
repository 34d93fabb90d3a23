import type { HttpRequest } from '../http/http-request.ts';
import type { Scope } from '../records.ts';
import type { SandboxService } from '../service.ts';
import { apiErrorReply, notFoundReply } from './api-errors.ts';
import type { ApiReply } from './api-reply.ts';

/** Who calls: the holder of a live access token. */
export interface ApiCaller {
  readonly accessToken: string;
  readonly scope: Scope;
  /** UUID of the account whose resources are meant: the team's under a team, else the person's. */
  readonly account: string;
}

export type CallerResult =
  | { readonly known: true; readonly caller: ApiCaller }
  | { readonly known: false; readonly refusal: ApiReply };

/** Reads the bearer token (RFC 6750 §2.1). A token that does not exist, not any more or never, is not found (spec §7). */
export function authenticateCaller(request: HttpRequest, service: SandboxService): CallerResult {
  const accessToken = readBearerToken(request);
  if (accessToken === undefined) {
    return {
      known: false,
      refusal: apiErrorReply(401, 'Unable to authenticate you.', { 'www-authenticate': 'Bearer' }),
    };
  }
  const pair = service.world.pair(accessToken);
  if (pair === undefined || service.world.pairState(pair) !== 'valid') {
    return { known: false, refusal: unknownToken(service.settings.unknownTokenStatus) };
  }
  return { known: true, caller: { accessToken, scope: pair.scope, account: pair.team ?? pair.person } };
}

/** The token of exactly one well-formed Authorization header. */
export function readBearerToken(request: HttpRequest): string | undefined {
  const headers = request.header('authorization');
  return headers.length === 1 ? BEARER.exec(headers[0] ?? '')?.[1] : undefined;
}

/** What a method needs where there is no route to say it. */
export function requiredScope(method: string): Scope {
  return method === 'GET' || method === 'HEAD' ? 'read' : 'read write';
}

function unknownToken(status: 404 | 401): ApiReply {
  if (status === 404) return notFoundReply();
  return { ...notFoundReply(), status, headers: { 'www-authenticate': 'Bearer error="invalid_token"' } };
}

const BEARER = /^Bearer +([A-Za-z0-9\-._~+/]+=*)$/i;
