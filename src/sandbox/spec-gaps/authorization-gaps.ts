import type { SpecGap } from './spec-gap.ts';

/** The sandbox's choices for the authorization server. */
export const SPEC_GAPS_OF_AUTHORIZATION: readonly SpecGap[] = [
  {
    id: 'authorize-errors-in-query',
    section: '4.1',
    question: 'Where the implicit flow reports errors other than access_denied',
    choice:
      'The implicit flow reports errors in the query of the redirect URI, as the code flow does. The fragment contains successful responses only.',
  },
  {
    id: 'authorize-order',
    section: '4.1',
    question: 'Which error is reported when an authorization request has several errors',
    choice:
      'The first error in this order is reported: client, redirect URI, repeated parameters, scope, response type, PKCE, prompt, hint.',
  },
  {
    id: 'authorize-repeated',
    section: '4.1',
    question: 'Repeated parameters of an authorization request',
    choice:
      'A repeated client_id or redirect_uri shows an error page; any other repeated parameter redirects with invalid_request. Unknown parameters are ignored.',
  },
  {
    id: 'authorize-response-type',
    section: '4.1',
    question: 'Response types other than code and token',
    choice: 'Another response type is answered with unsupported_response_type, a missing one with invalid_request.',
  },
  {
    id: 'authorize-empty-parameter',
    section: '4.1',
    question: 'Parameters without a value',
    choice:
      'A parameter without a value is treated as absent (RFC 6749 §3.1). An empty state is returned as it was sent.',
  },
  {
    id: 'scope-order',
    section: '2',
    question: 'The scope `write read`',
    choice:
      'The scope `write read` is equal to `read write`. Repeated words, unknown words and other spellings of a scope are answered with an error page.',
  },
  {
    id: 'pkce',
    section: '4.1',
    question: 'Support of PKCE',
    choice:
      'PKCE is optional, and supported for the code flow with the method S256 only. A verifier for a code without a challenge is answered with invalid_grant.',
  },
  {
    id: 'prompt-values',
    section: '4.1',
    question: 'Unknown values of prompt, and none combined with other values',
    choice: 'An unknown value of prompt, or none together with other values, is answered with invalid_request.',
  },
  {
    id: 'prompt-none-scope',
    section: '4.1',
    question: 'prompt=none with a wider scope than the authorized one',
    choice:
      'A wider scope is answered with consent_required. A narrower scope is granted as requested, for the context (team or personal) of the last approval. Approvals are stored for each combination of person, application and context.',
  },
  {
    id: 'prompt-none-hint',
    section: '4.1',
    question: 'An account hint (parameter i) that is malformed or names another account',
    choice:
      'A malformed account hint is answered with invalid_request, a hint for another account with login_required. The account hint has six hexadecimal digits in upper or lower case; without prompt=none it is ignored.',
  },
  {
    id: 'state-of-a-denial',
    section: '7',
    question: 'Whether error responses contain the state',
    choice:
      'Error responses contain the state byte for byte if the request had one. A state that was sent twice is not returned, because neither value would be the right one, and a client must end a login whose response has no state.',
  },
  {
    id: 'head-authorize',
    section: '4.1',
    question: 'HEAD requests to the authorization endpoint',
    choice:
      'A HEAD request is processed as a GET request without a response body: where GET redirects with a code, HEAD also issues a code.',
  },
  {
    id: 'auth-trailing-slash',
    section: '4.1',
    question: 'A path of the authorization server with a trailing slash',
    choice:
      'A path of the authorization server with a trailing slash is answered with 404. The authorization server compares paths byte for byte, unlike the resource API.',
  },
  {
    id: 'browser-session',
    section: '4.1',
    question: 'How long a person stays signed in',
    choice:
      'A person stays signed in until sign-out or a reset of the sandbox. The virtual clock does not end a session.',
  },
  {
    id: 'several-callback-urls',
    section: '2',
    question: 'Whether an application can register more than one callback URL',
    choice:
      'An application can register several callback URLs. An authorization code is bound to the callback URL to which it was sent.',
  },
  {
    id: 'token-encodings',
    section: '4.2',
    question: 'Encodings of the token request other than the query',
    choice:
      'The token endpoint also accepts form and JSON bodies and Basic credentials. Bodies of other types are ignored.',
  },
  {
    id: 'token-status',
    section: '7',
    question: 'HTTP status codes of the authorization server',
    choice:
      'The status of an error of the authorization server is 400; for invalid_client it is 401, with a WWW-Authenticate header only if the request had an Authorization header; for other methods it is 405.',
  },
  {
    id: 'token-order',
    section: '7',
    question: 'Which error the token endpoint reports when a request has several errors',
    choice:
      'The first error in this order is reported: repeated parameters, wrong credentials, grant type, missing credentials, missing parameters, the code or refresh token itself.',
  },
  {
    id: 'token-failed-exchange',
    section: '3',
    question: 'Whether a failed exchange invalidates the authorization code',
    choice: 'A failed exchange does not invalidate the authorization code.',
  },
  {
    id: 'token-replay',
    section: '3',
    question: 'Whether a second use of an authorization code revokes the tokens issued for it',
    choice:
      'A second use of a code revokes no tokens. With the option revokeOnReplay it revokes the tokens issued for the code, including those of later refreshes.',
  },
  {
    id: 'refresh-credentials',
    section: '5',
    question: 'Client credentials in a refresh request',
    choice:
      'Client credentials are optional in a refresh request. If they are sent, they must be correct; credentials of another client are answered with invalid_grant, and the refresh token stays valid.',
  },
  {
    id: 'refresh-lifetime',
    section: '8',
    question: 'Lifetime of a refresh token',
    choice: 'A refresh token is valid until it is used or revoked, even after its access token has expired.',
  },
  {
    id: 'refresh-scope',
    section: '4.3',
    question: 'A scope parameter in a refresh request',
    choice:
      'The parameter scope is ignored in a refresh request, and a refresh does not change scope, person and team.',
  },
  {
    id: 'implicit-refresh',
    section: '2',
    question: 'Refresh token in the implicit flow',
    choice: 'The implicit flow issues no refresh token, and its fragment does not contain the scope.',
  },
  {
    id: 'revoke-pair',
    section: '3',
    question: 'What revoking an access token does to its refresh token',
    choice:
      'The refresh token is revoked together with its access token. The parameter token may also be the refresh token. The approval of the application is not revoked.',
  },
  {
    id: 'revoke-unknown',
    section: '4.4',
    question: 'Revoking an unknown token',
    choice:
      'Revoking an unknown token is answered with 200 and the body {}, like any well-formed revocation request. Client credentials are ignored.',
  },
  {
    id: 'revoke-bearer',
    section: '4.4',
    question: 'A bearer token that differs from the token to revoke',
    choice:
      'A request whose bearer token differs from the token to revoke is answered with invalid_request, and no token is revoked.',
  },
  {
    id: 'panel-revoke',
    section: '3',
    question: 'What a revocation in the control panel affects',
    choice:
      'The approval is revoked, with every code, access token and refresh token of the application in that context. Approvals and tokens of other contexts are not affected.',
  },
];
