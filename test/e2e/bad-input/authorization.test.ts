import { afterAll } from 'vitest';
import { type GoldenCase, goldenCases } from './golden-cases.ts';
import { applicationEnvironment, loggedInEnvironment, redirectWith } from './login-environment.ts';
import { type Judge, startServers } from './servers.ts';

const servers = await startServers();
afterAll(() => servers.close());

const list = ['actions', 'list'];
const api = (judge: Judge): Promise<string> => servers.answering(judge);
const login = ['auth', 'login', '--no-browser'];
const code = redirectWith({ code: 'canary-code', state: 'STATE' });
const lapsed = { expires_at: 1 };
/** Of a server whose grants say whose account it is (docs/service.md S2.10). */
const lapsedOfSpec = { ...lapsed, account_uuid: '5b0f2c1e-6a7d-4c3b-9e8f-0a1b2c3d4e5f' };
const refusal =
  (error: string, words: string): Judge =>
  () => ({ status: 401, body: { error, error_description: words } });

/** The authorization server is not there, or is something else: at a refresh, at a logout and at a login. */
const cases: readonly GoldenCase[] = [
  {
    name: 'refresh: nobody listens',
    exit: 6,
    code: 'unreachable',
    args: list,
    prepare: loggedInEnvironment({ auth: servers.closed }, lapsed),
  },
  {
    name: 'refresh: a certificate that nobody vouches for',
    exit: 6,
    code: 'tls',
    args: ['auth', 'refresh'],
    prepare: loggedInEnvironment({ auth: servers.selfSigned }),
  },
  {
    name: 'refresh: an answer in HTML',
    exit: 1,
    code: 'api_error',
    status: 200,
    args: ['auth', 'token'],
    prepare: loggedInEnvironment({ auth: servers.html }, lapsed),
  },
  {
    name: 'refresh: an answer in HTML, with a trace',
    exit: 1,
    code: 'api_error',
    status: 200,
    args: ['--trace', 'auth', 'token'],
    prepare: loggedInEnvironment({ auth: servers.html }, lapsed),
  },
  {
    name: 'refresh: a redirect',
    exit: 1,
    code: 'api_error',
    status: 302,
    args: ['auth', 'refresh'],
    prepare: loggedInEnvironment({ auth: servers.redirecting }),
  },
  {
    name: 'refresh: an error of the server',
    exit: 1,
    code: 'api_error',
    status: 500,
    args: ['auth', 'refresh'],
    prepare: loggedInEnvironment({ auth: servers.failing }),
  },
  {
    name: 'refresh: a refresh token that is no longer accepted',
    exit: 4,
    code: 'needs_login',
    args: list,
    prepare: loggedInEnvironment(
      { auth: await api(refusal('invalid_grant', 'The refresh token was used.')) },
      lapsedOfSpec,
    ),
  },
  {
    name: 'refresh: a refresh token that a server of another kind does not accept without credentials',
    exit: 4,
    code: 'needs_login',
    args: list,
    prepare: loggedInEnvironment(
      { auth: await api(refusal('invalid_grant', 'The refresh token is of another client.')) },
      lapsed,
    ),
  },
  {
    name: 'refresh: a client that is not known',
    exit: 4,
    code: 'invalid_client',
    status: 401,
    args: list,
    prepare: loggedInEnvironment({ auth: await api(refusal('invalid_client', 'Unknown client.')) }, lapsedOfSpec),
  },
  {
    name: 'refresh: a server of another kind that misses credentials',
    exit: 4,
    code: 'invalid_client',
    status: 401,
    args: list,
    prepare: loggedInEnvironment({ auth: await api(refusal('invalid_client', 'No client.')) }, lapsed),
  },
  {
    name: 'refresh: expired, with nothing to renew it',
    exit: 4,
    code: 'needs_login',
    args: ['auth', 'token'],
    prepare: loggedInEnvironment({}, { ...lapsed, refresh_token: undefined }),
  },
  {
    name: 'refresh: NODE_DEBUG=http',
    exit: 2,
    code: 'usage',
    args: ['auth', 'refresh'],
    prepare: (folders) => ({ ...loggedInEnvironment({ auth: servers.html })(folders), NODE_DEBUG: 'http' }),
  },
  {
    name: 'logout: nobody listens',
    exit: 6,
    code: 'unreachable',
    args: ['auth', 'logout'],
    prepare: loggedInEnvironment({ auth: servers.closed }, { expires_at: 4_102_444_800 }),
  },
  {
    name: 'logout: an answer in HTML',
    exit: 1,
    code: 'api_error',
    args: ['auth', 'logout'],
    prepare: loggedInEnvironment({ auth: servers.html, base: servers.html }, { expires_at: 4_102_444_800 }),
  },
  {
    name: 'login: nobody listens',
    exit: 6,
    code: 'unreachable',
    args: login,
    env: applicationEnvironment({ auth: servers.closed }),
  },
  {
    name: 'login: a certificate that nobody vouches for',
    exit: 6,
    code: 'tls',
    args: login,
    env: applicationEnvironment({ auth: servers.selfSigned }),
  },
  {
    name: 'login: an answer in HTML',
    exit: 1,
    code: 'api_error',
    status: 200,
    args: login,
    env: applicationEnvironment({ auth: servers.html }),
    duringRun: code,
  },
  {
    name: 'login: an answer in HTML, with a trace',
    exit: 1,
    code: 'api_error',
    status: 200,
    args: ['--trace', ...login],
    env: applicationEnvironment({ auth: servers.html }),
    duringRun: code,
  },
  {
    name: 'login: a redirect',
    exit: 1,
    code: 'api_error',
    status: 302,
    args: login,
    env: applicationEnvironment({ auth: servers.redirecting }),
    duringRun: code,
  },
  {
    name: 'login: an error of the server',
    exit: 1,
    code: 'api_error',
    status: 500,
    args: login,
    env: applicationEnvironment({ auth: servers.failing }),
    duringRun: code,
  },
  {
    name: 'login: a grant that lacks its tokens',
    exit: 1,
    code: 'api_error',
    status: 200,
    args: login,
    env: applicationEnvironment({ auth: await api(() => ({ status: 200, body: { token_type: 'bearer' } })) }),
    duringRun: code,
  },
  {
    name: 'login: a wrong client secret',
    exit: 4,
    code: 'invalid_client',
    status: 401,
    args: login,
    env: applicationEnvironment({ auth: await api(refusal('invalid_client', 'Client authentication failed.')) }),
    duringRun: code,
  },
  {
    name: 'login: a server that looks for the parameters in the body',
    exit: 1,
    code: 'api_error',
    status: 401,
    args: login,
    env: applicationEnvironment({ auth: await api(refusal('invalid_request', 'grant_type is missing.')) }),
    duringRun: code,
  },
  {
    name: 'login: a code that is not accepted',
    exit: 4,
    code: 'invalid_grant',
    status: 401,
    args: login,
    env: applicationEnvironment({ auth: await api(refusal('invalid_grant', 'The code has expired.')) }),
    duringRun: code,
  },
  {
    name: 'login: refused consent',
    exit: 4,
    code: 'access_denied',
    args: login,
    env: applicationEnvironment({}),
    duringRun: redirectWith({ error: 'access_denied', error_description: 'The user said no.', state: 'STATE' }),
  },
  {
    name: 'login: a code with another state',
    exit: 4,
    code: 'state_mismatch',
    args: login,
    env: applicationEnvironment({}),
    duringRun: redirectWith({ code: 'canary-code', state: 'canary-state' }),
  },
  {
    name: 'login: an answer without a state',
    exit: 4,
    code: 'state_mismatch',
    args: login,
    env: applicationEnvironment({}),
    duringRun: redirectWith({ error: 'canary_error', error_description: 'canary' }),
  },
  {
    name: 'login: a code and an error at once',
    exit: 4,
    code: 'malformed_response',
    args: login,
    env: applicationEnvironment({}),
    duringRun: redirectWith({ code: 'canary-code', error: 'access_denied', state: 'STATE' }),
  },
  {
    name: 'login: prompt=none with nobody signed in',
    exit: 4,
    code: 'login_required',
    args: [...login, '--prompt', 'none'],
    env: applicationEnvironment({}),
    duringRun: redirectWith({ error: 'login_required', state: 'STATE' }),
  },
  {
    name: 'login: prompt=none without consent',
    exit: 4,
    code: 'consent_required',
    args: [...login, '--prompt', 'none'],
    env: applicationEnvironment({}),
    duringRun: redirectWith({ error: 'consent_required', state: 'STATE' }),
  },
  {
    name: 'login: nobody comes back',
    exit: 4,
    code: 'login_timeout',
    args: [...login, '--login-timeout', '1s'],
    env: applicationEnvironment({}),
  },
  {
    name: 'login: the port is in use',
    exit: 1,
    code: 'port_in_use',
    args: login,
    env: { ...applicationEnvironment({}), CLOUDCTL_CALLBACK_URL: `${servers.silent}/callback` },
  },
  {
    name: 'login: NODE_DEBUG=http',
    exit: 2,
    code: 'usage',
    args: login,
    env: { ...applicationEnvironment({}), NODE_DEBUG: 'http' },
  },
  {
    name: 'login: NODE_TLS_REJECT_UNAUTHORIZED=0',
    exit: 2,
    code: 'usage',
    args: login,
    env: { ...applicationEnvironment({}), NODE_TLS_REJECT_UNAUTHORIZED: '0' },
  },
];

goldenCases('authorization', cases);
