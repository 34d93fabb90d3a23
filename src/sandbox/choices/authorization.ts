import type { Choice } from './choice.ts';

/** The sandbox's choices for authorization requests. */
export const AUTHORIZATION_CHOICES: readonly Choice[] = [
  {
    id: 'authorize-errors-in-query',
    rule: 'S4.14',
    question: 'Where the implicit flow reports errors other than access_denied',
    choice:
      'The implicit flow reports errors in the query of the redirect URI, as the code flow does. The fragment contains successful responses only.',
    observed: { 'repeated state in the implicit flow': 'error in the query' },
  },
  {
    id: 'authorize-order',
    rule: 'S4.14',
    question: 'Which error is reported when an authorization request has several errors',
    choice:
      'The first error in this order is reported: client, redirect URI, repeated parameters, scope, response type, PKCE, prompt, hint.',
    observed: {
      'unknown scope and response type': 'page 400',
      'repeated scope and unknown response type': 'redirect invalid_request',
      'unknown response type and prompt': 'redirect unsupported_response_type',
    },
  },
  {
    id: 'authorize-repeated',
    rule: 'S4.14',
    question: 'Repeated parameters of an authorization request',
    choice:
      'A repeated client_id or redirect_uri shows an error page; any other repeated parameter redirects with invalid_request. Unknown parameters are ignored.',
    observed: {
      'repeated client_id': 'page 400',
      'repeated redirect_uri': 'page 400',
      'repeated scope': 'redirect invalid_request',
    },
  },
  {
    id: 'authorize-response-type',
    rule: 'S4.4',
    question: 'Response types other than code and token',
    choice: 'Another response type is answered with unsupported_response_type, a missing one with invalid_request.',
    observed: {
      'response type id_token': 'redirect unsupported_response_type',
      'no response type': 'redirect invalid_request',
    },
  },
  {
    id: 'authorize-empty-parameter',
    rule: 'S4.14',
    question: 'Parameters without a value',
    choice:
      'A parameter without a value is treated as absent (RFC 6749 §3.1). An empty state is returned as it was sent.',
    observed: { 'empty client_id': 'page 400', 'empty response_type': 'redirect invalid_request' },
  },
  {
    id: 'scope-order',
    rule: 'S4.5',
    question: 'The scope `write read`',
    choice:
      'The scope `write read` is equal to `read write`. Repeated words, unknown words and other spellings of a scope are answered with an error page.',
    observed: { 'scope `write read`': 'read write', 'scope `read read`': 'page 400' },
  },
  {
    id: 'pkce',
    rule: 'S4.14',
    question: 'Support of PKCE',
    choice:
      'PKCE is optional, and supported for the code flow with the method S256 only. A verifier for a code without a challenge is answered with invalid_grant.',
    observed: {
      'method plain': 'redirect invalid_request',
      'method S256, correct verifier': '200',
      'method S256, no verifier': '400 invalid_grant',
      'no challenge, but a verifier': '400 invalid_grant',
    },
  },
  {
    id: 'prompt-values',
    rule: 'S4.14',
    question: 'Unknown values of prompt, and none combined with other values',
    choice: 'An unknown value of prompt, or none together with other values, is answered with invalid_request.',
    observed: { 'unknown prompt': 'redirect invalid_request', 'none with another value': 'redirect invalid_request' },
  },
  {
    id: 'prompt-none-scope',
    rule: 'S4.9',
    question: 'prompt=none with a wider scope than the authorized one',
    choice:
      'A wider scope is answered with consent_required. A narrower scope is granted as requested, for the context (team or personal) of the last approval. Approvals are stored for each combination of person, application and context.',
    observed: { 'wider scope': 'redirect consent_required', 'authorized scope': 'redirect code' },
  },
  {
    id: 'prompt-none-hint',
    rule: 'S4.12',
    question: 'An account hint (parameter i) that is malformed or names another account',
    choice:
      'A malformed account hint is answered with invalid_request, a hint for another account with login_required. The account hint has six hexadecimal digits in upper or lower case; without prompt=none it is ignored.',
    observed: {
      'malformed hint': 'redirect invalid_request',
      'hint of another account': 'redirect login_required',
      'hint in upper case': 'redirect code',
      'malformed hint without prompt=none': 'page 200',
    },
  },
  {
    id: 'state-of-a-denial',
    rule: 'S4.6',
    question: 'Whether error responses contain the state',
    choice:
      'Error responses contain the state byte for byte if the request had one. A state that was sent twice is not returned, because neither value would be the right one, and a client must end a login whose response has no state.',
    observed: { 'error of a request with a state': 'the state', 'state sent twice': 'no state' },
  },
  {
    id: 'head-authorize',
    rule: 'S4.1',
    question: 'HEAD requests to the authorization endpoint',
    choice:
      'A HEAD request is processed as a GET request without a response body: where GET redirects with a code, HEAD also issues a code.',
    observed: { 'HEAD of an approved request': 'redirect code' },
  },
  {
    id: 'auth-trailing-slash',
    rule: 'S1.4',
    question: 'A path of the authorization server with a trailing slash',
    choice:
      'A path of the authorization server with a trailing slash is answered with 404. The authorization server compares paths byte for byte, unlike the resource API.',
    observed: { 'GET /v1/oauth/authorize/': '404', 'POST /v1/oauth/token/': '404' },
  },
  {
    id: 'browser-session',
    rule: 'S4.11',
    question: 'How long a person stays signed in',
    choice:
      'A person stays signed in until sign-out or a reset of the sandbox. The virtual clock does not end a session.',
    observed: { 'prompt=none a year after the sign-in': 'redirect code' },
  },
  {
    id: 'several-callback-urls',
    rule: 'S1.2',
    question: 'Whether an application can register more than one callback URL',
    choice:
      'An application can register several callback URLs. An authorization code is bound to the callback URL to which it was sent.',
    unobserved: 'the tested application has one callback URL',
  },
];
