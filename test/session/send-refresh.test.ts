import { expect, it } from 'vitest';
import { refreshRequest } from '../../src/oauth/token-endpoint.ts';
import { type HttpSender, SendError } from '../../src/platform/http-sender.ts';
import { Secret } from '../../src/secret.ts';
import { refreshError, type SendRefreshOptions, sendRefresh } from '../../src/session/send-refresh.ts';
import { testHost } from '../fixtures/host.ts';

const origin = 'http://127.0.0.1:1';
const client = { authOrigin: origin, clientId: 'client-1', clientSecret: undefined, tokenParams: 'query' } as const;
const loginCommand = '`cloudctl auth login`';
const server = { origin, profile: 'default', tokenParams: 'query', isSpecServer: false, loginCommand } as const;

/** A server that says nothing, until the request is given up. */
function silent() {
  let sent = 0;
  const send: HttpSender = (_url, { signal }) => {
    sent += 1;
    return new Promise((_resolve, reject) => {
      const end = () => reject(new SendError('timeout', true, 'no answer in time'));
      if (signal.aborted) end();
      signal.addEventListener('abort', end);
    });
  };
  return { send: async () => send, sent: () => sent };
}

it('the time of a command ends a request that is under way, and what became of it is not known', async () => {
  const [{ send, sent }, over] = [silent(), new AbortController()];
  const request = refreshRequest(client, new Secret('rt-1'));
  const options: SendRefreshOptions = { server, deadline: over.signal, inDoubt: false, persistResponse: () => {} };
  const attempted = sendRefresh({ createSender: send, clock: testHost().clock }, request, options);
  setTimeout(() => over.abort(), 20);
  expect(await attempted).toMatchObject({ kind: 'failed', inDoubt: true, error: { code: 'timeout', exitCode: 6 } });
  expect(sent()).toBe(2);
});

it.each([
  [{ kind: 'malformed', status: 503, reason: 'not JSON' }, 'api_error', /answered 503$/],
  [{ kind: 'malformed', status: 408, reason: 'not JSON' }, 'api_error', /answered 408$/],
  [{ kind: 'malformed', status: 200, reason: 'not JSON' }, 'api_error', /is not understood$/],
  [{ kind: 'refused', status: 500, error: 'server_error' }, 'api_error', /answered server_error$/],
  [{ kind: 'refused', status: 401, error: 'invalid_client' }, 'invalid_client', /answered invalid_client$/],
] as const)('%j is told as what it is, and that the session was kept', (result, code, message) => {
  const { status } = result;
  const error = refreshError(server, result);
  expect(error).toMatchObject({ code, status, message: expect.stringMatching(message) });
  expect(error.detail).toMatch(/; the session was kept$/);
});

it.each([
  ['query', { kind: 'malformed', status: 400, reason: 'not JSON' }, 'cloudctl config set token_params body'],
  ['query', { kind: 'refused', status: 403, error: 'unauthorized_client' }, 'cloudctl config set token_params body'],
  ['body', { kind: 'refused', status: 403, error: 'unauthorized_client' }, 'cloudctl config set token_params basic'],
  ['body', { kind: 'malformed', status: 400, reason: 'not JSON' }, undefined],
  ['body', { kind: 'refused', status: 400, error: 'invalid_request' }, undefined],
] as const)(
  'in the way %s %j, which may be said of a refresh token that has ended, leads to a login, and to another way (%s)',
  (tokenParams, result, way) => {
    const { hint = '' } = refreshError({ ...server, tokenParams }, result);
    expect(hint).toContain(`run the command again; if it stays so: ${loginCommand}`);
    expect(hint.includes('token_params')).toBe(way !== undefined);
    expect(hint).toContain(way ?? loginCommand);
  },
);

it('a form is not recommended to a server of spec.md, nor after an answer that was none of a server that looked in vain', () => {
  const unread = { kind: 'malformed', status: 404, reason: 'not JSON' } as const;
  expect(refreshError({ ...server, isSpecServer: true }, unread).hint).not.toContain('token_params');
  expect(refreshError(server, { ...unread, status: 200 }).hint).toMatch(/, then run the command again$/);
});
