import {
  requirePageInsteadOfRedirect,
  requireRedirectHasAuthorizationCode,
  requireRedirectHasError,
  sendSignedInAuthorizationRequest,
  sendSignedOutAuthorizationRequest,
} from '../authorization-requests.ts';
import { leadsToCallback } from '../browse.ts';
import { requireResponseCondition } from '../conformance-response.ts';
import { obtainPrerequisiteTokens } from '../grants.ts';
import {
  requireFirstSandboxUser,
  requireSandboxUserInAnyTeam,
  revokeAllApplicationsThroughPanel,
  signInAtSandboxPanel,
} from '../sandbox-people.ts';
import type { ConformanceStatement } from '../statement.ts';

/** The statements about sign-in, consent and prompt (spec §1, §4.1, §7). */
export const consentPromptConformanceStatements: readonly ConformanceStatement[] = [
  {
    number: '1',
    section: '1',
    text: 'A user signs in and authorizes before an application gets a grant.',
    needs: ['client', 'sandbox'],
    play: async (server) => {
      requirePageInsteadOfRedirect(
        await sendSignedOutAuthorizationRequest(server),
        'a sign-in page without a signed-in user',
      );
      const cookies = await signInAtSandboxPanel(server, requireFirstSandboxUser(server));
      requirePageInsteadOfRedirect(
        await sendSignedInAuthorizationRequest(server, cookies),
        'a page that asks for authorization',
      );
    },
  },
  {
    number: '58b',
    section: '4.1',
    text: 'An authorization request needs no parameters but those of the specification.',
    needs: ['client', 'writes'],
    play: async (server) => {
      const changes = { code_challenge: undefined, code_challenge_method: undefined, state: server.unique() };
      requirePageInsteadOfRedirect(await sendSignedOutAuthorizationRequest(server, changes), 'a sign-in page');
    },
  },
  {
    number: '65',
    section: '4.1',
    text: 'prompt applies to the code flow only.',
    needs: ['client', 'writes'],
    play: async (server) => {
      const end = await sendSignedOutAuthorizationRequest(server, {
        response_type: 'token',
        prompt: 'none',
        state: server.unique(),
      });
      requirePageInsteadOfRedirect(end, 'a sign-in page, because the implicit flow ignores prompt');
    },
  },
  {
    number: '66',
    section: '4.1',
    text: 'Without prompt, a user who authorized before is asked again.',
    needs: ['client', 'sandbox'],
    play: async (server) => {
      await obtainPrerequisiteTokens(server);
      const cookies = await signInAtSandboxPanel(server, requireFirstSandboxUser(server));
      requirePageInsteadOfRedirect(
        await sendSignedInAuthorizationRequest(server, cookies),
        'a page, as with prompt=select_account',
      );
      const select = await sendSignedInAuthorizationRequest(server, cookies, { prompt: 'select_account' });
      requirePageInsteadOfRedirect(select, 'a page with prompt=select_account');
    },
  },
  {
    number: '67',
    section: '4.1',
    text: 'prompt=none redirects a user who authorized before with a code at once.',
    needs: ['client', 'sandbox'],
    play: async (server) => {
      await obtainPrerequisiteTokens(server);
      const cookies = await signInAtSandboxPanel(server, requireFirstSandboxUser(server));
      requireRedirectHasAuthorizationCode(
        server,
        await sendSignedInAuthorizationRequest(server, cookies, { prompt: 'none' }),
      );
    },
  },
  {
    number: '68',
    section: '4.1',
    text: 'With prompt=none, i holds the first 6 characters of the expected account UUID.',
    needs: ['client', 'sandbox'],
    play: async (server) => {
      await obtainPrerequisiteTokens(server);
      const person = requireFirstSandboxUser(server);
      const cookies = await signInAtSandboxPanel(server, person);
      const hint = person.uuid.slice(0, 6);
      requireRedirectHasAuthorizationCode(
        server,
        await sendSignedInAuthorizationRequest(server, cookies, { prompt: 'none', i: hint }),
      );
      const other = `${hint.startsWith('0') ? '1' : '0'}${hint.slice(1)}`;
      const end = await sendSignedInAuthorizationRequest(server, cookies, { prompt: 'none', i: other });
      requireResponseCondition(!end.query.has('code'), 'no code for the hint of another account', end.response);
    },
  },
  {
    number: '69',
    section: '4.1',
    text: 'prompt=none answers consent_required if the user has not authorized before.',
    needs: ['client', 'sandbox'],
    play: async (server) => {
      const person = requireSandboxUserInAnyTeam(server);
      await revokeAllApplicationsThroughPanel(server, person);
      const cookies = await signInAtSandboxPanel(server, person);
      requireRedirectHasError(
        server,
        await sendSignedInAuthorizationRequest(server, cookies, { prompt: 'none' }),
        'consent_required',
      );
    },
  },
  {
    number: '70',
    section: '4.1',
    text: 'prompt=none answers login_required if no user is signed in.',
    needs: ['client', 'writes'],
    play: async (server) => {
      const end = await sendSignedOutAuthorizationRequest(server, { prompt: 'none', state: server.unique() });
      requireRedirectHasError(server, end, 'login_required');
    },
  },
  {
    number: '71',
    section: '4.1',
    text: 'Without a signed-in user, the user must sign in first.',
    needs: ['client', 'writes'],
    play: async (server) => {
      for (const prompt of [undefined, 'select_account'])
        requirePageInsteadOfRedirect(
          await sendSignedOutAuthorizationRequest(server, { prompt, state: server.unique() }),
          'a sign-in page',
        );
    },
  },
  {
    number: '72',
    section: '4.1',
    text: 'A signed-in user must authorize the application before proceeding.',
    needs: ['client', 'sandbox'],
    play: async (server) => {
      const cookies = await signInAtSandboxPanel(server, requireFirstSandboxUser(server));
      requirePageInsteadOfRedirect(
        await sendSignedInAuthorizationRequest(server, cookies),
        'a page that asks for authorization',
      );
    },
  },
  {
    number: '118',
    section: '7',
    text: 'consent_required and login_required are reported by a redirect.',
    needs: ['client', 'writes'],
    play: async (server) => {
      const end = await sendSignedOutAuthorizationRequest(server, { prompt: 'none', state: server.unique() });
      requireResponseCondition(leadsToCallback(server, end), 'a redirect to redirect_uri', end.response);
      requireResponseCondition(end.query.has('error'), 'an error in the query', end.response);
    },
  },
];
