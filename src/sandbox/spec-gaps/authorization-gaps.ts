import type { SpecGap } from './spec-gap.ts';

/** Of the authorization server. */
export const AUTHORIZATION_GAPS: readonly SpecGap[] = [
  {
    id: 'authorize-errors-in-query',
    section: '4.1',
    question: 'Where the implicit flow reports an error other than a denial',
    choice: 'In the query of the redirect URI, as in the code flow; the fragment is for success alone.',
  },
  {
    id: 'authorize-order',
    section: '4.1',
    question: 'Which error wins when several things are wrong',
    choice:
      'Client, redirect URI, repeated parameters, scope, response type, PKCE, prompt, hint: the first that is wrong answers.',
  },
  {
    id: 'authorize-repeated',
    section: '4.1',
    question: 'A parameter that is sent twice',
    choice:
      'An error page for client_id and redirect_uri, else invalid_request to the redirect URI. Unknown parameters are ignored.',
  },
  {
    id: 'authorize-response-type',
    section: '4.1',
    question: 'A response_type other than code and token',
    choice: 'unsupported_response_type; invalid_request when it is missing.',
  },
  {
    id: 'authorize-empty-parameter',
    section: '4.1',
    question: 'A parameter without a value',
    choice: 'Counts as left out (RFC 6749 §3.1), except that an empty state is returned as it was sent.',
  },
  {
    id: 'scope-order',
    section: '2',
    question: 'The scope `write read`',
    choice: 'The same as `read write`. Doubled, unknown and differently spelled words are an error page.',
  },
  {
    id: 'pkce',
    section: '4.1',
    question: 'PKCE',
    choice: 'Optional, S256 only, in the code flow only. A verifier without a challenge is invalid_grant.',
  },
  {
    id: 'prompt-values',
    section: '4.1',
    question: 'Unknown prompt values, and none together with others',
    choice: 'invalid_request.',
  },
  {
    id: 'prompt-none-scope',
    section: '4.1',
    question: 'prompt=none for a wider scope than the one authorized',
    choice: 'consent_required. A narrower one is granted as asked, under the team or account of the last approval.',
  },
  {
    id: 'prompt-none-hint',
    section: '4.1',
    question: 'A hint i that is malformed or names another account',
    choice:
      'invalid_request and login_required. Six hexadecimal characters in any case; without prompt=none it is ignored.',
  },
  {
    id: 'state-of-a-denial',
    section: '7',
    question: 'Whether errors carry the state',
    choice: 'Yes, whenever one was sent, in the very bytes it was sent in.',
  },
  {
    id: 'browser-session',
    section: '4.1',
    question: 'How long a person stays signed in',
    choice: 'Until signing out or a reset; the virtual clock does not end a session.',
  },
  {
    id: 'several-callback-urls',
    section: '2',
    question: 'Whether an application can register more than one callback URL',
    choice: 'Yes; a code is bound to the one it was sent to.',
  },
  {
    id: 'token-encodings',
    section: '4.2',
    question: 'Encodings of the token request other than the query',
    choice: 'Form and JSON bodies and Basic credentials are taken as well; a body of another type is not read.',
  },
  {
    id: 'token-status',
    section: '7',
    question: 'HTTP status codes of the authorization server',
    choice:
      '400, and 401 for invalid_client, with WWW-Authenticate only if Authorization was sent. 405 for another method.',
  },
  {
    id: 'token-order',
    section: '7',
    question: 'Which token error wins',
    choice: 'Repeated parameters, credentials, grant type, missing parameters, then the code or refresh token itself.',
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
    question: 'Whether replaying a used code revokes the tokens it gave',
    choice: 'No; with the option revokeOnReplay yes, through every refresh since.',
  },
  {
    id: 'refresh-credentials',
    section: '5',
    question: 'Client credentials at refresh',
    choice: 'Not needed. If sent they must be right; those of another client are invalid_grant and the token is kept.',
  },
  {
    id: 'refresh-lifetime',
    section: '8',
    question: 'How long a refresh token lives',
    choice: 'Until it is used or revoked, also after its access token has expired.',
  },
  {
    id: 'refresh-scope',
    section: '4.3',
    question: 'A scope parameter at refresh',
    choice: 'Ignored: scope, person and team are carried over.',
  },
  {
    id: 'implicit-refresh',
    section: '2',
    question: 'Refresh token of the implicit flow',
    choice: 'None; the scope is not in the fragment either.',
  },
  {
    id: 'revoke-pair',
    section: '3',
    question: 'What revoking an access token does to its refresh token',
    choice: 'They die together; the refresh token may be given as token too. The approval itself stays.',
  },
  {
    id: 'revoke-unknown',
    section: '4.4',
    question: 'Revoking a token that is not known',
    choice: '200 with {}, like any well-formed request. Client credentials are not looked at.',
  },
  {
    id: 'revoke-bearer',
    section: '4.4',
    question: 'A bearer header that is not the token to revoke',
    choice: 'invalid_request and nothing is revoked.',
  },
  {
    id: 'panel-revoke',
    section: '3',
    question: 'What revoking in the control panel ends',
    choice: 'The approval with every code, access token and refresh token of the application, under every account.',
  },
];
