export type OAuthFlow = 'code' | 'implicit';

export interface AuthorizationUrlParameters {
  readonly authOrigin: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly flow: OAuthFlow;
  /** The requested scope; if undefined, the parameter is omitted and the server uses `read` (docs/service.md S3.1). */
  readonly scope?: string | undefined;
  /** The state parameter: 256 random bits in base64url, new for every login. */
  readonly state: string;
  /** The parameter `prompt` of the authorization request; only the code flow has it. */
  readonly prompt?: string | undefined;
  /** The first 6 characters of the expected account UUID; sent only with `prompt=none`. */
  readonly accountHint?: string | undefined;
  /** The PKCE challenge (S256); absent with `--no-pkce` and in the implicit flow. */
  readonly challenge?: string | undefined;
}

/**
 * The authorization URL that the browser opens (docs/service.md S4.1; https://www.rfc-editor.org/rfc/rfc6749#section-4.1.1). The
 * authorization URL contains no secret and may be printed.
 */
export function buildAuthorizationUrl(request: AuthorizationUrlParameters): string {
  const url = new URL('/v1/oauth/authorize', request.authOrigin);
  const parameters: readonly (readonly [string, string | undefined])[] = [
    ['response_type', request.flow === 'implicit' ? 'token' : 'code'],
    ['client_id', request.clientId],
    ['redirect_uri', request.redirectUri],
    ['scope', request.scope],
    ['state', request.state],
    ['prompt', request.prompt],
    ['i', request.accountHint],
    ['code_challenge', request.challenge],
    ['code_challenge_method', request.challenge === undefined ? undefined : 'S256'],
  ];
  for (const [name, value] of parameters) {
    if (value !== undefined) url.searchParams.append(name, value);
  }
  // A space is encoded as %20, because some servers do not decode "+" in a query.
  url.search = url.search.replaceAll('+', '%20');
  return url.href;
}

/** Creates the state parameter of one login: 256 random bits (RFC 6749 §10.12). */
export function createOAuthState(random: (bytes: number) => Uint8Array): string {
  return Buffer.from(random(32)).toString('base64url');
}
