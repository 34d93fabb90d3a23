export type OAuthFlow = 'code' | 'implicit';

export interface AuthorizationUrlParameters {
  readonly authOrigin: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly flow: OAuthFlow;
  /** undefined: the parameter is omitted, and the server uses `read` (spec.md §4.1). */
  readonly scope?: string | undefined;
  /** 256 random bits, base64url; new for every login. */
  readonly state: string;
  /** Code flow only. */
  readonly prompt?: string | undefined;
  /** First 6 characters of the expected account UUID; only with `prompt=none`. */
  readonly accountHint?: string | undefined;
  /** S256 challenge; absent with `--no-pkce` and in the implicit flow. */
  readonly challenge?: string | undefined;
}

/** The URL for the browser (spec.md §4.1; https://www.rfc-editor.org/rfc/rfc6749#section-4.1.1). It contains no secret and may be printed. */
export function authorizationUrl(request: AuthorizationUrlParameters): string {
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
  // A space as %20: some servers do not decode "+" in a query.
  url.search = url.search.replaceAll('+', '%20');
  return url.href;
}

/** The state of one login: 256 random bits (RFC 6749 §10.12). */
export function createOAuthState(random: (bytes: number) => Uint8Array): string {
  return Buffer.from(random(32)).toString('base64url');
}
