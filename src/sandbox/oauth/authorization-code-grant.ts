import { createHash } from 'node:crypto';
import { equalSecrets } from '../equal-secrets.ts';
import type { SandboxHandlerContext } from '../handler-context.ts';
import type { SandboxHttpReply } from '../http/http-reply.ts';
import type { SandboxHttpRequest } from '../http/http-request.ts';
import type { AuthorizationCode } from '../records.ts';
import { buildInvalidClientReply, type OAuthClientAuthenticationResult } from './client-authentication.ts';
import { buildInvalidGrantReply, buildInvalidRequestReply } from './oauth-errors.ts';
import { renderTokenResponse } from './token-response.ts';

/** Exchanges an authorization code for tokens (RFC 6749 §4.1.3). A failed exchange does not invalidate the authorization code. */
export function handleAuthorizationCodeGrant(
  request: SandboxHttpRequest,
  { world, settings }: SandboxHandlerContext,
  client: OAuthClientAuthenticationResult,
): SandboxHttpReply {
  if (client.kind !== 'authenticated') return buildInvalidClientReply(request);
  const parameters = request.parameters();
  const value = parameters.get('code');
  const redirectUri = parameters.get('redirect_uri');
  if (value === undefined) return buildInvalidRequestReply('The parameter code is missing.');
  if (redirectUri === undefined) return buildInvalidRequestReply('The parameter redirect_uri is missing.');

  const code = world.code(value);
  if (code === undefined) return buildInvalidGrantReply('The authorization code is unknown.');
  if (code.clientId !== client.application.clientId) {
    return buildInvalidGrantReply('The authorization code was issued to another client.');
  }
  const state = world.codeState(code);
  if (code.usedFor !== undefined && settings.revokeOnReplay) world.revokeSuccessors(code.usedFor);
  if (state !== 'valid') return buildInvalidGrantReply(`The authorization code is ${state}.`);
  if (code.redirectUri !== redirectUri) {
    return buildInvalidGrantReply('The redirect URI differs from the one in the authorization request.');
  }
  if (!isVerifierValid(code, parameters.get('code_verifier'))) {
    return buildInvalidGrantReply('The code verifier does not match the code challenge.');
  }
  return renderTokenResponse(world.exchange(code), world);
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
