import { equalSecrets } from '../equal-secrets.ts';
import type { SandboxHttpReply } from '../http/http-reply.ts';
import type { SandboxHttpRequest } from '../http/http-request.ts';
import type { LiveSandboxState } from '../live-sandbox-state.ts';
import type { RegisteredApplication } from '../records.ts';
import { buildInvalidRequestReply, buildOAuthErrorReply } from './oauth-errors.ts';

/** The client of a request: not named, named without a secret, authenticated by its secret, or rejected. */
export type OAuthClientAuthenticationResult =
  | { readonly kind: 'none' }
  | { readonly kind: 'identified'; readonly application: RegisteredApplication }
  | { readonly kind: 'authenticated'; readonly application: RegisteredApplication }
  | { readonly kind: 'rejected'; readonly reply: SandboxHttpReply };

/** Reads the client credentials from the parameters or from the Basic header (RFC 6749 §2.3.1); a request with both is rejected. */
export function authenticateOAuthClient(
  request: SandboxHttpRequest,
  world: LiveSandboxState,
): OAuthClientAuthenticationResult {
  const parameters = request.parameters();
  const clientId = parameters.get('client_id');
  const clientSecret = parameters.get('client_secret');
  const headers = request.header('authorization').filter((header) => /^basic\b/i.test(header));
  const [header] = headers;
  if (headers.length > 1 || (header !== undefined && clientSecret !== undefined)) return REPEATED;

  if (header !== undefined) {
    const application = basicApplication(header, world);
    if (application === undefined) return rejected(request);
    return clientId === undefined || clientId === application.clientId
      ? { kind: 'authenticated', application }
      : REPEATED;
  }
  if (clientId === undefined) return clientSecret === undefined ? { kind: 'none' } : rejected(request);
  const application = world.registry.application(clientId);
  if (application === undefined) return rejected(request);
  if (clientSecret === undefined) return { kind: 'identified', application };
  return equalSecrets(clientSecret, application.clientSecret)
    ? { kind: 'authenticated', application }
    : rejected(request);
}

/** The reply has a WWW-Authenticate header only if the request has an Authorization header (RFC 6749 §5.2). */
export function buildInvalidClientReply(request: SandboxHttpRequest): SandboxHttpReply {
  const challenge = request.header('authorization').length > 0 ? { 'www-authenticate': 'Basic realm="sandbox"' } : {};
  return buildOAuthErrorReply(
    401,
    'invalid_client',
    'Client authentication failed: the client is unknown, or the client secret is wrong or missing.',
    challenge,
  );
}

/** Returns the client ID in the request, without verifying it, for the request log. */
export function readUnverifiedClientId(request: SandboxHttpRequest): string | undefined {
  const [header = ''] = request.header('authorization');
  return request.parameters().get('client_id') ?? basicPairs(header)[0]?.[0];
}

/** The Basic credentials are first compared without form-decoding, because many clients do not form-encode them. */
function basicApplication(header: string, world: LiveSandboxState): RegisteredApplication | undefined {
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

function rejected(request: SandboxHttpRequest): OAuthClientAuthenticationResult {
  return { kind: 'rejected', reply: buildInvalidClientReply(request) };
}

const REPEATED: OAuthClientAuthenticationResult = {
  kind: 'rejected',
  reply: buildInvalidRequestReply('The client credentials are included more than once.'),
};
