import {
  exchangeLater,
  exchangeMadeUpCode,
  exchangeNames,
  exchangeParams,
  exchangeWrongRedirect,
  freshCode,
  grantTokens,
  madeUpExchange,
  postToken,
  replayCode,
  requireTokenError,
  requireTokens,
  sharedActions,
  sharedTokens,
  wrongCredentials,
} from '../grants.ts';
import { check, errorCodeOf, NotTestableError, requireOAuthError, requireSuccess } from '../response.ts';
import { otherClient, revokeInPanel, teamUser } from '../sandbox.ts';
import type { Statement } from '../statement.ts';

/** The statements about the exchange of an authorization code. */
export const codeStatements: readonly Statement[] = [
  {
    number: '3',
    rule: 'S1.3',
    text: 'The authorization code flow is supported.',
    needs: ['client', 'secret', 'consent'],
    play: async (server) => void (await sharedTokens(server)),
  },
  {
    number: '11',
    rule: 'S2.2',
    text: 'A code is valid until 10 minutes after its issue.',
    needs: ['client', 'secret', 'sandbox'],
    play: async (server) => void requireTokens(server, await exchangeLater(server, '599s')),
  },
  {
    number: '12',
    rule: 'S2.2',
    text: 'A code is invalid 10 minutes after its issue.',
    needs: ['client', 'secret', 'sandbox'],
    play: async (server) => requireOAuthError(await exchangeLater(server, '600s'), 'invalid_grant'),
  },
  {
    number: '13',
    rule: 'S2.3',
    text: 'A code is invalid once used.',
    needs: ['client', 'secret', 'consent'],
    play: async (server) => requireOAuthError((await replayCode(server)).response, 'invalid_grant'),
  },
  {
    number: '14',
    rule: 'S2.3',
    text: 'A code is invalid once revoked.',
    needs: ['client', 'secret', 'sandbox'],
    play: async (server) => {
      const person = teamUser(server);
      const code = await freshCode(server, { person });
      await revokeInPanel(server, person);
      requireOAuthError(await postToken(server, exchangeParams(server, code)), 'invalid_grant');
    },
  },
  {
    number: '45',
    rule: 'S5.9',
    text: 'An error of the authorization server is a JSON body with the strings error and error_description.',
    needs: ['client', 'secret'],
    play: async (server) => requireOAuthError(await exchangeMadeUpCode(server), 'invalid_grant'),
  },
  {
    number: '47',
    rule: 'S2.4',
    text: 'An exchanged code is used, and a grant is issued whose access token works.',
    needs: ['grant', 'consent'],
    play: async (server) => {
      const response = await sharedActions(server);
      requireSuccess(response, 'the list of actions');
      requireOAuthError((await replayCode(server)).response, 'invalid_grant');
    },
  },
  {
    number: '48',
    rule: 'S5.5',
    text: 'An expired code is answered with invalid_grant.',
    needs: ['client', 'secret', 'sandbox'],
    play: async (server) => requireOAuthError(await exchangeLater(server, '1d'), 'invalid_grant'),
  },
  {
    number: '77',
    rule: 'S5.1',
    text: 'The token endpoint reads its parameters from the query.',
    needs: ['client', 'secret'],
    play: async (server) => {
      const query = madeUpExchange(server);
      const response = await server.request({ method: 'POST', path: '/v1/oauth/token', query });
      // Only a server that has read every parameter can say that the code is invalid.
      requireOAuthError(response, 'invalid_grant');
    },
  },
  {
    number: '78a',
    rule: 'S5.2',
    text: 'An exchange without one of its five parameters is refused.',
    needs: ['client', 'secret'],
    play: async (server) => {
      for (const name of exchangeNames) requireTokenError(await exchangeMadeUpCode(server, { [name]: undefined }));
    },
  },
  {
    number: '78b',
    rule: 'S5.2',
    text: 'A valid code is not exchanged without one of the five parameters.',
    needs: ['client', 'secret', 'sandbox'],
    play: async (server) => {
      for (const name of exchangeNames) {
        const code = await freshCode(server);
        requireTokenError(await postToken(server, exchangeParams(server, code, { [name]: undefined })));
      }
    },
  },
  {
    number: '79',
    rule: 'S5.3',
    text: 'redirect_uri of the exchange must match.',
    needs: ['client', 'secret', 'consent'],
    play: async (server) => requireOAuthError((await exchangeWrongRedirect(server)).wrong, 'invalid_grant'),
  },
  {
    number: '111',
    rule: 'S5.4',
    text: 'Wrong or missing client credentials are answered with invalid_client.',
    needs: ['client', 'secret'],
    play: async (server) => {
      for (const changes of wrongCredentials) {
        const response = await exchangeMadeUpCode(server, changes);
        if (errorCodeOf(response) === 'invalid_grant')
          throw new NotTestableError('the server reports the invalid code first; statement 122 sends a valid one');
        requireOAuthError(response, 'invalid_client');
      }
    },
  },
  {
    number: '115',
    rule: 'S5.6',
    text: 'A grant has the scope that the authorization request had.',
    needs: ['client', 'secret', 'sandbox'],
    play: async (server) => {
      for (const scope of ['read', 'read write']) {
        const { response, body } = await grantTokens(server, { scope });
        check(body.scope === scope, `scope ${scope}`, response);
      }
    },
  },
  {
    number: '121',
    rule: 'S5.5',
    text: 'A code of another client is answered with invalid_grant.',
    needs: ['client', 'secret', 'sandbox'],
    play: async (server) => {
      const other = otherClient(server);
      const code = await freshCode(server, { client: other });
      // In the first request, redirect_uri is the one for which the code was issued, so only the client is wrong.
      for (const redirect_uri of [other.callbackUrl, server.client?.callbackUrl]) {
        const parameters = exchangeParams(server, code, { redirect_uri });
        requireOAuthError(await postToken(server, parameters), 'invalid_grant');
      }
    },
  },
  {
    number: '122',
    rule: 'S5.4',
    text: 'A valid code with wrong, unknown or missing client credentials is answered with invalid_client.',
    needs: ['client', 'secret', 'consent'],
    play: async (server) => {
      const code = await freshCode(server, { state: server.unique() });
      for (const changes of wrongCredentials)
        requireOAuthError(await postToken(server, exchangeParams(server, code, changes)), 'invalid_client');
    },
  },
];
