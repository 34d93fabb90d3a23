import {
  authorize,
  implicitRedirect,
  leadsToCallback,
  requireClient,
  requireCodeRedirect,
  requireErrorPage,
  requireErrorRedirect,
  requirePage,
  requireRefusal,
  requireState,
  sendInvalid,
  sendSignedIn,
  sendSignedOut,
  specialState,
} from '../authorize.ts';
import { freshTokens, sharedCode } from '../grants.ts';
import { check, textOf } from '../response.ts';
import { firstUser, revokeInPanel, signIn, teamUser } from '../sandbox.ts';
import type { Statement } from '../statement.ts';

/** The statements about sign-in, consent and prompt. */
export const promptStatements: readonly Statement[] = [
  {
    number: '1',
    rule: 'S1.1',
    text: 'A user signs in and authorizes before an application gets a grant.',
    needs: ['client', 'sandbox'],
    play: async (server) => {
      requirePage(await sendSignedOut(server), 'a sign-in page without a signed-in user');
      const cookies = await signIn(server, firstUser(server));
      requirePage(await sendSignedIn(server, cookies), 'a page that asks for authorization');
    },
  },
  {
    number: '58b',
    rule: 'S4.14',
    text: 'An authorization request needs no parameters but those of the rules.',
    needs: ['client', 'writes'],
    play: async (server) => {
      const changes = { code_challenge: undefined, code_challenge_method: undefined, state: server.unique() };
      requirePage(await sendSignedOut(server, changes), 'a sign-in page');
    },
  },
  {
    number: '65',
    rule: 'S4.7',
    text: 'prompt applies to the code flow only.',
    needs: ['client', 'writes'],
    play: async (server) => {
      const end = await sendSignedOut(server, {
        response_type: 'token',
        prompt: 'none',
        state: server.unique(),
      });
      requirePage(end, 'a sign-in page, because the implicit flow ignores prompt');
    },
  },
  {
    number: '66',
    rule: 'S4.8',
    text: 'Without prompt, a user who authorized before is asked again.',
    needs: ['client', 'sandbox'],
    play: async (server) => {
      await freshTokens(server);
      const cookies = await signIn(server, firstUser(server));
      requirePage(await sendSignedIn(server, cookies), 'a page, as with prompt=select_account');
      const select = await sendSignedIn(server, cookies, { prompt: 'select_account' });
      requirePage(select, 'a page with prompt=select_account');
    },
  },
  {
    number: '67',
    rule: 'S4.9',
    text: 'prompt=none redirects a user who authorized before with a code at once.',
    needs: ['client', 'sandbox'],
    play: async (server) => {
      await freshTokens(server);
      const cookies = await signIn(server, firstUser(server));
      requireCodeRedirect(server, await sendSignedIn(server, cookies, { prompt: 'none' }));
    },
  },
  {
    number: '68',
    rule: 'S4.12',
    text: 'With prompt=none, i holds the first 6 characters of the expected account UUID.',
    needs: ['client', 'sandbox'],
    play: async (server) => {
      await freshTokens(server);
      const person = firstUser(server);
      const cookies = await signIn(server, person);
      const hint = person.uuid.slice(0, 6);
      requireCodeRedirect(server, await sendSignedIn(server, cookies, { prompt: 'none', i: hint }));
      const other = `${hint.startsWith('0') ? '1' : '0'}${hint.slice(1)}`;
      const end = await sendSignedIn(server, cookies, { prompt: 'none', i: other });
      check(!end.query.has('code'), 'no code for the hint of another account', end.response);
    },
  },
  {
    number: '69',
    rule: 'S4.10',
    text: 'prompt=none answers consent_required if the user has not authorized before.',
    needs: ['client', 'sandbox'],
    play: async (server) => {
      const person = teamUser(server);
      await revokeInPanel(server, person);
      const cookies = await signIn(server, person);
      requireErrorRedirect(server, await sendSignedIn(server, cookies, { prompt: 'none' }), 'consent_required');
    },
  },
  {
    number: '70',
    rule: 'S4.11',
    text: 'prompt=none answers login_required if no user is signed in.',
    needs: ['client', 'writes'],
    play: async (server) => {
      const end = await sendSignedOut(server, { prompt: 'none', state: server.unique() });
      requireErrorRedirect(server, end, 'login_required');
    },
  },
  {
    number: '71',
    rule: 'S4.8',
    text: 'Without a signed-in user, the user must sign in first.',
    needs: ['client', 'writes'],
    play: async (server) => {
      for (const prompt of [undefined, 'select_account'])
        requirePage(await sendSignedOut(server, { prompt, state: server.unique() }), 'a sign-in page');
    },
  },
  {
    number: '72',
    rule: 'S4.8',
    text: 'A signed-in user must authorize the application before proceeding.',
    needs: ['client', 'sandbox'],
    play: async (server) => {
      const cookies = await signIn(server, firstUser(server));
      requirePage(await sendSignedIn(server, cookies), 'a page that asks for authorization');
    },
  },
  {
    number: '118',
    rule: 'S4.10',
    text: 'consent_required and login_required are reported by a redirect.',
    needs: ['client', 'writes'],
    play: async (server) => {
      const end = await sendSignedOut(server, { prompt: 'none', state: server.unique() });
      check(leadsToCallback(server, end), 'a redirect to redirect_uri', end.response);
      check(end.query.has('error'), 'an error in the query', end.response);
    },
  },
];

