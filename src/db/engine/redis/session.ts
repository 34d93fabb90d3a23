import { ConnectError, clientErrorCodes } from '../../../platform/network-errors.ts';
import { CommandError } from '../../../redis/command-error.ts';
import type { RedisConnection } from '../../../redis/connection.ts';
import type { RedisEndpoint } from '../../../redis/endpoint.ts';
import type { EngineSystem } from '../input.ts';
import { engineName } from '../postgresql/names.ts';
import { createReconnecting, type Reconnecting } from '../session.ts';

/** A Redis session that is opened again after outages, and that repeats commands while the server refuses them. */
export function openRedisSession(
  endpoint: RedisEndpoint,
  deps: EngineSystem,
  signal: AbortSignal,
): Reconnecting<RedisConnection> {
  return createReconnecting({
    open: async () => {
      const session = await deps.connectRedis(endpoint, { limit: deps.limits.connectTimeout, signal });
      // Only so that the server's administrator sees whose session it is: the user of the session may not name it.
      await session.send(['CLIENT', 'SETNAME', engineName]).catch(() => {});
      return session;
    },
    close: (session) => session.end(),
    isTransient: (error) => isBusy(error) || isLost(error),
    outageTimeout: deps.limits.outageTimeout,
  });
}

/**
 * Repeats a task while the server refuses it because the server is busy. Any other error is thrown at once, because the
 * address may be wrong.
 */
export async function retryWhileBusy<T>(
  task: () => Promise<T>,
  { limits, sleep }: EngineSystem,
  signal: AbortSignal,
  onBusy: (error: unknown) => void,
): Promise<T> {
  const began = performance.now();
  for (;;) {
    try {
      return await task();
    } catch (error) {
      if (!isBusy(error) || performance.now() - began > limits.outageTimeout) throw error;
      onBusy(error);
      await sleep(limits.pollInterval, signal);
    }
  }
}

/** BUSY: a script runs longer than `busy-reply-threshold`. LOADING: the server reads its data set. */
const busyCodes: ReadonlySet<string> = new Set(['BUSY', 'LOADING', clientErrorCodes.maxClients]);

function isBusy(error: unknown): boolean {
  return (error instanceof ConnectError || error instanceof CommandError) && busyCodes.has(error.code);
}

/** A stopped server accepts connections and does not respond; a server that restarts closes its connections. */
function isLost(error: unknown): boolean {
  if (error instanceof CommandError) return error.lost;
  if (!(error instanceof ConnectError)) return false;
  // A TLS error counts as an outage, because a handshake without a response has no error code of its own, and the first
  // connection has proved that TLS works.
  return error.phase !== 'startup' || lostCodes.has(error.code);
}

const lostCodes: ReadonlySet<string> = new Set([clientErrorCodes.timeout, clientErrorCodes.closed, 'EPIPE']);
