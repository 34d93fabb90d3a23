import { equalSecrets } from '../equal-secrets.ts';
import type { HttpReply } from '../http/http-reply.ts';
import type { HttpRequest } from '../http/http-request.ts';
import type { Application } from '../records.ts';
import type { World } from '../world.ts';
import { invalidRequest, oauthError } from './oauth-errors.ts';

/** Whether the request says which application sends it, and whether it proves it with the client secret. */
export type ClientAuthentication =
  | { readonly kind: 'nobody' }
  | { readonly kind: 'named'; readonly application: Application }
  | { readonly kind: 'proven'; readonly application: Application }
  | { readonly kind: 'refused'; readonly reply: HttpReply };

/** Reads client credentials from the parameters or from Basic (RFC 6749 §2.3.1), never from both. */
export function authenticateClient(request: HttpRequest, world: World): ClientAuthentication {
  const parameters = request.parameters();
  const clientId = parameters.get('client_id');
  const clientSecret = parameters.get('client_secret');
  const headers = request.header('authorization').filter((header) => /^basic\b/i.test(header));
  const [header] = headers;
  if (headers.length > 1 || (header !== undefined && clientSecret !== undefined)) return TWICE;

  if (header !== undefined) {
    const application = basicApplication(header, world);
    if (application === undefined) return refused(request);
    return clientId === undefined || clientId === application.clientId ? { kind: 'proven', application } : TWICE;
  }
  if (clientId === undefined) return clientSecret === undefined ? { kind: 'nobody' } : refused(request);
  const application = world.registry.application(clientId);
  if (application === undefined) return refused(request);
  if (clientSecret === undefined) return { kind: 'named', application };
  return equalSecrets(clientSecret, application.clientSecret) ? { kind: 'proven', application } : refused(request);
}

/** The challenge is added only for a client that tried the Authorization header (RFC 6749 §5.2). */
export function invalidClient(request: HttpRequest): HttpReply {
  const challenge = request.header('authorization').length > 0 ? { 'www-authenticate': 'Basic realm="sandbox"' } : {};
  return oauthError(
    401,
    'invalid_client',
    'Client authentication failed: unknown client or wrong or missing secret.',
    challenge,
  );
}

/** Who the request says it comes from, for the log. */
export function claimedClientId(request: HttpRequest): string | undefined {
  const [header = ''] = request.header('authorization');
  return request.parameters().get('client_id') ?? basicPairs(header)[0]?.[0];
}

/** Many clients do not form-encode what they put into Basic, so it is tried as it stands first. */
function basicApplication(header: string, world: World): Application | undefined {
  for (const [clientId, clientSecret] of basicPairs(header)) {
    const application = world.registry.application(clientId);
    if (application !== undefined && equalSecrets(clientSecret, application.clientSecret)) return application;
  }
  return undefined;
}

function basicPairs(header: string): readonly (readonly [string, string])[] {
  const encoded = /^basic +([A-Za-z0-9+/_-]+=*)$/i.exec(header)?.[1];
  if (encoded === undefined) return [];
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon === -1) return [];
  const raw: readonly [string, string] = [text.slice(0, colon), text.slice(colon + 1)];
  return [raw, [formDecoded(raw[0]), formDecoded(raw[1])]];
}

function formDecoded(text: string): string {
  return new URLSearchParams(`v=${text.replaceAll('&', '%26')}`).get('v') ?? '';
}

function refused(request: HttpRequest): ClientAuthentication {
  return { kind: 'refused', reply: invalidClient(request) };
}

const TWICE: ClientAuthentication = {
  kind: 'refused',
  reply: invalidRequest('The client credentials are included more than once.'),
};
