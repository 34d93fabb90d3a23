import { afterAll } from 'vitest';
import { type GoldenCase, goldenCases } from './golden-cases.ts';
import { applicationEnvironment, loggedInEnvironment } from './login-environment.ts';
import { type Judge, startServers } from './servers.ts';

const servers = await startServers();
afterAll(() => servers.close());

const list = ['actions', 'list'];
const api = (judge: Judge): Promise<string> => servers.answering(judge);
const problem =
  (status: number, id: string, message: string): Judge =>
  () => ({ status, body: { id, message } });
/** A thing that is missing on a server that knows the token: its lists can be read. */
const missing =
  (message: string): Judge =>
  (request) =>
    /^\/v2\/(actions|droplets)(\?|$)/.test(request.url ?? '')
      ? { status: 200, body: { actions: [], droplets: [], links: {}, meta: { total: 0 } } }
      : { status: 404, body: { id: 'not_found', message } };

/** The resource API is not there, or is something else. */
const cases: readonly GoldenCase[] = [
  {
    name: 'nobody listens',
    exit: 6,
    code: 'unreachable',
    args: list,
    prepare: loggedInEnvironment({ base: servers.closed }),
  },
  {
    name: 'a name that does not exist',
    exit: 6,
    code: 'unreachable',
    args: list,
    prepare: loggedInEnvironment({ base: 'https://api.cloudctl.invalid' }),
  },
  {
    name: 'a certificate that nobody vouches for',
    exit: 6,
    code: 'tls',
    args: list,
    prepare: loggedInEnvironment({ base: servers.selfSigned }),
  },
  {
    name: 'http where https is spoken',
    exit: 6,
    code: 'unreachable',
    args: list,
    prepare: loggedInEnvironment({ base: servers.selfSigned.replace('https', 'http') }),
  },
  {
    name: 'https where http is spoken',
    exit: 6,
    code: 'tls',
    args: list,
    prepare: loggedInEnvironment({ base: servers.html.replace('http', 'https') }),
  },
  {
    name: 'an answer in HTML',
    exit: 1,
    code: 'api_error',
    status: 200,
    args: list,
    prepare: loggedInEnvironment({ base: servers.html }),
  },
  {
    name: 'an answer in HTML, with a trace',
    exit: 1,
    code: 'api_error',
    status: 200,
    args: ['--trace', ...list],
    prepare: loggedInEnvironment({ base: servers.html }),
  },
  {
    name: 'an answer in HTML to a new droplet',
    exit: 1,
    code: 'api_error',
    status: 200,
    args: ['api', 'POST', '/v2/droplets', '--data', '{"name":"web-01"}'],
    prepare: loggedInEnvironment({ base: servers.html }),
  },
  {
    name: 'a redirect',
    exit: 1,
    code: 'api_error',
    status: 302,
    args: list,
    prepare: loggedInEnvironment({ base: servers.redirecting }),
  },
  {
    name: 'an error of the server',
    exit: 1,
    code: 'api_error',
    status: 500,
    requestId: 'request-1',
    args: list,
    prepare: loggedInEnvironment({ base: servers.failing }),
  },
  {
    name: 'no answer in time',
    exit: 6,
    code: 'timeout',
    args: ['--timeout', '1s', ...list],
    prepare: loggedInEnvironment({ base: servers.silent }),
  },
  {
    name: 'JSON of another kind',
    exit: 1,
    code: 'api_error',
    args: list,
    prepare: loggedInEnvironment({ base: await api(() => ({ status: 200, body: { actions: 3 } })) }),
  },
  {
    name: 'a list that is shorter than it says',
    exit: 1,
    code: 'incomplete_list',
    args: list,
    prepare: loggedInEnvironment({
      base: await api(() => ({ status: 200, body: { actions: [], links: {}, meta: { total: 7 } } })),
    }),
  },
  {
    name: 'a next page elsewhere',
    exit: 1,
    code: 'api_error',
    noHint: true,
    args: list,
    prepare: loggedInEnvironment({
      base: await api(() => ({
        status: 200,
        body: { actions: [], links: { pages: { next: 'https://evil.example/v2/actions?page=2' } }, meta: { total: 7 } },
      })),
    }),
  },
  {
    name: 'a scope that is too small',
    exit: 4,
    code: 'scope_too_small',
    status: 403,
    args: ['api', 'POST', '/v2/droplets', '--data', '{"name":"web-01"}'],
    prepare: loggedInEnvironment({ base: await api(problem(403, 'forbidden', 'You do not have access.')) }),
  },
  {
    name: 'a thing that is not there',
    exit: 1,
    code: 'not_found',
    status: 404,
    args: ['api', 'GET', '/v2/droplets/17'],
    prepare: loggedInEnvironment({ base: await api(missing('The resource could not be found.')) }),
  },
  {
    name: 'too many requests',
    exit: 1,
    code: 'rate_limited',
    status: 429,
    args: list,
    prepare: loggedInEnvironment({ base: await api(problem(429, 'too_many_requests', 'Slow down.')) }),
  },
  {
    name: 'a token that is refused and cannot be renewed',
    exit: 4,
    code: 'needs_login',
    args: list,
    prepare: loggedInEnvironment(
      { base: await api(problem(401, 'unauthorized', 'Unable to authenticate you.')) },
      { refresh_token: undefined },
    ),
  },
  {
    name: 'a token of the variable that is refused',
    exit: 4,
    code: 'token_refused',
    args: list,
    env: {
      ...applicationEnvironment({ base: await api(problem(401, 'unauthorized', 'Unable to authenticate you.')) }),
      CLOUDCTL_ACCESS_TOKEN: 'canary-access-token',
    },
  },
  {
    name: 'terminal sequences in an answer',
    exit: 1,
    code: 'not_found',
    status: 404,
    args: ['api', 'GET', '/v2/droplets/17'],
    prepare: loggedInEnvironment({ base: await api(missing('Gone\u001b]0;owned\u0007\u202e.')) }),
  },
  {
    name: 'NODE_DEBUG=http',
    exit: 2,
    code: 'usage',
    args: list,
    prepare: (folders) => ({ ...loggedInEnvironment({ base: servers.html })(folders), NODE_DEBUG: 'http' }),
  },
  {
    name: 'NODE_TLS_REJECT_UNAUTHORIZED=0',
    exit: 2,
    code: 'usage',
    args: list,
    prepare: (folders) => ({
      ...loggedInEnvironment({ base: servers.html })(folders),
      NODE_TLS_REJECT_UNAUTHORIZED: '0',
    }),
  },
];

goldenCases('resource', cases);
