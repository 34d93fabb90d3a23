import {
  authorizationParams,
  authorize,
  exampleChallenge,
  type PageOrRedirect,
  sendInvalid,
  sendSignedIn,
  summarizeEnd,
} from '../authorize.ts';
import {
  exchangeMadeUpCode,
  exchangeParams,
  exchangeWrongRedirect,
  freshCode,
  freshTokens,
  listActions,
  madeUpExchange,
  madeUpSecret,
  postOAuth,
  postToken,
  replayCode,
  requireTokens,
  revokeAndReuse,
  sendRefresh,
} from '../grants.ts';
import { errorCodeOf, isSuccess, summarize } from '../response.ts';
import { advanceClock, firstUser, otherClient, revokeInPanel, setConsent, signIn, teamUser } from '../sandbox.ts';
import type { Params, Server } from '../server.ts';
import { type Observations, observeInTurn, type Probe } from '../statement.ts';

const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';

/**
 * The functions that observe open choices about authorization requests. The PKCE challenge is the example of RFC 7636,
 * appendix B.
 */
export const authorizationProbes: readonly Probe[] = [
  {
    id: 'authorize-errors-in-query',
    needs: ['client'],
    observe: async (server) => {
      const end = await sendInvalid(server, { response_type: 'token', state: ['one', 'two'] });
      const place = end.query.has('error') ? 'query' : end.fragment.has('error') ? 'fragment' : 'page';
      return { 'repeated state in the implicit flow': `error in the ${place}` };
    },
  },
  {
    id: 'authorize-order',
    needs: ['client'],
    observe: (server) =>
      observeRefusals(server, {
        'unknown scope and response type': { scope: 'admin', response_type: 'id_token' },
        'repeated scope and unknown response type': { scope: ['read', 'read'], response_type: 'id_token' },
        'unknown response type and prompt': { response_type: 'id_token', prompt: 'other' },
      }),
  },
  {
    id: 'authorize-repeated',
    needs: ['client'],
    observe: (server) =>
      observeRefusals(server, {
        'repeated client_id': { client_id: [server.client?.id ?? '', server.client?.id ?? ''] },
        'repeated redirect_uri': { redirect_uri: [server.client?.callbackUrl ?? '', server.client?.callbackUrl ?? ''] },
        'repeated scope': { scope: ['read', 'read'] },
      }),
  },
  {
    id: 'authorize-response-type',
    needs: ['client'],
    observe: (server) =>
      observeRefusals(server, {
        'response type id_token': { response_type: 'id_token' },
        'no response type': { response_type: undefined },
      }),
  },
  {
    id: 'authorize-empty-parameter',
    needs: ['client'],
    observe: (server) =>
      observeRefusals(server, { 'empty client_id': { client_id: '' }, 'empty response_type': { response_type: '' } }),
  },
  {
    id: 'scope-order',
    needs: ['client', 'secret', 'sandbox'],
    observe: async (server) => ({
      'scope `write read`': String((await freshTokens(server, { scope: 'write read' })).body.scope),
      ...(await observeRefusals(server, { 'scope `read read`': { scope: 'read read' } })),
    }),
  },
  {
    id: 'pkce',
    needs: ['client', 'secret', 'sandbox'],
    observe: async (server) => {
      const exchange = async (more: Params, code_verifier: string | undefined): Promise<string> => {
        const code = await freshCode(server, { more });
        return summarize(await postToken(server, exchangeParams(server, code, { code_verifier })));
      };
      return {
        ...(await observeRefusals(server, {
          'method plain': { ...exampleChallenge, code_challenge_method: 'plain' },
        })),
        'method S256, correct verifier': await exchange(exampleChallenge, verifier),
        'method S256, no verifier': await exchange(exampleChallenge, undefined),
        'no challenge, but a verifier': await exchange({}, verifier),
      };
    },
  },
  {
    id: 'prompt-values',
    needs: ['client', 'writes'],
    observe: (server) =>
      observeRefusals(server, {
        'unknown prompt': { prompt: 'other' },
        'none with another value': { prompt: 'none select_account' },
      }),
  },
  {
    id: 'prompt-none-scope',
    needs: ['client', 'secret', 'sandbox'],
    observe: async (server) => {
      const person = teamUser(server);
      await revokeInPanel(server, person);
      await freshTokens(server, { person });
      const cookies = await signIn(server, person);
      const wider = await sendSignedIn(server, cookies, { prompt: 'none', scope: 'read write' });
      const same = await sendSignedIn(server, cookies, { prompt: 'none', scope: 'read' });
      return {
        'wider scope': summarizeEnd(server, wider),
        'authorized scope': summarizeEnd(server, same),
      };
    },
  },
  {
    id: 'prompt-none-hint',
    needs: ['client', 'sandbox'],
    observe: async (server) => {
      await freshTokens(server);
      const person = firstUser(server);
      const hint = person.uuid.slice(0, 6);
      const cookies = await signIn(server, person);
      const send = async (i: string, prompt?: string): Promise<string> =>
        summarizeEnd(server, await sendSignedIn(server, cookies, { prompt, i }));
      return {
        'malformed hint': await send('xyz', 'none'),
        'hint of another account': await send(hint === 'ffffff' ? '000000' : 'ffffff', 'none'),
        'hint in upper case': await send(hint.toUpperCase(), 'none'),
        'malformed hint without prompt=none': await send('xyz'),
      };
    },
  },
  {
    id: 'state-of-a-denial',
    needs: ['client'],
    observe: async (server) => {
      const stateOf = ({ query, fragment }: PageOrRedirect, state: string): string => {
        const returned = query.get('state') ?? fragment.get('state');
        return returned === null ? 'no state' : returned === state ? 'the state' : 'another state';
      };
      const state = 'a+b c%2Fd&e=f/ü';
      const once = await sendInvalid(server, { response_type: 'id_token', state });
      const twice = await sendInvalid(server, { response_type: 'id_token', state: [state, 'two'] });
      return { 'error of a request with a state': stateOf(once, state), 'state sent twice': stateOf(twice, state) };
    },
  },
  {
    id: 'head-authorize',
    needs: ['client', 'sandbox'],
    observe: async (server) => {
      const { email } = firstUser(server);
      await setConsent(server, { mode: 'approve', user: email });
      const query = authorizationParams(server, { state: server.unique() });
      const response = await server.request({ method: 'HEAD', path: '/v1/oauth/authorize', query });
      await setConsent(server, { mode: 'ask' });
      const hasCode = /[?&]code=[^&]/.test(response.header('location') ?? '');
      return { 'HEAD of an approved request': hasCode ? 'redirect code' : `no code, ${summarize(response)}` };
    },
  },
  {
    id: 'auth-trailing-slash',
    needs: [],
    observe: async (server) => {
      const statusOf = async (method: string, path: string): Promise<string> =>
        String((await server.request({ method, path })).status);
      return {
        'GET /v1/oauth/authorize/': await statusOf('GET', '/v1/oauth/authorize/'),
        'POST /v1/oauth/token/': await statusOf('POST', '/v1/oauth/token/'),
      };
    },
  },
  {
    id: 'browser-session',
    needs: ['client', 'sandbox'],
    observe: async (server) => {
      await freshTokens(server);
      const cookies = await signIn(server, firstUser(server));
      await advanceClock(server, '365d');
      const end = await sendSignedIn(server, cookies, { prompt: 'none' });
      return { 'prompt=none a year after the sign-in': summarizeEnd(server, end) };
    },
  },
  {
    id: 'implicit-refresh',
    needs: ['client', 'sandbox'],
    observe: async (server) => {
      const { fragment } = await authorize(server, { flow: 'implicit' });
      const presence = (name: string): string => (fragment.has(name) ? 'present' : 'absent');
      return { 'refresh_token in the fragment': presence('refresh_token'), 'scope in the fragment': presence('scope') };
    },
  },
];

