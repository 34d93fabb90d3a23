import { requireErrorPage, requireRefusal, sendInvalidAuthorizationRequest } from '../authorization-requests.ts';
import { requireTestedClient } from '../authorize-tested-client.ts';
import { extractResponsePlainText, requireResponseCondition } from '../conformance-response.ts';
import type { ConformanceStatement } from '../statement.ts';

/** The statements about authorization requests that are refused (spec §4.1, §7). */
export const authorizationRefusalConformanceStatements: readonly ConformanceStatement[] = [
  {
    number: '59',
    section: '4.1',
    text: 'client_id is required.',
    needs: ['client'],
    play: async (server) => {
      for (const client_id of [undefined, 'an-unknown-client-id'])
        requireErrorPage(
          await sendInvalidAuthorizationRequest(server, { client_id }),
          clientMessage,
          'an error page for this client_id',
        );
    },
  },
  {
    number: '60',
    section: '4.1',
    text: 'redirect_uri is required and equals the registered callback URL.',
    needs: ['client'],
    play: async (server) => {
      for (const redirect_uri of differentCallbackUrls(requireTestedClient(server).callbackUrl)) {
        const end = await sendInvalidAuthorizationRequest(server, { redirect_uri });
        requireErrorPage(end, redirectUriMessage, 'an error page for a redirect_uri other than the registered one');
      }
    },
  },
  {
    number: '61',
    section: '4.1',
    text: 'response_type is required, and is code or token.',
    needs: ['client'],
    play: async (server) => {
      for (const response_type of [undefined, 'id_token', 'CODE', 'code token'])
        requireRefusal(
          server,
          await sendInvalidAuthorizationRequest(server, { response_type, state: server.unique() }),
        );
    },
  },
  {
    number: '62',
    section: '4.1',
    text: 'The valid scopes are `read` and `read write`; another one is answered with an error page.',
    needs: ['client'],
    play: async (server) => {
      for (const scope of ['write', 'READ', 'read,write', 'read admin', 'read  write', 'read read']) {
        const end = await sendInvalidAuthorizationRequest(server, { scope });
        requireErrorPage(end, scopeMessage, 'an error page for an invalid scope');
      }
    },
  },
  {
    number: '119',
    section: '7',
    text: 'The error page of a wrong redirect_uri says that it is not valid.',
    needs: ['client'],
    play: async (server) => {
      const redirect_uri = `${requireTestedClient(server).callbackUrl}/other`;
      const { response } = await sendInvalidAuthorizationRequest(server, { redirect_uri });
      const isSaid = redirectUriMessage.test(extractResponsePlainText(response));
      requireResponseCondition(isSaid, 'a page with a message that the redirect uri is not valid', response);
    },
  },
  {
    number: '120',
    section: '7',
    text: 'The error page of a wrong scope says that it is invalid, unknown or malformed.',
    needs: ['client'],
    play: async (server) => {
      const { response } = await sendInvalidAuthorizationRequest(server, { scope: 'admin' });
      const isSaid = scopeMessage.test(extractResponsePlainText(response));
      requireResponseCondition(isSaid, 'a page with a message that the requested scope is invalid', response);
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
