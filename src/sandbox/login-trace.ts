import { createHash } from 'node:crypto';
import { toAsciiQuery } from './http/ascii-query.ts';
import type { HttpReply } from './http/http-reply.ts';
import type { HttpRequest } from './http/http-request.ts';
import { readParameters } from './http/request-parameters.ts';
import { findPanelSession } from './panel/panel-session.ts';
import type { SandboxGrant } from './records.ts';
import type { LoginTrace } from './request-log.ts';
import type { SandboxService } from './service.ts';

/** Creates the login trace of a request whose query is an authorization request. */
export function loginTraceOfAuthorizationRequest(
  request: HttpRequest,
  query: string,
  service: SandboxService,
): LoginTrace | undefined {
  const clientId = readParameters(query, '', '').get('client_id');
  if (clientId === undefined) return undefined;
  const person = findPanelSession(request, service)?.person.uuid;
  const login = createHash('sha256').update(toAsciiQuery(query)).digest('base64url').slice(0, 16);
  return { clientId, login, ...(person === undefined ? {} : { person }) };
}

/** Creates the login trace of a request that contains an authorization code or a token. */
export function loginTraceOfGrant(grant: SandboxGrant | undefined): LoginTrace | undefined {
  return grant === undefined ? undefined : { clientId: grant.clientId, person: grant.person };
}

/** Adds the redirect in the reply to the trace of the login. */
export function traceRedirect(
  trace: LoginTrace | undefined,
  { headers: { location } }: HttpReply,
): LoginTrace | undefined {
  if (trace?.login === undefined || location === undefined || location.startsWith('/')) return trace;
  const url = new URL(location);
  const outcome =
    url.searchParams.get('error') ?? (new URLSearchParams(url.hash.slice(1)).has('access_token') ? 'token' : 'code');
  return { ...trace, redirect: { host: url.host || url.protocol, outcome } };
}
