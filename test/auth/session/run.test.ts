import { describe, expect, it } from 'vitest';
import { probeToken, type TokenAcceptance } from '../../../src/auth/session/run.ts';
import { Secret } from '../../../src/base/secret.ts';
import { closedOrigin, type RequestHandler, reply, serverFor } from '../../fixtures/fake-server.ts';
import { testHost } from '../../fixtures/host.ts';

async function probe(origin: string): Promise<TokenAcceptance> {
  const send = () => testHost().createSender({ env: {} });
  const binding = { authOrigin: origin, baseOrigin: origin, clientId: '' };
  return probeToken({ send, binding }, new Secret('at-1'), AbortSignal.timeout(2_000));
}

describe('what the resource API thinks of an access token', () => {
  it.each<[TokenAcceptance, string, RequestHandler]>([
    ['accepted', 'a list', (_, response) => reply(response, 200, { actions: [] })],
    ['refused', 'a 401', (_, response) => reply(response, 401, { id: 'unauthorized', message: 'no' })],
    ['refused', 'a 404 that says not_found', (_, response) => reply(response, 404, { id: 'not_found', message: 'no' })],
    ['unknown', 'a 403', (_, response) => reply(response, 403, { id: 'forbidden', message: 'no' })],
    ['unknown', 'a 503', (_, response) => reply(response, 503, {})],
    ['unknown', 'a redirect', (_, response) => reply(response, 302, '', { location: '/' })],
    ['unknown', "a portal's page of 404", (_, response) => reply(response, 404, '<html>')],
    ['unknown', 'a dropped connection', (_, response) => void response.destroy()],
  ])('is %s after %s, by one request', async (expected, _what, answerer) => {
    const { origin, seen } = await serverFor(answerer);
    expect(await probe(origin)).toBe(expected);
    expect(seen.map(({ url, headers }) => [url, headers.authorization])).toEqual([
      ['/v2/actions?page=1&per_page=1', 'Bearer at-1'],
    ]);
  });

  it('is unknown when nobody listens', async () => {
    expect(await probe(await closedOrigin())).toBe('unknown');
  });
});
