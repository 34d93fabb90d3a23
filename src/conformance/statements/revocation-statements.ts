import {
  isSuccessfulResponse,
  readConformanceErrorCode,
  readConformanceResponseJson,
  requireRefusalOfToken,
  requireRefusedRequest,
  requireResponseCondition,
  requireSuccessfulResponse,
} from '../conformance-response.ts';
import {
  obtainPrerequisiteTokens,
  requestActionList,
  sendTestOAuthRequest,
  sendTestRevocationRequest,
} from '../grants.ts';
import { revokeAndReuseNewestTestToken } from '../journeys.ts';
import type { ConformanceStatement } from '../statement.ts';

/** The statements about the revocation endpoint (spec §3, §4.4). */
export const revocationConformanceStatements: readonly ConformanceStatement[] = [
  {
    number: '6',
    section: '1',
    text: 'Token revocation is supported.',
    needs: ['grant'],
    turn: 2,
    play: async (server) => {
      const { response } = await revokeAndReuseNewestTestToken(server);
      requireSuccessfulResponse(response, 'a response with a success status');
    },
  },
  {
    number: '50',
    section: '3',
    text: 'A revoked access token can never be used again.',
    needs: ['grant'],
    turn: 2,
    play: async (server) => {
      const { response, use } = await revokeAndReuseNewestTestToken(server);
      requireSuccessfulResponse(response, 'a response with a success status');
      requireRefusalOfToken(use);
    },
  },
  {
    number: '83a',
    section: '4.4',
    text: 'The response to a revocation is an empty JSON object.',
    needs: ['grant'],
    turn: 2,
    play: async (server) => requireEmptyObject((await revokeAndReuseNewestTestToken(server)).response),
  },
  {
    number: '83b',
    section: '4.4',
    text: 'token is required.',
    needs: [],
    play: async (server) => {
      const response = await sendTestOAuthRequest(server, '/v1/oauth/revoke', {});
      requireRefusedRequest(response, 'a refusal of a request without token');
      requireResponseCondition(readConformanceErrorCode(response) !== undefined, 'a JSON body with an error', response);
    },
  },
  {
    number: '84',
    section: '4.4',
    text: 'The request may carry the header Authorization: Bearer with the token that is revoked.',
    needs: ['grant'],
    turn: 2,
    play: async (server) => {
      const { accessToken } = await obtainPrerequisiteTokens(server);
      const before = await requestActionList(server, accessToken);
      requireSuccessfulResponse(before, 'a valid token before the revocation');
      requireEmptyObject(await sendTestRevocationRequest(server, accessToken, accessToken));
      requireRefusalOfToken(await requestActionList(server, accessToken));
    },
  },
  {
    number: '85',
    section: '4.4',
    text: 'The header Authorization may be absent.',
    needs: ['grant'],
    turn: 2,
    play: async (server) => {
      const { response, use } = await revokeAndReuseNewestTestToken(server);
      requireEmptyObject(response);
      requireRefusalOfToken(use);
    },
  },
];

function requireEmptyObject(response: Parameters<typeof readConformanceResponseJson>[0]): void {
  const json = readConformanceResponseJson(response);
  const isEmpty = json !== undefined && Object.keys(json).length === 0;
  requireResponseCondition(isSuccessfulResponse(response) && isEmpty, 'the JSON body {}', response);
}
