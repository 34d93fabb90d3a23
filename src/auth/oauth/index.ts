// The protocol: authorization request and response, token endpoint, grant. Other rooms import this file only.

export {
  type AuthorizationErrorCode,
  type AuthorizationResult,
  buildAuthorizationUrl,
  type CheckedCode,
  createPkce,
  createState,
  needsInteraction,
  type OAuthFlow,
  type Pkce,
  validateResponse,
} from './authorize.ts';
export {
  type AccountInfo,
  accountAndTeam,
  assumedLifetime,
  hasTokenSyntax,
  isKnownScope,
  isSameScope,
  scopeWords,
  type TokenGrant,
} from './grant.ts';
export {
  decodeTokenResponse,
  isSuccessStatus,
  type OAuthClient,
  type RawTokenResponse,
  type ResponseObserver,
  redeemCode,
  redeemRefreshToken,
  revokeToken,
  type TokenFailure,
  type TokenPlacement,
  type TokenResult,
} from './token.ts';
