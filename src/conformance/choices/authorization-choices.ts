import { sendInvalidAuthorizationRequest, sendSignedInAuthorizationRequest } from '../authorization-requests.ts';
import {
  authorizeTestedClient,
  buildTestedClientAuthorizationParameters,
  examplePkceChallenge,
} from '../authorize-tested-client.ts';
import type { AuthorizationPageOrRedirect } from '../browse.ts';
import { summarizeResponse } from '../conformance-response.ts';
import {
  buildCodeExchangeParameters,
  obtainPrerequisiteAuthorizationCode,
  obtainPrerequisiteTokens,
  sendTestTokenRequest,
} from '../grants.ts';
import {
  advanceSandboxClock,
  requireFirstSandboxUser,
  requireSandboxUserInAnyTeam,
  revokeAllApplicationsThroughPanel,
  setSandboxConsent,
  signInAtSandboxPanel,
} from '../sandbox-people.ts';
import type { RequestParameterValues, ServerUnderTest } from '../server-under-test.ts';
import { observeInTurn, type SpecGapObservations, type SpecGapProbe } from '../statement.ts';
import { summarizeAuthorizationPageOrRedirect } from './authorization-page-or-redirect.ts';

const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';

/**
 * The functions that observe open choices about authorization requests. The PKCE challenge is the example of RFC 7636,
 * appendix B.
 */
export const authorizationSpecGapProbes: readonly SpecGapProbe[] = [
  {
    id: 'authorize-errors-in-query',
    needs: ['client'],
    observe: async (server) => {
      const end = await sendInvalidAuthorizationRequest(server, { response_type: 'token', state: ['one', 'two'] });
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
      'scope `write read`': String((await obtainPrerequisiteTokens(server, { scope: 'write read' })).body.scope),
      ...(await observeRefusals(server, { 'scope `read read`': { scope: 'read read' } })),
    }),
  },
  {
    id: 'pkce',
    needs: ['client', 'secret', 'sandbox'],
    observe: async (server) => {
      const exchange = async (more: RequestParameterValues, code_verifier: string | undefined): Promise<string> => {
        const code = await obtainPrerequisiteAuthorizationCode(server, { more });
        return summarizeResponse(
          await sendTestTokenRequest(server, buildCodeExchangeParameters(server, code, { code_verifier })),
        );
      };
      return {
        ...(await observeRefusals(server, {
          'method plain': { ...examplePkceChallenge, code_challenge_method: 'plain' },
        })),
        'method S256, correct verifier': await exchange(examplePkceChallenge, verifier),
        'method S256, no verifier': await exchange(examplePkceChallenge, undefined),
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
      const person = requireSandboxUserInAnyTeam(server);
      await revokeAllApplicationsThroughPanel(server, person);
      await obtainPrerequisiteTokens(server, { person });
      const cookies = await signInAtSandboxPanel(server, person);
      const wider = await sendSignedInAuthorizationRequest(server, cookies, { prompt: 'none', scope: 'read write' });
      const same = await sendSignedInAuthorizationRequest(server, cookies, { prompt: 'none', scope: 'read' });
      return {
        'wider scope': summarizeAuthorizationPageOrRedirect(server, wider),
        'authorized scope': summarizeAuthorizationPageOrRedirect(server, same),
      };
    },
  },
  {
    id: 'prompt-none-hint',
    needs: ['client', 'sandbox'],
    observe: async (server) => {
      await obtainPrerequisiteTokens(server);
      const person = requireFirstSandboxUser(server);
      const hint = person.uuid.slice(0, 6);
      const cookies = await signInAtSandboxPanel(server, person);
      const send = async (i: string, prompt?: string): Promise<string> =>
        summarizeAuthorizationPageOrRedirect(
          server,
          await sendSignedInAuthorizationRequest(server, cookies, { prompt, i }),
        );
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
      const stateOf = ({ query, fragment }: AuthorizationPageOrRedirect, state: string): string => {
        const returned = query.get('state') ?? fragment.get('state');
        return returned === null ? 'no state' : returned === state ? 'the state' : 'another state';
      };
      const state = 'a+b c%2Fd&e=f/ü';
      const once = await sendInvalidAuthorizationRequest(server, { response_type: 'id_token', state });
      const twice = await sendInvalidAuthorizationRequest(server, { response_type: 'id_token', state: [state, 'two'] });
      return { 'error of a request with a state': stateOf(once, state), 'state sent twice': stateOf(twice, state) };
    },
  },
  {
    id: 'head-authorize',
    needs: ['client', 'sandbox'],
    observe: async (server) => {
      const { email } = requireFirstSandboxUser(server);
      await setSandboxConsent(server, { mode: 'approve', user: email });
      const query = buildTestedClientAuthorizationParameters(server, { state: server.unique() });
      const response = await server.request({ method: 'HEAD', path: '/v1/oauth/authorize', query });
      await setSandboxConsent(server, { mode: 'ask' });
      const hasCode = /[?&]code=[^&]/.test(response.header('location') ?? '');
      return { 'HEAD of an approved request': hasCode ? 'redirect code' : `no code, ${summarizeResponse(response)}` };
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
      await obtainPrerequisiteTokens(server);
      const cookies = await signInAtSandboxPanel(server, requireFirstSandboxUser(server));
      await advanceSandboxClock(server, '365d');
      const end = await sendSignedInAuthorizationRequest(server, cookies, { prompt: 'none' });
      return { 'prompt=none a year after the sign-in': summarizeAuthorizationPageOrRedirect(server, end) };
    },
  },
  {
    id: 'implicit-refresh',
    needs: ['client', 'sandbox'],
    observe: async (server) => {
      const { fragment } = await authorizeTestedClient(server, { flow: 'implicit' });
      const presence = (name: string): string => (fragment.has(name) ? 'present' : 'absent');
      return { 'refresh_token in the fragment': presence('refresh_token'), 'scope in the fragment': presence('scope') };
    },
  },
];

function observeRefusals(
  server: ServerUnderTest,
  cases: Readonly<Record<string, RequestParameterValues>>,
): Promise<SpecGapObservations> {
  return observeInTurn(cases, async (changes) =>
    summarizeAuthorizationPageOrRedirect(server, await sendInvalidAuthorizationRequest(server, changes)),
  );
}
