import { ConnectError } from '../../../platform/network-errors.ts';
import { CommandError } from '../../../redis/command-error.ts';
import { connectRedis, type RedisConnection } from '../../../redis/connection.ts';
import type { RedisEndpoint } from '../../../redis/endpoint.ts';
import { parseInfo } from '../../../redis/info.ts';
import { formatCommand } from '../../../redis/quote.ts';
import type { RedisCommand } from '../../../redis/resp.ts';
import type { WatchLimits } from '../limits.ts';
import { type ConnectionProbe, probeConnection } from '../probe.ts';
import { parseRedisFacts, type RedisFacts, type RedisPoll } from './facts.ts';

interface RedisSourceObserverOptions {
  readonly source: RedisEndpoint;
  readonly limits: WatchLimits;
  /** The present time in milliseconds since the epoch. */
  readonly now: () => number;
  readonly signal: AbortSignal;
  /** Called with every command before it is sent to the source. */
  readonly onSent: (place: string, text: string) => void;
}

interface RedisSourceObserver {
  /** Reads the facts of the Redis source once. An unreachable source is returned as an outage and does not throw. */
  poll(): Promise<RedisPoll>;
  close(): Promise<void>;
}

/** Settings that replication depends on; none of them contains a secret. */
const watchedConfigNames = [
  'client-output-buffer-limit',
  'repl-timeout',
  'repl-diskless-sync',
  'bind',
  'port',
  'tls-port',
] as const;

export function createRedisObserver(options: RedisSourceObserverOptions): RedisSourceObserver {
  const { source, limits, now, signal, onSent } = options;
  const denied = new Set<string>();
  let session: RedisConnection | undefined;
  let probe: { readonly at: number; readonly found: ConnectionProbe } | undefined;

  const send = async (command: RedisCommand): Promise<unknown> => {
    session ??= await connectRedis(source, { limit: limits.pollTimeout, signal });
    onSent('server', formatCommand(...command.map(String)));
    return session.send(command, limits.pollTimeout);
  };

  const setting = async (name: string): Promise<readonly [string, string][]> => {
    if (denied.has(name)) return [];
    try {
      const reply = await send(['CONFIG', 'GET', name]);
      return Array.isArray(reply) && typeof reply[1] === 'string' ? [[name, reply[1]]] : [];
    } catch (error) {
      if (!(error instanceof CommandError) || error.lost) throw error;
      denied.add(name);
      return [];
    }
  };

  const facts = async (at: number): Promise<RedisFacts> => {
    // All sections of INFO together are a few kilobytes.
    const info = parseInfo(String(await send(['INFO', 'everything'])));
    const config: [string, string][] = [];
    for (const name of watchedConfigNames) config.push(...(await setting(name)));
    if (probe === undefined || at - probe.at >= limits.probeInterval) probe = { at, found: await probeSource(options) };
    return parseRedisFacts(info, { at, connection: probe.found, config: new Map(config) });
  };

  const drop = (): void => {
    session?.end();
    session = undefined;
  };

  return {
    async poll() {
      const at = now();
      try {
        return { kind: 'seen', facts: await facts(at) };
      } catch (error) {
        if (!(error instanceof CommandError || error instanceof ConnectError)) throw error;
        drop();
        return { kind: 'outage', outage: { at, code: error.code, reason: error.message } };
      }
    },
    close: async () => drop(),
  };
}

/** Opens a connection and closes it without a command. */
function probeSource({ source, limits, signal }: RedisSourceObserverOptions): Promise<ConnectionProbe> {
  return probeConnection(source.host, async () => {
    const session = await connectRedis(source, { limit: limits.pollTimeout, signal });
    session.end();
    return session.tls;
  });
}
