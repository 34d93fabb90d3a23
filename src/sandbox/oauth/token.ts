import { createHash } from 'node:crypto';
import { jsonReply, type Reply } from '../http/reply.ts';
import type { HttpRequest } from '../http/request.ts';
import { type LoginFinder, loginOfCode, loginOfPair } from '../login-timeline.ts';
import { equalSecrets } from '../random.ts';
import type { Application, AuthorizationCode, TokenPair } from '../records.ts';
import { type LogFields, tokenEnd } from '../request-log.ts';
import type { PublicHandler, Service } from '../service.ts';
import { readBearerToken } from '../v2/api.ts';
import type { World } from '../world.ts';

/** The token endpoint (RFC 6749 §3.2). The token endpoint checks the client credentials before the other parameters. */
export function postToken(request: HttpRequest, service: Service): Reply {
  const rejection = rejectInvalidParameters(request, PARAMETERS);
  if (rejection !== undefined) return rejection;
  const client = authenticateClient(request, service.world);
  if (client.kind === 'rejected') return client.reply;
  const type = request.parameters().get('grant_type');
  if (type === undefined) return invalidRequest(`The parameter grant_type is missing.${bodyTypeNote(request)}`);
  const exchange = GRANT_HANDLERS.get(type);
  if (exchange === undefined) {
    return oauthError(400, 'unsupported_grant_type', 'The grant type must be authorization_code or refresh_token.');
  }
  return exchange(request, service, client);
}

export function tokenFields(request: HttpRequest): LogFields {
  const parameters = request.parameters();
  const clientId = unverifiedClientId(request);
  const grantType = parameters.get('grant_type');
  const hint = tokenEnd(parameters.get('refresh_token') ?? '');
  return {
    ...(clientId === undefined ? {} : { client_id: clientId }),
    ...(grantType === undefined ? {} : { grant_type: grantType }),
    ...(hint === undefined ? {} : { token_hint: hint }),
  };
}

export const loginOfTokenRequest: LoginFinder = (request, { world }) => {
  const parameters = request.parameters();
  return (
    loginOfCode(world.grants.code(parameters.get('code') ?? '')) ??
    loginOfPair(world.grants.pairByRefreshToken(parameters.get('refresh_token') ?? ''))
  );
};

type GrantHandler = (
  request: HttpRequest,
  service: Service,
  client: Exclude<ClientAuthentication, { kind: 'rejected' }>,
) => Reply;