/** The statements about authorization requests that are refused. */
export const refusalStatements: readonly Statement[] = [
  {
    number: '59',
    rule: 'S4.2',
    text: 'client_id is required.',
    needs: ['client'],
    play: async (server) => {
      for (const client_id of [undefined, 'an-unknown-client-id'])
        requireErrorPage(await sendInvalid(server, { client_id }), clientMessage, 'an error page for this client_id');
    },
  },
  {
    number: '60',
    rule: 'S4.3',
    text: 'redirect_uri is required and equals the registered callback URL.',
    needs: ['client'],
    play: async (server) => {
      for (const redirect_uri of differentCallbackUrls(requireClient(server).callbackUrl)) {
        const end = await sendInvalid(server, { redirect_uri });
        requireErrorPage(end, redirectUriMessage, 'an error page for a redirect_uri other than the registered one');
      }
    },
  },
  {
    number: '61',
    rule: 'S4.4',
    text: 'response_type is required, and is code or token.',
    needs: ['client'],
    play: async (server) => {
      for (const response_type of [undefined, 'id_token', 'CODE', 'code token'])
        requireRefusal(server, await sendInvalid(server, { response_type, state: server.unique() }));
    },
  },
  {
    number: '62',
    rule: 'S4.5',
    text: 'The valid scopes are `read` and `read write`; another one is answered with an error page.',
    needs: ['client'],
    play: async (server) => {
      for (const scope of ['write', 'READ', 'read,write', 'read admin', 'read  write', 'read read']) {
        const end = await sendInvalid(server, { scope });
        requireErrorPage(end, scopeMessage, 'an error page for an invalid scope');
      }
    },
  },
  {
    number: '119',
    rule: 'S4.3',
    text: 'The error page of a wrong redirect_uri says that it is not valid.',
    needs: ['client'],
    play: async (server) => {
      const redirect_uri = `${requireClient(server).callbackUrl}/other`;
      const { response } = await sendInvalid(server, { redirect_uri });
      const isSaid = redirectUriMessage.test(textOf(response));
      check(isSaid, 'a page with a message that the redirect uri is not valid', response);
    },
  },
  {
    number: '120',
    rule: 'S4.5',
    text: 'The error page of a wrong scope says that it is invalid, unknown or malformed.',
    needs: ['client'],
    play: async (server) => {
      const { response } = await sendInvalid(server, { scope: 'admin' });
      const isSaid = scopeMessage.test(textOf(response));
      check(isSaid, 'a page with a message that the requested scope is invalid', response);
    },
  },
];

const wrong =
  '(invalid|unknown|malformed|missing|required|mismatch|more than once|(not|n.t) (valid|match|registered|allowed))';
const clientMessage = messageAbout('client');
const redirectUriMessage = messageAbout('redirect[\\s_-]*ur[il]');
const scopeMessage = messageAbout('scope');

