import type { Choice } from './choice.ts';

/** The sandbox's choices for the resource API, its lists and its droplets. */
export const RESOURCE_CHOICES: readonly Choice[] = [
  {
    id: 'team-resources',
    rule: 'S2.10',
    question: 'Resources of a token whose grant has a team',
    choice:
      'The token gives access to the droplets, actions, clusters and migrations of the team. A token without a team gives access to those of the person.',
    observed: { 'droplets of a token of a team': 'those of the team' },
  },
  {
    id: 'account',
    rule: 'S1.6',
    question: 'Response to GET /v2/account',
    choice:
      'GET /v2/account returns the person who owns the token, and `team` with UUID and name of the team, or null for the personal context. The sandbox has this endpoint because clients of the public service use it.',
    observed: { 'GET /v2/account': '200', 'team of a personal token': 'null' },
  },
  {
    id: 'token-info',
    rule: 'S1.6',
    question: 'Response to GET /v1/oauth/token/info',
    choice:
      'GET /v1/oauth/token/info on the authorization server returns resource_owner_id (a number derived from the UUID of the person), scopes, expires_in_seconds, application.uid and created_at (seconds) of the bearer token. A request with an invalid token is answered with 401. The sandbox has this endpoint because clients of the public service check tokens with it.',
    observed: { 'valid token': '200', 'unknown token': '401' },
  },
  {
    id: 'unknown-token-status',
    rule: 'S7.5',
    question: 'HTTP status for an unknown, expired or revoked access token',
    choice:
      'An unknown, expired or revoked access token is answered with 404 and the id not_found. With `--unknown-token-status 401` the status is 401, with the same body.',
    observed: { 'unknown token': '404 not_found' },
  },
  {
    id: 'missing-token',
    rule: 'S7.5',
    question: 'A request without a well-formed bearer header',
    choice:
      'A request without a well-formed bearer header is answered with 401 unauthorized and the header WWW-Authenticate: Bearer. A header with one token of any characters except spaces is well-formed.',
    observed: { 'no bearer header': '401 unauthorized', 'WWW-Authenticate': 'Bearer' },
  },
  {
    id: 'scope-status',
    rule: 'S7.5',
    question: 'A write request with the scope read',
    choice:
      'A write request whose token has the scope read is answered with 403 forbidden before its path is checked, and the state does not change.',
    observed: {
      'POST /v2/droplets with the scope read': '403 forbidden',
      'POST to an unknown path with the scope read': '403 forbidden',
    },
  },
  {
    id: 'trailing-slash',
    rule: 'S1.5',
    question: 'A path of the resource API with a trailing slash',
    choice:
      'A path with one trailing slash is equal to the path without it. A path with two or more trailing slashes is answered with 404.',
    observed: { 'one trailing slash': '200', 'two trailing slashes': '404 no_such_path' },
  },
  {
    id: 'api-errors',
    rule: 'S7.5',
    question: 'Errors of the resource API',
    choice:
      'An error is {id, message, request_id} with status 400, 401, 403, 404, 405, 409, 413, 415, 421, 422, 429 or 500. A path that the sandbox does not have is answered with 404 and the id no_such_path, a refused token with 404 and the id not_found.',
    observed: {
      'unknown path': '404 no_such_path',
      'members of an error': 'id, message, request_id',
      'unknown droplet': '404 not_found',
    },
  },
  {
    id: 'host-header',
    rule: 'S1.6',
    question: 'A request whose Host header does not name the loopback address and port of the origin',
    choice:
      'A request with another Host header is answered with 421 on both origins before path and token are checked, which prevents DNS rebinding. The error is misdirected_request on the resource API, and invalid_request or an error page on the authorization server.',
    observed: {
      'resource API, another host': '421 misdirected_request',
      'authorization server, another host': '421 invalid_request',
    },
  },
  {
    id: 'cross-origin',
    rule: 'S1.6',
    question: 'Requests of browser pages with a token of the implicit flow (CORS)',
    choice:
      'Pages of every origin may send requests to /v2/* and to /v1/oauth/revoke, with the headers authorization and content-type and without cookies, and may read the responses, errors and faults included. No other path allows it. A preflight request is answered with 204 without a token; it is logged as `OPTIONS (CORS preflight)`, and faults and rate limits do not count it.',
    observed: {
      'preflight for /v2/actions': '204',
      'Access-Control-Allow-Origin of /v2/actions': '*',
      'preflight for the revocation endpoint': '204',
      'preflight for the token endpoint': '405',
    },
  },
  {
    id: 'rate-limits',
    rule: 'S1.6',
    question: 'Rate limits',
    choice:
      'By default the sandbox has no rate limits and sends no rate limit headers. With `--rate-limit` it sends the headers and enforces the limits by the virtual clock.',
    observed: { 'rate limit headers': 'none' },
  },
  {
    id: 'lists',
    rule: 'S7.7',
    question: 'Bodies of list responses',
    choice:
      'A list response is {<key>, links, meta.total}. The parameter page is 1 or greater, and per_page is 1 to 200; other values are answered with 422. A page after the last one is empty. Actions are listed newest first, droplets oldest first. List responses have the form that the public service documents. The client requires an array under <key> whose items have an id; for another body its error names `api GET … --paginate`, which prints the body unparsed.',
    observed: {
      'page 0': '422 unprocessable_entity',
      'per_page 0': '422 unprocessable_entity',
      'per_page 201': '422 unprocessable_entity',
      'items with per_page 1': 'at most 1',
      'items after the last page': '0',
      'pages together': 'as many items as meta.total',
      'order of actions': 'newest first',
      'order of droplets': 'oldest first',
    },
  },
  {
    id: 'single-resources',
    rule: 'S1.6',
    question: 'Endpoints for one action or one droplet',
    choice:
      'GET /v2/actions/{id} returns one action, and GET /v2/droplets/{id} one droplet. Resources of other accounts are answered with 404.',
    observed: { 'GET /v2/actions/{id}': '200', 'GET /v2/droplets/{id}': '200', 'unknown id': '404 not_found' },
  },
  {
    id: 'create-body',
    rule: 'S8.4',
    question: 'Response to the creation of droplets',
    choice:
      'The response to a creation request is 202 with droplet for a request with name, or droplets for a request with names in the same order, and the create actions in links.',
    observed: { name: '202 droplet, links', names: '202 droplets, in the order of names' },
  },
  {
    id: 'create-required',
    rule: 'S8.4',
    question: 'Attributes of a creation request, and which are required',
    choice:
      'A creation request requires size, image and either name or names; the default region is nyc3, and the letters of a place (nyc) mean its newest region. Null, [] and an empty region are treated as absent, and unknown attributes are ignored. An image is a slug or an id; the id is a number or a string of digits. Volumes are ids, or objects with id or name. Invalid values are answered with 422 and a message that names the field.',
    observed: {
      'no size': '422 unprocessable_entity',
      'no image': '422 unprocessable_entity',
      'no region': '202',
      'no name': '422 unprocessable_entity',
      'region without number': '202',
      'unknown attribute': '202',
    },
  },
  {
    id: 'create-names',
    rule: 'S8.2',
    question: 'How many names one creation request may have',
    choice:
      'A creation request can have at most 10 names; either all of its droplets are created or none. Names need not be unique.',
    observed: { '11 names': '422 unprocessable_entity', 'a name twice': '202' },
  },
  {
    id: 'create-lifecycle',
    rule: 'S8.4',
    question: 'Lifecycle of a droplet',
    choice:
      'A droplet has the status new and no networks for 5 s of the virtual clock, then the status active. The create action of a droplet is in progress until the droplet is active.',
    observed: { 'status at first': 'new', 'status after 6 s': 'active' },
  },
  {
    id: 'create-catalogue',
    rule: 'S8.3',
    question: 'Available regions, sizes and images',
    choice:
      'The sandbox accepts the slugs of the public service that src/sandbox/v2/catalogue.ts lists. A request with another slug is answered with 422.',
    observed: { 'unknown region': '422 unprocessable_entity', 'unknown image': '422 unprocessable_entity' },
  },
  {
    id: 'droplet-limit',
    rule: 'S8.4',
    question: 'How many droplets an account may have',
    choice:
      'By default the number of droplets is not limited. `--droplet-limit` sets a limit for each account; a request that exceeds it is answered with 422 and the id droplet_limit. GET /v2/account returns the limit in droplet_limit, and 1000000 if there is no limit, because clients read a number.',
    unobserved: 'the limit is an option of the sandbox',
  },
  {
    id: 'delete-droplet',
    rule: 'S8.4',
    question: 'Path and response of a droplet deletion',
    choice:
      'DELETE /v2/droplets/{id} deletes one droplet, and DELETE /v2/droplets?tag_name=T deletes all droplets with a tag; the response is 204. For each deleted droplet an action of type destroy is recorded.',
    observed: { 'DELETE of an unknown id': '404 not_found', 'GET before DELETE': '200' },
  },
];
