import { createHash } from 'node:crypto';
import { asciiQuery } from './http/ascii.ts';
import { readParameters } from './http/parameters.ts';
import type { Reply } from './http/reply.ts';
import type { Request } from './http/request.ts';
import type { Trace } from './log.ts';
import { visitOf } from './panel/session.ts';
import type { Mandate } from './records.ts';
import type { Service } from './service.ts';

/** Of a request that carries an authorization request in its query. */
export function traceOfWish(request: Request, query: string, service: Service): Trace | undefined {
  const clientId = readParameters(query, '', '').get('client_id');
  if (clientId === undefined) return undefined;
  const person = visitOf(request, service)?.person.uuid;
  const login = createHash('sha256').update(asciiQuery(query)).digest('base64url').slice(0, 16);
  return { clientId, login, ...(person === undefined ? {} : { person }) };
}

/** Of a request that presents a code or a token. */
export function traceOfMandate(mandate: Mandate | undefined): Trace | undefined {
  return mandate === undefined ? undefined : { clientId: mandate.clientId, person: mandate.person };
}

/** The same trace once the answer is known. */
export function withRedirect(trace: Trace | undefined, { headers: { location } }: Reply): Trace | undefined {
  if (trace?.login === undefined || location === undefined || location.startsWith('/')) return trace;
  const url = new URL(location);
  const outcome =
    url.searchParams.get('error') ?? (new URLSearchParams(url.hash.slice(1)).has('access_token') ? 'token' : 'code');
  return { ...trace, redirect: { host: url.host || url.protocol, outcome } };
}