/**
 * Matches a message that says that `subject` is wrong. The name of the subject and the word for the error may come in either
 * order.
 */
function messageAbout(subject: string): RegExp {
  return new RegExp(`${subject}.*${wrong}|${wrong}.*${subject}`, 'is');
}

/**
 * Callback URLs that differ from the registered one in a single part; undefined stands for a request without redirect_uri.
 */
function differentCallbackUrls(registered: string): readonly (string | undefined)[] {
  const url = new URL(registered);
  const other = (change: (changed: URL) => void): string => {
    const changed = new URL(registered);
    change(changed);
    return changed.href;
  };
  return [
    undefined,
    `${registered}/`,
    `${registered}/other`,
    `${registered}?other=1`,
    `${registered}#part`,
    registered.slice(0, -1),
    registered.replace(/[a-z](?=[^a-z]*$)/, (letter) => letter.toUpperCase()),
    other((changed) => {
      changed.port = url.port === '1' ? '2' : '1';
    }),
    other((changed) => {
      changed.protocol = url.protocol === 'https:' ? 'http:' : 'https:';
    }),
    other((changed) => {
      changed.hostname = 'attacker.example.com';
    }),
    `${url.protocol}//user@${url.host}${url.pathname}`,
    'https://attacker.example.com/callback',
  ];
}

/** The statements about the redirect at the end of an authorization. */
export const redirectStatements: readonly Statement[] = [
  {
    number: '10',
    rule: 'S2.1',
    text: 'The code arrives in the query parameter code of redirect_uri.',
    needs: ['client', 'consent'],
    play: async (server) => void (await sharedCode(server)),
  },
  {
    number: '58a',
    rule: 'S4.1',
    text: 'The authorization request ends in a redirect to redirect_uri.',
    needs: ['client', 'consent'],
    play: async (server) => void (await sharedCode(server)),
  },
  {
    number: '63a',
    rule: 'S4.6',
    text: 'state is returned unchanged by the code flow.',
    needs: ['client', 'consent'],
    play: async (server) => {
      const { authorization } = await sharedCode(server);
      // For a real browser, the callback server has already compared the state with the one that was sent.
      if (!authorization.isFromBrowser) requireState(authorization, authorization.query, specialState);
    },
  },
  {
    number: '63b',
    rule: 'S4.6',
    text: 'state is returned unchanged by the implicit flow.',
    needs: ['client', 'consent'],
    play: async (server) => {
      const authorization = await implicitRedirect(server);
      if (!authorization.isFromBrowser) requireState(authorization, authorization.fragment, specialState);
    },
  },
  {
    number: '73',
    rule: 'S4.6',
    text: 'The redirect of the code flow has code, and state only if it was sent.',
    needs: ['client', 'sandbox'],
    play: async (server) => {
      const without = await authorize(server);
      check(without.query.has('code'), 'a code in the query', without.response);
      check(!without.query.has('state'), 'no state parameter, because the request had none', without.response);
      check([...without.fragment].length === 0, 'no fragment', without.response);
    },
  },
  {
    number: '74',
    rule: 'S4.6',
    text: 'The redirect of the implicit flow has state in the fragment only if it was sent.',
    needs: ['client', 'sandbox'],
    play: async (server) => {
      const without = await authorize(server, { flow: 'implicit' });
      check(without.fragment.has('access_token'), 'an access_token in the fragment', without.response);
      check(!without.fragment.has('state'), 'no state parameter, because the request had none', without.response);
      check([...without.query].length === 0, 'no parameters in the query', without.response);
    },
  },
  {
    number: '117',
    rule: 'S4.13',
    text: 'A denial redirects with access_denied and an error_description in the query.',
    needs: ['client', 'consent'],
    play: async (server) => {
      const denied = await authorize(server, { decision: 'deny', state: server.unique() });
      check(denied.query.get('error') === 'access_denied', 'error=access_denied in the query', denied.response);
      const description = denied.query.get('error_description') ?? '';
      check(description !== '', 'an error_description in the query', denied.response);
      check(!denied.query.has('code'), 'no code', denied.response);
    },
  },
];
