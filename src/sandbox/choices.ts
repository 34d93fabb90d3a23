/** What the specification does not show, and what the sandbox does about it. */
export interface Choice {
  readonly id: string;
  /** Section of the specification that leaves it open. */
  readonly section: string;
  readonly question: string;
  readonly choice: string;
}

/** The one place where such choices are written down. `GET /_sandbox/choices` lists them. */
export const CHOICES: readonly Choice[] = [
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
  {
    id: 'team-resources',
    section: '2',
    question: 'What a token under a team context sees',
    choice: 'The droplets and actions of the team; one of the person’s own account sees those of the person.',
  },
  {
    id: 'unknown-token-status',
    section: '7',
    question: 'HTTP status for an unknown, expired or revoked access token',
    choice: '404 with id not_found; with the option unknownTokenStatus 401 and the same body.',
  },
  {
    id: 'missing-token',
    section: '5',
    question: 'A request without a well-formed bearer header',
    choice: '401 unauthorized with WWW-Authenticate: Bearer.',
  },
  {
    id: 'scope-status',
    section: '5',
    question: 'A write with the scope read',
    choice: '403 forbidden, judged before the path; nothing is changed.',
  },
  {
    id: 'api-errors',
    section: '7',
    question: 'Errors of the resource API',
    choice: '{id, message, request_id} with 400, 401, 403, 404, 405, 413, 415, 422, 429 or 500.',
  },
  {
    id: 'rate-limits',
    section: '8',
    question: 'Rate limits',
    choice: '5000 an hour is told in headers and not enforced; the option rateLimit enforces, on the virtual clock.',
  },
  {
    id: 'lists',
    section: '4.5',
    question: 'Bodies of lists',
    choice:
      '{<key>, links, meta.total}; page from 1, per_page 1 to 200, anything else 422; a page after the last is empty. Actions newest first, droplets oldest first.',
  },
  {
    id: 'single-resources',
    section: '4.5',
    question: 'Reading one action or droplet',
    choice: 'GET /v2/actions/{id} and GET /v2/droplets/{id}; those of another account are 404.',
  },
  {
    id: 'create-body',
    section: '4.5',
    question: 'Answer to a creation',
    choice: '202 with droplet for name, droplets for names, in the order given, and the actions in links.',
  },
  {
    id: 'create-required',
    section: '2',
    question: 'Attributes of a creation and which are required',
    choice:
      'name or names, size and image; region is nyc3 when absent. Null and [] count as absent, unknown attributes are ignored, anything wrong is 422 and names the field.',
  },
  {
    id: 'create-names',
    section: '4.5',
    question: 'How many names at once',
    choice: 'At most 10, all or none. Names may be taken already.',
  },
  {
    id: 'create-lifecycle',
    section: '4.5',
    question: 'Life of a droplet',
    choice: 'new without networks for 5 s of the virtual clock, then active; its create action is in progress as long.',
  },
  {
    id: 'create-catalogue',
    section: '2',
    question: 'Which regions, sizes and images there are',
    choice: 'The public slugs of the catalogue in src/sandbox/v2/catalogue.ts; others are 422.',
  },
  {
    id: 'droplet-limit',
    section: '8',
    question: 'A limit of droplets',
    choice: 'None; the option dropletLimit sets one for each account, answered with 422 and id droplet_limit.',
  },
  {
    id: 'delete-droplet',
    section: '4.5',
    question: 'Path and answer of deleting a droplet',
    choice: 'DELETE /v2/droplets/{id} with 204; an action of type destroy is recorded.',
  },
];
