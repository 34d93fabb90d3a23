import { readStringField } from '../../../src/base/json.ts';
import { implicitRedirect } from '../authorize.ts';
import {
  firstRefresh,
  followRefresh,
  freshTokens,
  grantTokens,
  infoOf,
  listActions,
  madeUpSecret,
  postOAuth,
  postToken,
  refreshedTokens,
  replayRefresh,
  requireTokenError,
  requireTokens,
  revokeAndReuse,
  sendRefresh,
  sendRevocation,
  sharedTokens,
  type Tokens,
  useAfterRefresh,
} from '../grants.ts';
import {
  check,
  errorCodeOf,
  isSuccess,
  jsonOf,
  requireOAuthError,
  requireRefused,
  requireSuccess,
  requireTokenRefused,
} from '../response.ts';
import { advanceClock, revokeInPanel, teamUser, withFrozenClock } from '../sandbox.ts';
import type { Server } from '../server.ts';
import type { Statement } from '../statement.ts';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const tokenLifetime = 2_592_000;

/**
 * The statements about the JSON members of a token response. The first response and the response to a refresh must
 * both satisfy them.
 */
export const tokenResponseStatements: readonly Statement[] = [
  {
    number: '4',
    rule: 'S1.3',
    text: 'The implicit flow is supported.',
    needs: ['client', 'consent'],
    play: async (server) => {
      const authorization = await implicitRedirect(server);
      const token = authorization.fragment.get('access_token') ?? '';
      check(token !== '', 'an access_token in the fragment', authorization.response);
    },
  },
  {
    number: '15',
    rule: 'S2.5',
    text: 'The access_token of a token response is a string.',
    needs: ['grant'],
    play: (server) => requireOfGrants(server, isText('access_token'), 'a string as access_token'),
  },
  {
    number: '16',
    rule: 'S2.6',
    text: 'token_type is bearer.',
    needs: ['grant'],
    play: (server) => requireOfGrants(server, ({ body }) => body.token_type === 'bearer', 'token_type bearer'),
  },
  {
    number: '17a',
    rule: 'S2.7',
    text: 'expires_in is the integer 2592000: a token lives 30 days from issue.',
    needs: ['grant'],
    play: (server) =>
      requireOfGrants(server, ({ body }) => body.expires_in === tokenLifetime, `expires_in ${tokenLifetime}`),
  },
  {
    number: '17b',
    rule: 'S2.7',
    text: 'expires_in of the implicit flow is 2592000.',
    needs: ['client', 'consent'],
    play: async (server) => {
      const authorization = await implicitRedirect(server);
      const expires = authorization.fragment.get('expires_in');
      check(expires === String(tokenLifetime), `expires_in=${tokenLifetime}`, authorization.response);
    },
  },
  {
    number: '18',
    rule: 'S2.5',
    text: 'refresh_token is a string.',
    needs: ['grant'],
    play: (server) => requireOfGrants(server, isText('refresh_token'), 'a string as refresh_token'),
  },
  {
    number: '19',
    rule: 'S2.9',
    text: 'scope is the granted scope, `read` or `read write`.',
    needs: ['grant'],
    play: async (server) => {
      const isScope = ({ body }: Tokens): boolean => body.scope === 'read' || body.scope === 'read write';
      await requireOfGrants(server, isScope, 'scope `read` or `read write`');
      if (server.admin === undefined && server.visit === undefined) return;
      const isGranted = ({ body }: Tokens): boolean => body.scope === 'read write';
      await requireOfGrants(server, isGranted, 'the authorized scope `read write`');
    },
  },
  {
    number: '20',
    rule: 'S2.10',
    text: 'info has name, email and uuid.',
    needs: ['grant'],
    play: (server) => {
      const isWhole = (grant: Tokens): boolean =>
        ['name', 'email', 'uuid'].every((name) => (readStringField(infoOf(grant), name) ?? '') !== '');
      return requireOfGrants(server, isWhole, 'info with name, email and uuid');
    },
  },
  {
    number: '21',
    rule: 'S2.10',
    text: 'info.uuid is a UUID.',
    needs: ['grant'],
    play: (server) => {
      const isUuid = (grant: Tokens): boolean => uuid.test(readStringField(infoOf(grant), 'uuid') ?? '');
      return requireOfGrants(server, isUuid, 'a UUID as info.uuid');
    },
  },
  {
    number: '22',
    rule: 'S2.10',
    text: 'info has team_uuid and team_name only if the user authorized under a team; a refresh keeps them.',
    needs: ['client', 'secret', 'sandbox'],
    play: async (server) => {
      const person = teamUser(server);
      const [team] = person.teams;
      const grant = await grantTokens(server, { person, team: team?.uuid ?? '' });
      for (const each of [grant, requireTokens(server, await sendRefresh(server, grant.refreshToken))]) {
        const { team_uuid, team_name } = infoOf(each);
        const isTeam = team_uuid === team?.uuid && team_name === team?.name;
        check(isTeam, 'info with team_uuid and team_name of the team', each.response);
      }
      const personal = await freshTokens(server, { person });
      const { team_uuid, team_name } = infoOf(personal);
      const isPersonal = team_uuid === undefined && team_name === undefined;
      check(isPersonal, 'no team in a grant without a team', personal.response);
    },
  },
  {
    number: '24',
    rule: 'S2.11',
    text: 'The fragment of the implicit flow has access_token, token_type and expires_in.',
    needs: ['client', 'consent'],
    play: async (server) => {
      const authorization = await implicitRedirect(server);
      for (const name of ['access_token', 'token_type', 'expires_in'])
        check(authorization.fragment.has(name), `${name} in the fragment`, authorization.response);
      const type = authorization.fragment.get('token_type');
      check(type === 'bearer', 'token_type=bearer in the fragment', authorization.response);
    },
  },
  {
    number: '25',
    rule: 'S2.11',
    text: 'The implicit flow issues no refresh token.',
    needs: ['client', 'consent'],
    play: async (server) => {
      const authorization = await implicitRedirect(server);
      const parameters = [authorization.fragment, authorization.query];
      const has = parameters.some((each) => each.has('refresh_token'));
      check(!has, 'no refresh_token', authorization.response);
    },
  },
  {
    number: '26',
    rule: 'S3.1',
    text: 'Without a scope, the scope is read.',
    needs: ['client', 'secret', 'consent'],
    play: async (server) => {
      const { response, body } = await grantTokens(server, { scope: undefined });
      check(body.scope === 'read', 'scope read', response);
    },
  },
  {
    number: '82',
    rule: 'S5.8',
    text: 'The response to a refresh is a grant with a new access token and a new refresh token.',
    needs: ['grant'],
    play: async (server) => {
      const [before, after] = [await sharedTokens(server), await refreshedTokens(server)];
      for (const name of ['access_token', 'refresh_token', 'token_type', 'expires_in', 'scope', 'info'])
        check(after.body[name] !== undefined, `a grant with ${name}`, after.response);
      const isNew = (name: string): boolean => before.body[name] !== after.body[name];
      check(isNew('access_token') && isNew('refresh_token'), 'new tokens', after.response);
      check(before.body.scope === after.body.scope, 'the scope of the earlier grant', after.response);
    },
  },
];

