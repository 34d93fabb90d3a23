import type { Secret } from '../base/secret.ts';
import { ConformanceNotTestableError } from './conformance-difference-error.ts';
import { obtainPrerequisiteTokens } from './grants.ts';
import { computeOncePerServer, type ServerUnderTest } from './server-under-test.ts';

/** An access token with read access: the given token, or a token of a new grant. No test invalidates the token. */
export function obtainTokenThatCanRead(server: ServerUnderTest): Promise<Secret> {
  return computeOncePerServer(
    server,
    'read token',
    async () => server.accessToken ?? (await obtainReadWriteToken(server)),
  );
}

/** An access token with the scope `read write`. */
export function obtainReadWriteToken(server: ServerUnderTest): Promise<Secret> {
  return computeOncePerServer(server, 'write token', async () => {
    if (!server.allowWrites) throw new ConformanceNotTestableError('needs --allow-writes');
    if (server.admin === undefined && server.accessToken !== undefined) return server.accessToken;
    return (await obtainPrerequisiteTokens(server, { scope: 'read write' })).accessToken;
  });
}

/** An access token with the scope `read` only. */
export function obtainReadOnlyTestToken(server: ServerUnderTest): Promise<Secret> {
  return computeOncePerServer(
    server,
    'read-only token',
    async () => (await obtainPrerequisiteTokens(server)).accessToken,
  );
}
