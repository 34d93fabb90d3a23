import type { Choice } from './choice.ts';

/** The sandbox's choices for the token endpoint and for revocation. */
export const TOKEN_CHOICES: readonly Choice[] = [
  {
    id: 'token-encodings',
    rule: 'S5.1',
    question: 'Encodings of the token request other than the query',
    choice:
      'The token endpoint also accepts form and JSON bodies and Basic credentials. A JSON body null or "" counts as no body. Bodies of other types are ignored.',
    observed: { 'parameters in a form': 'read' },
  },
  {
    id: 'token-status',
    rule: 'S5.9',
    question: 'HTTP status codes of the authorization server',
    choice:
      'The status of an error of the authorization server is 400; for invalid_client it is 401, with a WWW-Authenticate header only if the request had an Authorization header; for other methods it is 405.',
    observed: {
      'unknown code': '400 invalid_grant',
      'wrong client secret': '401 invalid_client',
      'WWW-Authenticate of a wrong client secret': 'absent',
      'GET instead of POST': '405',
    },
  },
  {
    id: 'token-order',
    rule: 'S5.9',
    question: 'Which error the token endpoint reports when a request has several errors',
    choice:
      'The first error in this order is reported: repeated parameters, wrong credentials, grant type, missing credentials, missing parameters, the code or refresh token itself.',
    observed: {
      'unknown grant type and wrong credentials': '401 invalid_client',
      'unknown grant type': '400 unsupported_grant_type',
      'no parameters': '400 invalid_request',
      'no credentials and no code': '401 invalid_client',
    },
  },
  {
    id: 'token-failed-exchange',
    rule: 'S2.4',
    question: 'Whether a failed exchange invalidates the authorization code',
    choice: 'A failed exchange does not invalidate the authorization code.',
    observed: { 'correct exchange after a failed one': '200' },
  },
  {
    id: 'token-replay',
    rule: 'S2.4',
    question: 'Whether a second use of an authorization code revokes the tokens issued for it',
    choice:
      'A second use of a code revokes no tokens. With `--revoke-on-replay` it revokes the tokens issued for the code, including those of later refreshes.',
    observed: { 'access token after a second use of its code': '200' },
  },
  {
    id: 'refresh-credentials',
    rule: 'S5.7',
    question: 'Client credentials in a refresh request',
    choice:
      'Client credentials are optional in a refresh request. If they are sent, they must be correct; credentials of another client are answered with invalid_grant, and the refresh token stays valid.',
    observed: {
      'wrong client secret': '401 invalid_client',
      'credentials of another client': '400 invalid_grant',
      'correct credentials after these': '200',
    },
  },
  {
    id: 'refresh-lifetime',
    rule: 'S2.8',
    question: 'Lifetime of a refresh token',
    choice: 'A refresh token is valid until it is used or revoked, even after its access token has expired.',
    observed: { 'refresh after a year': '200' },
  },
  {
    id: 'refresh-scope',
    rule: 'S5.7',
    question: 'A scope parameter in a refresh request',
    choice:
      'The parameter scope is ignored in a refresh request, and a refresh does not change scope, person and team.',
    observed: {
      'scope=read in a refresh of `read write`': 'read write',
      'scope=`read write` in a refresh of read': 'read',
    },
  },
  {
    id: 'implicit-refresh',
    rule: 'S2.11',
    question: 'Refresh token in the implicit flow',
    choice: 'The implicit flow issues no refresh token, and its fragment does not contain the scope.',
    observed: { 'refresh_token in the fragment': 'absent', 'scope in the fragment': 'absent' },
  },
  {
    id: 'revoke-pair',
    rule: 'S6.4',
    question: 'What revoking an access token does to its refresh token',
    choice:
      'The refresh token is revoked together with its access token. The parameter token may also be the refresh token. The approval of the application is not revoked.',
    observed: {
      'access token after its revocation': '404 not_found',
      'refresh after a revocation of the access token': '400 invalid_grant',
    },
  },
  {
    id: 'revoke-unknown',
    rule: 'S6.4',
    question: 'Revoking an unknown token',
    choice:
      'Revoking an unknown token is answered with 200 and the body {}, like any well-formed revocation request. Client credentials are ignored.',
    observed: { 'unknown token': '200 {}' },
  },
  {
    id: 'revoke-bearer',
    rule: 'S6.3',
    question: 'A bearer token that differs from the token to revoke',
    choice:
      'A request whose bearer token differs from the token to revoke is answered with invalid_request, and no token is revoked.',
    observed: { 'another bearer token': '400 invalid_request', 'the token after it': '200' },
  },
  {
    id: 'panel-revoke',
    rule: 'S6.5',
    question: 'What a revocation in the control panel affects',
    choice:
      'The approval is revoked, with every code, access token and refresh token of the application in that context. Approvals and tokens of other contexts are not affected.',
    observed: {
      'refresh after a revocation': '400 invalid_grant',
      'prompt=none after a revocation': 'redirect consent_required',
    },
  },
  {
    id: 'additional-members',
    rule: 'S1.6',
    question: 'Members of responses beyond the specification',
    choice:
      'With `outsideSpecification` in its data, the sandbox adds members to every token response and to every droplet, for tests of clients that read such members or must ignore them. They replace no other member.',
    unobserved: 'the tested sandbox has no such data',
  },
];