async function requireOfGrants(server: Server, holds: (grant: Tokens) => boolean, expected: string): Promise<void> {
  const grant = await sharedTokens(server);
  check(holds(grant), expected, grant.response);
  const renewed = await refreshedTokens(server);
  check(holds(renewed), `${expected} after a refresh`, renewed.response);
}

function isText(name: string): (grant: Tokens) => boolean {
  return ({ body }) => (readStringField(body, name) ?? '') !== '';
}

/** The statements about the lifetime of tokens and their refresh. */
export const refreshStatements: readonly Statement[] = [
  {
    number: '5',
    rule: 'S1.3',
    text: 'Refreshing a token is supported.',
    needs: ['grant'],
    play: async (server) => void requireTokens(server, await firstRefresh(server)),
  },
  {
    number: '51',
    rule: 'S5.8',
    text: 'A refresh invalidates the earlier access token and issues a new pair that works.',
    needs: ['grant'],
    play: async (server) => {
      const { before, after } = await useAfterRefresh(server);
      requireTokenRefused(before);
      requireSuccess(after, 'the list of actions with the new access token');
    },
  },
  {
    number: '52a',
    rule: 'S2.8',
    text: 'A refresh token cannot be used a second time.',
    needs: ['grant'],
    turn: 1,
    play: async (server) => requireOAuthError((await replayRefresh(server)).late, 'invalid_grant'),
  },
  {
    number: '52b',
    rule: 'S2.8',
    text: 'Of ten refreshes with one refresh token at once, exactly one succeeds.',
    needs: ['grant'],
    turn: 1,
    play: async (server) => {
      const { parallel } = await replayRefresh(server);
      const successes = parallel.filter(isSuccess);
      const [shown = parallel[0]] = successes.slice(1);
      if (shown !== undefined) check(successes.length === 1, 'one success of ten', shown);
    },
  },
  {
    number: '53',
    rule: 'S6.5',
    text: 'A revocation in the control panel invalidates the access token.',
    needs: ['client', 'secret', 'sandbox'],
    play: async (server) => {
      const person = teamUser(server);
      const { accessToken } = await freshTokens(server, { person });
      const before = await listActions(server, accessToken);
      requireSuccess(before, 'the list of actions before the revocation');
      await revokeInPanel(server, person);
      requireTokenRefused(await listActions(server, accessToken));
    },
  },
  {
    number: '81',
    rule: 'S5.7',
    text: 'A refresh has two parameters, grant_type and refresh_token; both are required.',
    needs: [],
    play: async (server) => {
      const refresh_token = madeUpSecret(server, '[refresh token]');
      requireOAuthError(await postToken(server, { grant_type: 'refresh_token', refresh_token }), 'invalid_grant');
      requireTokenError(await postToken(server, { grant_type: 'refresh_token' }));
      requireTokenError(await postToken(server, { refresh_token }));
    },
  },
  {
    number: '112',
    rule: 'S5.7',
    text: 'A refresh needs no client credentials.',
    needs: ['grant'],
    play: async (server) => {
      const { refreshToken } = await freshTokens(server);
      const query = { grant_type: 'refresh_token', refresh_token: refreshToken };
      const response = await server.request({ method: 'POST', path: '/v1/oauth/token', query });
      requireTokens(server, response);
      followRefresh(server, refreshToken, response);
    },
  },
  {
    number: '49',
    rule: 'S2.7',
    text: 'An access token works until 30 days after its issue, and then no more.',
    needs: ['client', 'secret', 'sandbox'],
    play: async (server) =>
      withFrozenClock(server, async () => {
        const { accessToken } = await freshTokens(server);
        await advanceClock(server, '2591999s');
        const before = await listActions(server, accessToken);
        requireSuccess(before, 'a valid token 1 s before the end of 30 days');
        await advanceClock(server, '1s');
        requireTokenRefused(await listActions(server, accessToken));
      }),
  },
];

