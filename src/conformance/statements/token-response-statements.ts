import { readStringField } from '../../base/json.ts';
import { authorizeByImplicitFlowOncePerServer } from '../authorization-requests.ts';
import { requireResponseCondition } from '../conformance-response.ts';
import {
  obtainGrantedTokensOrThrowDifference,
  obtainPrerequisiteTokens,
  readAccountInfoOfTokenResponse,
  requireTokensOfTestedServer,
  sendConformanceRefreshRequest,
  type TokensOfTestedServer,
} from '../grants.ts';
import { obtainRefreshedTestTokensOncePerServer, obtainTestTokensOncePerServer } from '../journeys.ts';
import { requireSandboxUserInAnyTeam } from '../sandbox-people.ts';
import type { ServerUnderTest } from '../server-under-test.ts';
import type { ConformanceStatement } from '../statement.ts';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const tokenLifetime = 2_592_000;

/**
 * The statements about the JSON members of a token response (spec §2). The first response and the response to a refresh must
 * both satisfy them.
 */
export const tokenResponseConformanceStatements: readonly ConformanceStatement[] = [
  {
    number: '4',
    section: '1',
    text: 'The implicit flow is supported.',
    needs: ['client', 'consent'],
    play: async (server) => {
      const authorization = await authorizeByImplicitFlowOncePerServer(server);
      const token = authorization.fragment.get('access_token') ?? '';
      requireResponseCondition(token !== '', 'an access_token in the fragment', authorization.response);
    },
  },
  {
    number: '15',
    section: '2',
    text: 'The access_token of a token response is a string.',
    needs: ['grant'],
    play: (server) => requireOfGrants(server, isText('access_token'), 'a string as access_token'),
  },
  {
    number: '16',
    section: '2',
    text: 'token_type is bearer.',
    needs: ['grant'],
    play: (server) => requireOfGrants(server, ({ body }) => body.token_type === 'bearer', 'token_type bearer'),
  },
  {
    number: '17a',
    section: '2',
    text: 'expires_in is the integer 2592000: a token lives 30 days from issue.',
    needs: ['grant'],
    play: (server) =>
      requireOfGrants(server, ({ body }) => body.expires_in === tokenLifetime, `expires_in ${tokenLifetime}`),
  },
  {
    number: '17b',
    section: '2',
    text: 'expires_in of the implicit flow is 2592000.',
    needs: ['client', 'consent'],
    play: async (server) => {
      const authorization = await authorizeByImplicitFlowOncePerServer(server);
      const expires = authorization.fragment.get('expires_in');
      requireResponseCondition(
        expires === String(tokenLifetime),
        `expires_in=${tokenLifetime}`,
        authorization.response,
      );
    },
  },
  {
    number: '18',
    section: '2',
    text: 'refresh_token is a string.',
    needs: ['grant'],
    play: (server) => requireOfGrants(server, isText('refresh_token'), 'a string as refresh_token'),
  },
  {
    number: '19',
    section: '2',
    text: 'scope is the granted scope, `read` or `read write`.',
    needs: ['grant'],
    play: async (server) => {
      const isScope = ({ body }: TokensOfTestedServer): boolean => body.scope === 'read' || body.scope === 'read write';
      await requireOfGrants(server, isScope, 'scope `read` or `read write`');
      if (server.admin === undefined && server.visit === undefined) return;
      const isGranted = ({ body }: TokensOfTestedServer): boolean => body.scope === 'read write';
      await requireOfGrants(server, isGranted, 'the authorized scope `read write`');
    },
  },
  {
    number: '20',
    section: '2',
    text: 'info has name, email and uuid.',
    needs: ['grant'],
    play: (server) => {
      const isWhole = (grant: TokensOfTestedServer): boolean =>
        ['name', 'email', 'uuid'].every(
          (name) => (readStringField(readAccountInfoOfTokenResponse(grant), name) ?? '') !== '',
        );
      return requireOfGrants(server, isWhole, 'info with name, email and uuid');
    },
  },
  {
    number: '21',
    section: '2',
    text: 'info.uuid is a UUID.',
    needs: ['grant'],
    play: (server) => {
      const isUuid = (grant: TokensOfTestedServer): boolean =>
        uuid.test(readStringField(readAccountInfoOfTokenResponse(grant), 'uuid') ?? '');
      return requireOfGrants(server, isUuid, 'a UUID as info.uuid');
    },
  },
  {
    number: '22',
    section: '2',
    text: 'info has team_uuid and team_name only if the user authorized under a team; a refresh keeps them.',
    needs: ['client', 'secret', 'sandbox'],
    play: async (server) => {
      const person = requireSandboxUserInAnyTeam(server);
      const [team] = person.teams;
      const grant = await obtainGrantedTokensOrThrowDifference(server, { person, team: team?.uuid ?? '' });
      for (const each of [
        grant,
        requireTokensOfTestedServer(server, await sendConformanceRefreshRequest(server, grant.refreshToken)),
      ]) {
        const { team_uuid, team_name } = readAccountInfoOfTokenResponse(each);
        const isTeam = team_uuid === team?.uuid && team_name === team?.name;
        requireResponseCondition(isTeam, 'info with team_uuid and team_name of the team', each.response);
      }
      const personal = await obtainPrerequisiteTokens(server, { person });
      const { team_uuid, team_name } = readAccountInfoOfTokenResponse(personal);
      const isPersonal = team_uuid === undefined && team_name === undefined;
      requireResponseCondition(isPersonal, 'no team in a grant without a team', personal.response);
    },
  },
  {
    number: '24',
    section: '2',
    text: 'The fragment of the implicit flow has access_token, token_type and expires_in.',
    needs: ['client', 'consent'],
    play: async (server) => {
      const authorization = await authorizeByImplicitFlowOncePerServer(server);
      for (const name of ['access_token', 'token_type', 'expires_in'])
        requireResponseCondition(authorization.fragment.has(name), `${name} in the fragment`, authorization.response);
      const type = authorization.fragment.get('token_type');
      requireResponseCondition(type === 'bearer', 'token_type=bearer in the fragment', authorization.response);
    },
  },
  {
    number: '25',
    section: '2',
    text: 'The implicit flow issues no refresh token.',
    needs: ['client', 'consent'],
    play: async (server) => {
      const authorization = await authorizeByImplicitFlowOncePerServer(server);
      const parameters = [authorization.fragment, authorization.query];
      const has = parameters.some((each) => each.has('refresh_token'));
      requireResponseCondition(!has, 'no refresh_token', authorization.response);
    },
  },
  {
    number: '26',
    section: '2',
    text: 'Without a scope, the scope is read.',
    needs: ['client', 'secret', 'consent'],
    play: async (server) => {
      const { response, body } = await obtainGrantedTokensOrThrowDifference(server, { scope: undefined });
      requireResponseCondition(body.scope === 'read', 'scope read', response);
    },
  },
  {
    number: '82',
    section: '4.3',
    text: 'The response to a refresh is a grant with a new access token and a new refresh token.',
    needs: ['grant'],
    play: async (server) => {
      const [before, after] = [
        await obtainTestTokensOncePerServer(server),
        await obtainRefreshedTestTokensOncePerServer(server),
      ];
      for (const name of ['access_token', 'refresh_token', 'token_type', 'expires_in', 'scope', 'info'])
        requireResponseCondition(after.body[name] !== undefined, `a grant with ${name}`, after.response);
      const isNew = (name: string): boolean => before.body[name] !== after.body[name];
      requireResponseCondition(isNew('access_token') && isNew('refresh_token'), 'new tokens', after.response);
      requireResponseCondition(
        before.body.scope === after.body.scope,
        'the scope of the earlier grant',
        after.response,
      );
    },
  },
];

async function requireOfGrants(
  server: ServerUnderTest,
  holds: (grant: TokensOfTestedServer) => boolean,
  expected: string,
): Promise<void> {
  const grant = await obtainTestTokensOncePerServer(server);
  requireResponseCondition(holds(grant), expected, grant.response);
  const renewed = await obtainRefreshedTestTokensOncePerServer(server);
  requireResponseCondition(holds(renewed), `${expected} after a refresh`, renewed.response);
}

function isText(name: string): (grant: TokensOfTestedServer) => boolean {
  return ({ body }) => (readStringField(body, name) ?? '') !== '';
}