function observeRefusals(server: Server, cases: Readonly<Record<string, Params>>): Promise<Observations> {
  return observeInTurn(cases, async (changes) => summarizeEnd(server, await sendInvalid(server, changes)));
}

/** The functions that observe open choices about tokens and their revocation. */
export const tokenProbes: readonly Probe[] = [
  {
    id: 'token-encodings',
    needs: ['client', 'secret'],
    observe: async (server) => {
      const { client_id, client_secret, ...rest } = madeUpExchange(server);
      const send = async (more: object): Promise<string> => {
        const response = await server.request({ method: 'POST', path: '/v1/oauth/token', ...more });
        // Only a server that has read every parameter can say that the code is invalid.
        return errorCodeOf(response) === 'invalid_grant' ? 'read' : `not read: ${summarize(response)}`;
      };
      return { 'parameters in a form': await send({ form: { ...rest, client_id, client_secret } }) };
    },
  },
  {
    id: 'token-status',
    needs: ['client', 'secret'],
    observe: async (server) => {
      const wrong = await exchangeMadeUpCode(server, { client_secret: 'a-wrong-client-secret' });
      const get = await server.request({ method: 'GET', path: '/v1/oauth/token' });
      return {
        'unknown code': summarize(await exchangeMadeUpCode(server)),
        'wrong client secret': summarize(wrong),
        'WWW-Authenticate of a wrong client secret':
          wrong.header('www-authenticate') === undefined ? 'absent' : 'present',
        'GET instead of POST': String(get.status),
      };
    },
  },
  {
    id: 'token-order',
    needs: [],
    observe: async (server) => {
      const wrong = { client_id: 'an-unknown-client-id', client_secret: 'a-wrong-client-secret' };
      const send = async (query: Readonly<Record<string, string>>): Promise<string> =>
        summarize(await server.request({ method: 'POST', path: '/v1/oauth/token', query }));
      return {
        'unknown grant type and wrong credentials': await send({ grant_type: 'other', ...wrong }),
        'unknown grant type': await send({ grant_type: 'other' }),
        'no parameters': await send({}),
        'no credentials and no code': await send({ grant_type: 'authorization_code' }),
      };
    },
  },
  {
    id: 'token-failed-exchange',
    needs: ['client', 'secret', 'consent'],
    observe: async (server) => ({
      'correct exchange after a failed one': summarize((await exchangeWrongRedirect(server)).right),
    }),
  },
  {
    id: 'token-replay',
    needs: ['client', 'secret', 'consent'],
    observe: async (server) => ({
      'access token after a second use of its code': summarize((await replayCode(server)).use),
    }),
  },
  {
    id: 'refresh-credentials',
    needs: ['client', 'secret', 'sandbox'],
    observe: async (server) => {
      const { refreshToken } = await freshTokens(server);
      const send = async (credentials: object): Promise<string> =>
        summarize(
          await postToken(server, {
            grant_type: 'refresh_token',
            refresh_token: refreshToken,
            ...credentials,
          }),
        );
      const other = otherClient(server);
      return {
        'wrong client secret': await send({ client_id: server.client?.id, client_secret: 'a-wrong-client-secret' }),
        'credentials of another client': await send({ client_id: other.id, client_secret: other.secret }),
        'correct credentials after these': await send({
          client_id: server.client?.id,
          client_secret: server.client?.secret,
        }),
      };
    },
  },
  {
    id: 'refresh-lifetime',
    needs: ['client', 'secret', 'sandbox'],
    observe: async (server) => {
      const { refreshToken } = await freshTokens(server);
      await advanceClock(server, '365d');
      return { 'refresh after a year': summarize(await sendRefresh(server, refreshToken)) };
    },
  },
  {
    id: 'refresh-scope',
    needs: ['client', 'secret', 'consent'],
    observe: async (server) => {
      const scopeAfter = async (granted: string, sent: string): Promise<string> => {
        const { refreshToken } = await freshTokens(server, { scope: granted });
        const parameters = { grant_type: 'refresh_token', refresh_token: refreshToken, scope: sent };
        const response = await postToken(server, parameters);
        return isSuccess(response) ? String(requireTokens(server, response).body.scope) : summarize(response);
      };
      return {
        'scope=read in a refresh of `read write`': await scopeAfter('read write', 'read'),
        'scope=`read write` in a refresh of read': await scopeAfter('read', 'read write'),
      };
    },
  },
  {
    id: 'revoke-pair',
    needs: ['grant'],
    observe: async (server) => {
      const { use, refresh } = await revokeAndReuse(server);
      return {
        'access token after its revocation': summarize(use),
        'refresh after a revocation of the access token': summarize(refresh),
      };
    },
  },
  {
    id: 'revoke-unknown',
    needs: ['writes'],
    observe: async (server) => {
      const token = madeUpSecret(server, '[unknown token]');
      const response = await postOAuth(server, '/v1/oauth/revoke', { token });
      return { 'unknown token': `${summarize(response)}${response.body.trim() === '{}' ? ' {}' : ''}` };
    },
  },
  {
    id: 'revoke-bearer',
    needs: ['grant'],
    observe: async (server) => {
      const { accessToken } = await freshTokens(server);
      const other = madeUpSecret(server, '[another token]');
      const response = await postOAuth(server, '/v1/oauth/revoke', { token: accessToken }, { bearer: other });
      return {
        'another bearer token': summarize(response),
        'the token after it': summarize(await listActions(server, accessToken)),
      };
    },
  },
  {
    id: 'panel-revoke',
    needs: ['client', 'secret', 'sandbox'],
    observe: async (server) => {
      const person = teamUser(server);
      const personal = await freshTokens(server, { person });
      await revokeInPanel(server, person);
      const cookies = await signIn(server, person);
      const end = await sendSignedIn(server, cookies, { prompt: 'none' });
      return {
        'refresh after a revocation': summarize(await sendRefresh(server, personal.refreshToken)),
        'prompt=none after a revocation': summarizeEnd(server, end),
      };
    },
  },
];