/** The statements about the revocation endpoint. */
export const revocationStatements: readonly Statement[] = [
  {
    number: '6',
    rule: 'S1.3',
    text: 'Token revocation is supported.',
    needs: ['grant'],
    turn: 2,
    play: async (server) => {
      const { response } = await revokeAndReuse(server);
      requireSuccess(response, 'a response with a success status');
    },
  },
  {
    number: '50',
    rule: 'S6.2',
    text: 'A revoked access token can never be used again.',
    needs: ['grant'],
    turn: 2,
    play: async (server) => {
      const { response, use } = await revokeAndReuse(server);
      requireSuccess(response, 'a response with a success status');
      requireTokenRefused(use);
    },
  },
  {
    number: '83a',
    rule: 'S6.2',
    text: 'The response to a revocation is an empty JSON object.',
    needs: ['grant'],
    turn: 2,
    play: async (server) => requireEmptyObject((await revokeAndReuse(server)).response),
  },
  {
    number: '83b',
    rule: 'S6.1',
    text: 'token is required.',
    needs: [],
    play: async (server) => {
      const response = await postOAuth(server, '/v1/oauth/revoke', {});
      requireRefused(response, 'a refusal of a request without token');
      check(errorCodeOf(response) !== undefined, 'a JSON body with an error', response);
    },
  },
  {
    number: '84',
    rule: 'S6.3',
    text: 'The request may carry the header Authorization: Bearer with the token that is revoked.',
    needs: ['grant'],
    turn: 2,
    play: async (server) => {
      const { accessToken } = await freshTokens(server);
      const before = await listActions(server, accessToken);
      requireSuccess(before, 'a valid token before the revocation');
      requireEmptyObject(await sendRevocation(server, accessToken, accessToken));
      requireTokenRefused(await listActions(server, accessToken));
    },
  },
  {
    number: '85',
    rule: 'S6.3',
    text: 'The header Authorization may be absent.',
    needs: ['grant'],
    turn: 2,
    play: async (server) => {
      const { response, use } = await revokeAndReuse(server);
      requireEmptyObject(response);
      requireTokenRefused(use);
    },
  },
];

function requireEmptyObject(response: Parameters<typeof jsonOf>[0]): void {
  const json = jsonOf(response);
  const isEmpty = json !== undefined && Object.keys(json).length === 0;
  check(isSuccess(response) && isEmpty, 'the JSON body {}', response);
}
