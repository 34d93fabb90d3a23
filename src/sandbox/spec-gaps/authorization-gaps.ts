import type { SpecGap } from './spec-gap.ts';

/** Choices of the authorization server. */
export const SPEC_GAPS_OF_AUTHORIZATION: readonly SpecGap[] = [
  {
    id: 'authorize-errors-in-query',
    section: '4.1',
    question: 'Where the implicit flow reports errors other than access_denied',
    choice: 'In the query of the redirect URI, as in the code flow. The fragment contains successful responses only.',
  },
  {
    id: 'authorize-order',
    section: '4.1',
    question: 'Which error is reported when a request has several',
    choice:
      'The first in this order: client, redirect URI, repeated parameters, scope, response type, PKCE, prompt, hint.',
  },
  {
    id: 'authorize-repeated',
    section: '4.1',
    question: 'Repeated parameters',
    choice:
      'An error page for client_id and redirect_uri; otherwise invalid_request, sent to the redirect URI. Unknown parameters are ignored.',
  },
  {
    id: 'authorize-response-type',
    section: '4.1',
    question: 'Response types other than code and token',
    choice: 'unsupported_response_type; invalid_request when the parameter is missing.',
  },
  {
    id: 'authorize-empty-parameter',
    section: '4.1',
    question: 'Parameters without a value',
    choice: 'Treated as absent (RFC 6749 §3.1). An empty state is returned as it was sent.',
  },
  {
    id: 'scope-order',
    section: '2',
    question: 'The scope `write read`',
    choice: 'Equal to `read write`. Repeated and unknown words and other spellings are answered with an error page.',
  },
  {
    id: 'pkce',
    section: '4.1',
    question: 'PKCE',
    choice: 'Optional; S256 only; code flow only. A verifier without a challenge is invalid_grant.',
  },
  {
    id: 'prompt-values',
    section: '4.1',
    question: 'Unknown prompt values, and none combined with others',
    choice: 'invalid_request.',
  },
  {
    id: 'prompt-none-scope',
    section: '4.1',
    question: 'prompt=none with a wider scope than the authorized one',
    choice:
      'consent_required. A narrower scope is granted as requested, for the context (the team, or the personal one) of the last approval. Approvals are kept for each person, application and context.',
  },
  {
    id: 'prompt-none-hint',
    section: '4.1',
    question: 'A hint i that is malformed or names another account',
    choice:
      'invalid_request if malformed, login_required for another account. The hint is six hexadecimal characters in any case; it is ignored without prompt=none.',
  },
  {
    id: 'state-of-a-denial',
    section: '7',
    question: 'Whether error responses contain the state',
    choice:
      'Yes, if the request had one, byte for byte. A state that was sent twice is not returned: neither value would be the right one, and a client must end the login without its state.',
  },
  {
    id: 'head-authorize',
    section: '4.1',
    question: 'HEAD at the authorization endpoint',
    choice: 'Carried out as GET, without a body: where GET redirects with a code, HEAD issues one too.',
  },
  {
    id: 'auth-trailing-slash',
    section: '4.1',
    question: 'A path of the authorization server with a trailing slash',
    choice: '404. Paths are compared byte for byte, unlike those of the resource API.',
  },
  {
    id: 'browser-session',
    section: '4.1',
    question: 'How long a person stays signed in',
    choice: 'Until sign-out or a reset. The virtual clock does not end a session.',
  },
  {
    id: 'several-callback-urls',
    section: '2',
    question: 'Whether an application can register more than one callback URL',
    choice: 'Yes. A code is bound to the callback URL it was sent to.',
  },
  {
    id: 'token-encodings',
    section: '4.2',
    question: 'Encodings of the token request other than the query',
    choice: 'Form and JSON bodies and Basic credentials are accepted too. Bodies of other types are ignored.',
  },
  {
    id: 'token-status',
    section: '7',
    question: 'HTTP status codes of the authorization server',
    choice:
      '400; 401 for invalid_client, with WWW-Authenticate only if the request had Authorization; 405 for other methods.',
  },
  {
    id: 'token-order',
    section: '7',
    question: 'Which token error is reported when a request has several',
    choice:
      'The first in this order: repeated parameters, wrong credentials, grant type, missing credentials, missing parameters, the code or refresh token itself.',
  },
  {
    id: 'token-failed-exchange',
    section: '3',
    question: 'Whether a failed exchange uses the code up',
    choice: 'No.',
  },
  {
    id: 'token-replay',
    section: '3',
    question: 'Whether replaying a used code revokes the tokens issued for it',
    choice: 'No. With the option revokeOnReplay yes, including the tokens of later refreshes.',
  },
  {
    id: 'refresh-credentials',
    section: '5',
    question: 'Client credentials at refresh',
    choice:
      'Optional. If sent, they must be correct; those of another client are invalid_grant, and the token stays valid.',
  },
  {
    id: 'refresh-lifetime',
    section: '8',
    question: 'Lifetime of a refresh token',
    choice: 'Until it is used or revoked, also after its access token expires.',
  },
  {
    id: 'refresh-scope',
    section: '4.3',
    question: 'A scope parameter at refresh',
    choice: 'Ignored. Scope, person and team do not change.',
  },
  {
    id: 'implicit-refresh',
    section: '2',
    question: 'Refresh token of the implicit flow',
    choice: 'None. The fragment does not contain the scope either.',
  },
  {
    id: 'revoke-pair',
    section: '3',
    question: 'What revoking an access token does to its refresh token',
    choice: 'It is revoked too. The parameter token may also be the refresh token. The approval stays.',
  },
  {
    id: 'revoke-unknown',
    section: '4.4',
    question: 'Revoking an unknown token',
    choice: '200 with {}, as for any well-formed request. Client credentials are ignored.',
  },
  {
    id: 'revoke-bearer',
    section: '4.4',
    question: 'A bearer token that differs from the token to revoke',
    choice: 'invalid_request and nothing is revoked.',
  },
  {
    id: 'panel-revoke',
    section: '3',
    question: 'What revoking in the control panel affects',
    choice:
      'The approval and every code, access token and refresh token of the application in that context. Those of other contexts stay.',
  },
];
