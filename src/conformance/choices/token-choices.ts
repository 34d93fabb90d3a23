import { sendSignedInAuthorizationRequest } from '../authorization-requests.ts';
import { isSuccessfulResponse, readConformanceErrorCode, summarizeResponse } from '../conformance-response.ts';
import {
  obtainPrerequisiteTokens,
  requestActionList,
  requireTokensOfTestedServer,
  sendConformanceRefreshRequest,
  sendTestOAuthRequest,
  sendTestTokenRequest,
} from '../grants.ts';
import {
  exchangeCodeWithWrongRedirectUri,
  replayAuthorizationCode,
  revokeAndReuseNewestTestToken,
} from '../journeys.ts';
import { buildMadeUpCodeExchange, createMadeUpSecret, exchangeMadeUpCode } from '../made-up-codes.ts';
import {
  advanceSandboxClock,
  requireSandboxApplicationNotUnderTest,
  requireSandboxUserInAnyTeam,
  revokeAllApplicationsThroughPanel,
  signInAtSandboxPanel,
} from '../sandbox-people.ts';
import type { SpecGapProbe } from '../statement.ts';
import { summarizeAuthorizationPageOrRedirect } from './authorization-page-or-redirect.ts';

/** The functions that observe open choices about tokens and their revocation. */
export const tokenSpecGapProbes: readonly SpecGapProbe[] = [
  {
    id: 'token-encodings',
    needs: ['client', 'secret'],
    observe: async (server) => {
      const { client_id, client_secret, ...rest } = buildMadeUpCodeExchange(server);
      const send = async (more: object): Promise<string> => {
        const response = await server.request({ method: 'POST', path: '/v1/oauth/token', ...more });
        // Only a server that has read every parameter can say that the code is invalid.
        return readConformanceErrorCode(response) === 'invalid_grant'
          ? 'read'
          : `not read: ${summarizeResponse(response)}`;
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
        'unknown code': summarizeResponse(await exchangeMadeUpCode(server)),
        'wrong client secret': summarizeResponse(wrong),
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
        summarizeResponse(await server.request({ method: 'POST', path: '/v1/oauth/token', query }));
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
      'correct exchange after a failed one': summarizeResponse((await exchangeCodeWithWrongRedirectUri(server)).right),
    }),
  },
  {
    id: 'token-replay',
    needs: ['client', 'secret', 'consent'],
    observe: async (server) => ({
      'access token after a second use of its code': summarizeResponse((await replayAuthorizationCode(server)).use),
    }),
  },
  {
    id: 'refresh-credentials',
    needs: ['client', 'secret', 'sandbox'],
    observe: async (server) => {
      const { refreshToken } = await obtainPrerequisiteTokens(server);
      const send = async (credentials: object): Promise<string> =>
        summarizeResponse(
          await sendTestTokenRequest(server, {
            grant_type: 'refresh_token',
            refresh_token: refreshToken,
            ...credentials,
          }),
        );
      const other = requireSandboxApplicationNotUnderTest(server);
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
      const { refreshToken } = await obtainPrerequisiteTokens(server);
      await advanceSandboxClock(server, '365d');
      return { 'refresh after a year': summarizeResponse(await sendConformanceRefreshRequest(server, refreshToken)) };
    },
  },
  {
    id: 'refresh-scope',
    needs: ['client', 'secret', 'consent'],
    observe: async (server) => {
      const scopeAfter = async (granted: string, sent: string): Promise<string> => {
        const { refreshToken } = await obtainPrerequisiteTokens(server, { scope: granted });
        const parameters = { grant_type: 'refresh_token', refresh_token: refreshToken, scope: sent };
        const response = await sendTestTokenRequest(server, parameters);
        return isSuccessfulResponse(response)
          ? String(requireTokensOfTestedServer(server, response).body.scope)
          : summarizeResponse(response);
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
      const { use, refresh } = await revokeAndReuseNewestTestToken(server);
      return {
        'access token after its revocation': summarizeResponse(use),
        'refresh after a revocation of the access token': summarizeResponse(refresh),
      };
    },
  },
  {
    id: 'revoke-unknown',
    needs: ['writes'],
    observe: async (server) => {
      const token = createMadeUpSecret(server, '[unknown token]');
      const response = await sendTestOAuthRequest(server, '/v1/oauth/revoke', { token });
      return { 'unknown token': `${summarizeResponse(response)}${response.body.trim() === '{}' ? ' {}' : ''}` };
    },
  },
  {
    id: 'revoke-bearer',
    needs: ['grant'],
    observe: async (server) => {
      const { accessToken } = await obtainPrerequisiteTokens(server);
      const other = createMadeUpSecret(server, '[another token]');
      const response = await sendTestOAuthRequest(
        server,
        '/v1/oauth/revoke',
        { token: accessToken },
        { bearer: other },
      );
      return {
        'another bearer token': summarizeResponse(response),
        'the token after it': summarizeResponse(await requestActionList(server, accessToken)),
      };
    },
  },
  {
    id: 'panel-revoke',
    needs: ['client', 'secret', 'sandbox'],
    observe: async (server) => {
      const person = requireSandboxUserInAnyTeam(server);
      const personal = await obtainPrerequisiteTokens(server, { person });
      await revokeAllApplicationsThroughPanel(server, person);
      const cookies = await signInAtSandboxPanel(server, person);
      const end = await sendSignedInAuthorizationRequest(server, cookies, { prompt: 'none' });
      return {
        'refresh after a revocation': summarizeResponse(
          await sendConformanceRefreshRequest(server, personal.refreshToken),
        ),
        'prompt=none after a revocation': summarizeAuthorizationPageOrRedirect(server, end),
      };
    },
  },
];
