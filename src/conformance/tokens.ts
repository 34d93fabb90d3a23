import type { Secret } from '../secret.ts';
import { NotTestable } from './conformance-difference.ts';
import { requestGrant } from './grants.ts';
import { type ServerUnderTest, shareResult } from './server-under-test.ts';

/** An access token that may read: the given one, or one of a new grant. No play uses it up. */
export function requireReadToken(server: ServerUnderTest): Promise<Secret> {
  return shareResult(server, 'read token', async () => server.accessToken ?? (await requireWriteToken(server)));
}

/** An access token with the scope `read write`. */
export function requireWriteToken(server: ServerUnderTest): Promise<Secret> {
  return shareResult(server, 'write token', async () => {
    if (!server.allowWrites) throw new NotTestable('needs --allow-writes');
    if (server.admin === undefined && server.accessToken !== undefined) return server.accessToken;
    return (await requestGrant(server, { scope: 'read write' })).accessToken;
  });
}

/** An access token with the scope `read` only. */
export function requireReadOnlyToken(server: ServerUnderTest): Promise<Secret> {
  return shareResult(server, 'read-only token', async () => (await requestGrant(server)).accessToken);
}
