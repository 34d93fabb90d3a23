import {
  isSuccessfulResponse,
  requireOAuthError,
  requireRefusalOfToken,
  requireResponseCondition,
  requireSuccessfulResponse,
} from '../conformance-response.ts';
import {
  obtainPrerequisiteTokens,
  replaceUsedGivenRefreshToken,
  requestActionList,
  requireTokensOfTestedServer,
  sendTestTokenRequest,
} from '../grants.ts';
import {
  obtainFirstRefreshResponse,
  sendSameRefreshTokenRepeatedly,
  useAccessTokensAfterRefresh,
} from '../journeys.ts';
import { createMadeUpSecret, requireResponseIsTokenError } from '../made-up-codes.ts';
import {
  advanceSandboxClock,
  requireSandboxUserInAnyTeam,
  revokeAllApplicationsThroughPanel,
  withFrozenClock,
} from '../sandbox-people.ts';
import type { ConformanceStatement } from '../statement.ts';

/** The statements about the lifetime of tokens and their refresh (spec §3, §4.3, §5, §8). */
export const refreshConformanceStatements: readonly ConformanceStatement[] = [
  {
    number: '5',
    section: '1',
    text: 'Refreshing a token is supported.',
    needs: ['grant'],
    play: async (server) => void requireTokensOfTestedServer(server, await obtainFirstRefreshResponse(server)),
  },
  {
    number: '51',
    section: '3',
    text: 'A refresh invalidates the earlier access token and issues a new pair that works.',
    needs: ['grant'],
    play: async (server) => {
      const { before, after } = await useAccessTokensAfterRefresh(server);
      requireRefusalOfToken(before);
      requireSuccessfulResponse(after, 'the list of actions with the new access token');
    },
  },
  {
    number: '52a',
    section: '3',
    text: 'A refresh token cannot be used a second time.',
    needs: ['grant'],
    turn: 1,
    play: async (server) => requireOAuthError((await sendSameRefreshTokenRepeatedly(server)).late, 'invalid_grant'),
  },
  {
    number: '52b',
    section: '8',
    text: 'Of ten refreshes with one refresh token at once, exactly one succeeds.',
    needs: ['grant'],
    turn: 1,
    play: async (server) => {
      const { parallel } = await sendSameRefreshTokenRepeatedly(server);
      const successes = parallel.filter(isSuccessfulResponse);
      const [shown = parallel[0]] = successes.slice(1);
      if (shown !== undefined) requireResponseCondition(successes.length === 1, 'one success of ten', shown);
    },
  },
  {
    number: '53',
    section: '3',
    text: 'A revocation in the control panel invalidates the access token.',
    needs: ['client', 'secret', 'sandbox'],
    play: async (server) => {
      const person = requireSandboxUserInAnyTeam(server);
      const { accessToken } = await obtainPrerequisiteTokens(server, { person });
      const before = await requestActionList(server, accessToken);
      requireSuccessfulResponse(before, 'the list of actions before the revocation');
      await revokeAllApplicationsThroughPanel(server, person);
      requireRefusalOfToken(await requestActionList(server, accessToken));
    },
  },
  {
    number: '81',
    section: '4.3',
    text: 'A refresh has two parameters, grant_type and refresh_token; both are required.',
    needs: [],
    play: async (server) => {
      const refresh_token = createMadeUpSecret(server, '[refresh token]');
      requireOAuthError(
        await sendTestTokenRequest(server, { grant_type: 'refresh_token', refresh_token }),
        'invalid_grant',
      );
      requireResponseIsTokenError(await sendTestTokenRequest(server, { grant_type: 'refresh_token' }));
      requireResponseIsTokenError(await sendTestTokenRequest(server, { refresh_token }));
    },
  },
  {
    number: '112',
    section: '5',
    text: 'A refresh needs no client credentials.',
    needs: ['grant'],
    play: async (server) => {
      const { refreshToken } = await obtainPrerequisiteTokens(server);
      const query = { grant_type: 'refresh_token', refresh_token: refreshToken };
      const response = await server.request({ method: 'POST', path: '/v1/oauth/token', query });
      requireTokensOfTestedServer(server, response);
      replaceUsedGivenRefreshToken(server, refreshToken, response);
    },
  },
  {
    number: '49',
    section: '3',
    text: 'An access token works until 30 days after its issue, and then no more.',
    needs: ['client', 'secret', 'sandbox'],
    play: async (server) =>
      withFrozenClock(server, async () => {
        const { accessToken } = await obtainPrerequisiteTokens(server);
        await advanceSandboxClock(server, '2591999s');
        const before = await requestActionList(server, accessToken);
        requireSuccessfulResponse(before, 'a valid token 1 s before the end of 30 days');
        await advanceSandboxClock(server, '1s');
        requireRefusalOfToken(await requestActionList(server, accessToken));
      }),
  },
];
