import { authorizeByImplicitFlowOncePerServer, requireReturnedOAuthState } from '../authorization-requests.ts';
import { authorizeTestedClient, oauthStateWithSpecialCharacters } from '../authorize-tested-client.ts';
import { requireResponseCondition } from '../conformance-response.ts';
import { obtainTestAuthorizationCodeOncePerServer } from '../journeys.ts';
import type { ConformanceStatement } from '../statement.ts';

/** The statements about the redirect at the end of an authorization (spec §2, §4.1, §7). */
export const authorizationRedirectConformanceStatements: readonly ConformanceStatement[] = [
  {
    number: '10',
    section: '2',
    text: 'The code arrives in the query parameter code of redirect_uri.',
    needs: ['client', 'consent'],
    play: async (server) => void (await obtainTestAuthorizationCodeOncePerServer(server)),
  },
  {
    number: '58a',
    section: '4.1',
    text: 'The authorization request ends in a redirect to redirect_uri.',
    needs: ['client', 'consent'],
    play: async (server) => void (await obtainTestAuthorizationCodeOncePerServer(server)),
  },
  {
    number: '63a',
    section: '4.1',
    text: 'state is returned unchanged by the code flow.',
    needs: ['client', 'consent'],
    play: async (server) => {
      const { authorization } = await obtainTestAuthorizationCodeOncePerServer(server);
      // For a real browser, the callback server has already compared the state with the one that was sent.
      if (!authorization.isFromBrowser)
        requireReturnedOAuthState(authorization, authorization.query, oauthStateWithSpecialCharacters);
    },
  },
  {
    number: '63b',
    section: '4.1',
    text: 'state is returned unchanged by the implicit flow.',
    needs: ['client', 'consent'],
    play: async (server) => {
      const authorization = await authorizeByImplicitFlowOncePerServer(server);
      if (!authorization.isFromBrowser)
        requireReturnedOAuthState(authorization, authorization.fragment, oauthStateWithSpecialCharacters);
    },
  },
  {
    number: '73',
    section: '4.1',
    text: 'The redirect of the code flow has code, and state only if it was sent.',
    needs: ['client', 'sandbox'],
    play: async (server) => {
      const without = await authorizeTestedClient(server);
      requireResponseCondition(without.query.has('code'), 'a code in the query', without.response);
      requireResponseCondition(
        !without.query.has('state'),
        'no state parameter, because the request had none',
        without.response,
      );
      requireResponseCondition([...without.fragment].length === 0, 'no fragment', without.response);
    },
  },
  {
    number: '74',
    section: '4.1',
    text: 'The redirect of the implicit flow has state in the fragment only if it was sent.',
    needs: ['client', 'sandbox'],
    play: async (server) => {
      const without = await authorizeTestedClient(server, { flow: 'implicit' });
      requireResponseCondition(
        without.fragment.has('access_token'),
        'an access_token in the fragment',
        without.response,
      );
      requireResponseCondition(
        !without.fragment.has('state'),
        'no state parameter, because the request had none',
        without.response,
      );
      requireResponseCondition([...without.query].length === 0, 'no parameters in the query', without.response);
    },
  },
  {
    number: '117',
    section: '7',
    text: 'A denial redirects with access_denied and an error_description in the query.',
    needs: ['client', 'consent'],
    play: async (server) => {
      const denied = await authorizeTestedClient(server, { decision: 'deny', state: server.unique() });
      requireResponseCondition(
        denied.query.get('error') === 'access_denied',
        'error=access_denied in the query',
        denied.response,
      );
      const description = denied.query.get('error_description') ?? '';
      requireResponseCondition(description !== '', 'an error_description in the query', denied.response);
      requireResponseCondition(!denied.query.has('code'), 'no code', denied.response);
    },
  },
];
