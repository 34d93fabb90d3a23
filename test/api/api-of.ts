import { type ApiClient, createClient } from '../../src/api/client.ts';
import { CliError } from '../../src/base/errors.ts';
import { Secret } from '../../src/base/secret.ts';
import { undiciSender } from '../../src/platform/undici-sender.ts';
import { testClock } from '../fixtures/host.ts';
import { workLoginHints } from './login-hints.ts';

/** The API client of a server, with a token that cannot be renewed. */
export async function apiOf(baseOrigin: string, token = 'x'): Promise<ApiClient> {
  return createClient({
    baseOrigin,
    send: await undiciSender({ env: {} }),
    bearer: async () => new Secret(token),
    renew: () => Promise.reject(new CliError('needs_login', 'ended')),
    clock: testClock(),
    timeout: 5_000,
    loginHints: workLoginHints,
  });
}