const GRANT_HANDLERS: ReadonlyMap<string, GrantHandler> = new Map<string, GrantHandler>([
  ['authorization_code', codeGrant],
  ['refresh_token', refreshGrant],
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

function bodyTypeNote(request: HttpRequest): string {
  return request.body === '' ? '' : ' The body must be application/x-www-form-urlencoded or application/json.';
}

/** Exchanges an authorization code for tokens (RFC 6749 §4.1.3). A failed exchange does not invalidate the authorization code. */
export function codeGrant(request: HttpRequest, { world, settings }: Service, client: ClientAuthentication): Reply {
  if (client.kind !== 'authenticated') return invalidClient(request);
  const parameters = request.parameters();
  const value = parameters.get('code');
  const redirectUri = parameters.get('redirect_uri');
  if (value === undefined) return invalidRequest('The parameter code is missing.');
  if (redirectUri === undefined) return invalidRequest('The parameter redirect_uri is missing.');

  const code = world.grants.code(value);
  if (code === undefined) return invalidGrant('The authorization code is unknown.');
  if (code.clientId !== client.application.clientId) {
    return invalidGrant('The authorization code was issued to another client.');
  }
  const state = world.grants.codeState(code);
  if (code.usedFor !== undefined && settings.revokeOnReplay) world.grants.revokeSuccessors(code.usedFor);
  if (state !== 'valid') return invalidGrant(`The authorization code is ${state}.`);
  if (code.redirectUri !== redirectUri) {
    return invalidGrant('The redirect URI differs from the one in the authorization request.');
  }
  if (!isVerifierValid(code, parameters.get('code_verifier'))) {
    return invalidGrant('The code verifier does not match the code challenge.');
  }
  return renderTokenResponse(world.grants.exchange(code), world);
}

/**
 * Verifies the PKCE code verifier (RFC 7636 §4.6). A verifier for a code without a challenge indicates a downgrade attack (RFC
 * 9700 §4.8.2).
 */
function isVerifierValid({ challenge }: AuthorizationCode, verifier: string | undefined): boolean {
  if (challenge === undefined || verifier === undefined) return challenge === verifier;
  if (!/^[A-Za-z0-9\-._~]{43,128}$/.test(verifier)) return false;
  return equalSecrets(createHash('sha256').update(verifier).digest('base64url'), challenge);
}

/**
 * Exchanges a refresh token for a new token pair (RFC 6749 §6). A refresh token can be used once, even after its access token
 * has expired.
 */
export function refreshGrant(request: HttpRequest, { world }: Service, client: ClientAuthentication): Reply {
  const value = request.parameters().get('refresh_token');
  if (value === undefined) return invalidRequest('The parameter refresh_token is missing.');
  const pair = world.grants.pairByRefreshToken(value);
  if (pair === undefined) return invalidGrant('The refresh token is unknown.');
  if ('application' in client && client.application.clientId !== pair.clientId) {
    return invalidGrant('The refresh token was issued to another client.');
  }
  const state = world.grants.pairState(pair);
  if (state === 'refreshed') return invalidGrant('The refresh token was used already.');
  if (state === 'revoked') return invalidGrant('The refresh token is revoked.');
  const named = 'application' in client ? { client: client.application.clientId } : {};
  return renderTokenResponse(world.grants.refresh(pair, { by: 'refresh', ...named }), world);
}

/** The client of a request: not named, named without a secret, authenticated by its secret, or rejected. */
export type ClientAuthentication =
  | { readonly kind: 'none' }
  | { readonly kind: 'identified'; readonly application: Application }
  | { readonly kind: 'authenticated'; readonly application: Application }
  | { readonly kind: 'rejected'; readonly reply: Reply };

/** Reads the client credentials from the parameters or from the Basic header (RFC 6749 §2.3.1); a request with both is rejected. */
export function authenticateClient(request: HttpRequest, world: World): ClientAuthentication {
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
export function invalidClient(request: HttpRequest): Reply {
  const challenge = request.header('authorization').length > 0 ? { 'www-authenticate': 'Basic realm="sandbox"' } : {};
  return oauthError(
    401,
    'invalid_client',
    'Client authentication failed: the client is unknown, or the client secret is wrong or missing.',
    challenge,
  );
}

/** Returns the client ID in the request, without verifying it, for the request log. */
export function unverifiedClientId(request: HttpRequest): string | undefined {
  const [header = ''] = request.header('authorization');
  return request.parameters().get('client_id') ?? basicPairs(header)[0]?.[0];
}

/** The Basic credentials are first compared without form-decoding, because many clients do not form-encode them. */
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

function rejected(request: HttpRequest): ClientAuthentication {
  return { kind: 'rejected', reply: invalidClient(request) };
}

const REPEATED: ClientAuthentication = {
  kind: 'rejected',
  reply: invalidRequest('The client credentials are included more than once.'),
};

/** The revocation endpoint (RFC 7009 §2). Revokes access token and refresh token together; client credentials are not required. */
export const postRevoke: PublicHandler = (request, { world }) => {
  const rejection = rejectInvalidParameters(request, REVOCATION_PARAMETERS);
  if (rejection !== undefined) return rejection;
  const value = request.parameters().get('token');
  if (value === undefined) return invalidRequest('The parameter token is missing.');
  const bearers = request.header('authorization').filter((header) => /^bearer\b/i.test(header));
  if (bearers.some((header) => header.replace(/^bearer +/i, '') !== value)) {
    return invalidRequest('The bearer token differs from the parameter token.');
  }
  const pair = world.grants.pair(value) ?? world.grants.pairByRefreshToken(value);
  if (pair !== undefined) world.grants.revoke(pair);
  return jsonReply(200, {});
};

export function revocationFields(request: HttpRequest): LogFields {
  const clientId = unverifiedClientId(request);
  const hint = tokenEnd(request.parameters().get('token') ?? '');
  return {
    ...(clientId === undefined ? {} : { client_id: clientId }),
    ...(hint === undefined ? {} : { token_hint: hint }),
  };
}

export const loginOfRevocation: LoginFinder = (request, { world }) => {
  const value = request.parameters().get('token') ?? '';
  return loginOfPair(world.grants.pair(value) ?? world.grants.pairByRefreshToken(value));
};

const REVOCATION_PARAMETERS = ['token', 'token_type_hint', 'client_id', 'client_secret'];

/**
 * Returns the scope, expiry and application of a bearer token; docs/service.md does not list this endpoint, but clients of the public
 * service check tokens with it.
 */
export const getTokenInfo: PublicHandler = (request, { world }) => {
  const pair = world.grants.pair(readBearerToken(request) ?? '');
  if (pair === undefined || world.grants.pairState(pair) !== 'valid') {
    const body = { id: 'unauthorized', message: 'Unable to authenticate you' };
    return jsonReply(401, body, { 'www-authenticate': 'Bearer error="invalid_token"' });
  }
  return jsonReply(200, {
    // resource_owner_id is a number, because clients of the public service read a number.
    resource_owner_id: Number.parseInt(pair.person.slice(0, 8), 16),
    scopes: pair.scope.split(' '),
    expires_in_seconds: Math.floor((pair.expiresAt - world.now()) / 1_000),
    application: { uid: pair.clientId },
    created_at: Math.floor(pair.issuedAt / 1_000),
  });
};

/** An access token response (docs/service.md S2.5, RFC 6749 §5.1). Members that do not apply to the token are omitted from the response. */
export function renderTokenResponse(pair: TokenPair, world: World): Reply {
  const person = world.registry.person(pair.person);
  const team = pair.team === undefined ? undefined : world.registry.team(pair.team);
  return jsonReply(200, {
    access_token: pair.accessToken,
    token_type: 'bearer',
    expires_in: Math.floor((pair.expiresAt - pair.issuedAt) / 1000),
    refresh_token: pair.refreshToken,
    scope: pair.scope,
    info: {
      name: person?.name,
      email: person?.email,
      uuid: person?.uuid,
      team_uuid: team?.uuid,
      team_name: team?.name,
    },
    ...world.seed.outsideSpecification?.tokenResponse,
  });
}

/** Creates an error of the authorization server, always with a description (RFC 6749 §5.2). */
export function oauthError(
  status: number,
  error: string,
  description: string,
  headers: Readonly<Record<string, string>> = {},
): Reply {
  return jsonReply(status, { error, error_description: description }, headers);
}

export function invalidRequest(description: string): Reply {
  return oauthError(400, 'invalid_request', description);
}

export function invalidGrant(description: string): Reply {
  return oauthError(400, 'invalid_grant', description);
}

/** Rejects a request with repeated parameters or with a body that cannot be read (RFC 6749 §3.2). */
function rejectInvalidParameters(request: HttpRequest, names: readonly string[]): Reply | undefined {
  const parameters = request.parameters();
  if (parameters.problem !== undefined) return invalidRequest(parameters.problem);
  const repeated = names.find((name) => parameters.isRepeated(name));
  return repeated === undefined ? undefined : invalidRequest(`The parameter ${repeated} is included more than once.`);
}
