export type OAuthFlow = 'code' | 'implicit';

export interface AuthorizationUrlParameters {
  readonly authOrigin: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly flow: OAuthFlow;
  /** Left out when undefined, which the server takes as `read` (spec.md §4.1). */
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

/** The URL the browser is sent to (spec.md §4.1; https://www.rfc-editor.org/rfc/rfc6749#section-4.1.1). It is meant to be seen: it carries no secret of ours. */
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
  // A space as %20: some servers read the query without the form rule for "+".
  url.search = url.search.replaceAll('+', '%20');
  return url.href;
}

/** State of one login: unguessable (RFC 6749 §10.12). */
export function createOAuthState(random: (bytes: number) => Uint8Array): string {
  return Buffer.from(random(32)).toString('base64url');
}
