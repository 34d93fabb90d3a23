import type { ServerResponse } from 'node:http';
import { type ReceivedRequest, reply, serverFor, type TestServer } from '../fixtures/fake-server.ts';

/** An authorization server and resource API of a test's own: good unless told otherwise, and it remembers every request. */
export interface Authority extends TestServer {
  /** Requests at the token endpoint. */
  tokenRequests(): readonly ReceivedRequest[];
}

export interface AuthorityBehavior {
  readonly token?: (seen: ReceivedRequest, response: ServerResponse, count: number) => void;
  readonly api?: (seen: ReceivedRequest, response: ServerResponse) => void;
}

export const accessToken = 'attack-access-token-000000000000000000001';
export const refreshToken = 'attack-refresh-token-00000000000000000001';
export const clientSecret = 'attack-client-secret-0000000000000000001';
export const code = 'attack-code-0000000000000000000000000001';

export const goodGrant = {
  access_token: accessToken,
  token_type: 'bearer',
  expires_in: 2_592_000,
  refresh_token: refreshToken,
  scope: 'read',
  info: { name: 'Sammy Shark', email: 'sammy@example.com', uuid: '1b0c9d3e-5f6a-4b7c-8d9e-0f1a2b3c4d5e' },
};

export async function authorityFor(manners: AuthorityBehavior = {}): Promise<Authority> {
  const server = await serverFor((seen, response, count) => {
    const { pathname } = new URL(seen.url, 'http://x');
    if (pathname === '/v1/oauth/token') {
      (manners.token ?? ((_, to) => reply(to, 200, goodGrant)))(seen, response, count);
    } else if (pathname === '/v1/oauth/revoke') reply(response, 200, {});
    else if (pathname.startsWith('/v2/')) {
      (manners.api ?? ((_, to) => reply(to, 200, { actions: [], droplets: [], links: {}, meta: { total: 0 } })))(
        seen,
        response,
      );
    } else reply(response, 404, {});
  });
  return {
    ...server,
    tokenRequests: () => server.seen.filter(({ url }) => url.startsWith('/v1/oauth/token')),
  };
}
