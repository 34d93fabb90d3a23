import { connect, type RedisSession, type Words } from '../../redis/connection.ts';
import { CommandError, ConnectError } from '../../redis/failure.ts';
import { readInfo } from '../../redis/info.ts';
import { commandLine } from '../../redis/quote.ts';
import type { RedisSource } from '../../redis/source.ts';
import type { Door } from '../door.ts';
import type { Limits } from '../limits.ts';
import { addressesOf, certificateWords } from '../names.ts';
import { type RedisFacts, type RedisLook, readFacts } from './facts.ts';

export interface ObserverOptions {
  readonly source: RedisSource;
  readonly limits: Limits;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly signal: AbortSignal;
  /** Hears every command before it is sent. */
  readonly onSent: (place: string, text: string) => void;
}

export interface Observer {
  /** Looks once; a source that does not answer is an outage, never an error. */
  look(): Promise<RedisLook>;
  close(): Promise<void>;
}

/** What a replica depends on. Nothing with a secret in it. */
const asked = ['client-output-buffer-limit', 'repl-timeout', 'repl-diskless-sync', 'bind', 'port', 'tls-port'] as const;

export function observeRedis(options: ObserverOptions): Observer {
  const { source, limits, now, signal, onSent } = options;
  const denied = new Set<string>();
  let session: RedisSession | undefined;
  let door: { readonly at: number; readonly found: Door } | undefined;

  const send = async (words: Words): Promise<unknown> => {
    session ??= await connect(source, { limit: limits.poll, signal });
    onSent('server', commandLine(...words.map(String)));
    return session.send(words, limits.poll);
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
    // One section at a time is not worth it: all of them are a few kilobytes.
    const info = readInfo(String(await send(['INFO', 'everything'])));
    const config: [string, string][] = [];
    for (const name of asked) config.push(...(await setting(name)));
    if (door === undefined || at - door.at >= limits.door) door = { at, found: await lookAtDoor(options) };
    return readFacts(info, { at, door: door.found, config: new Map(config) });
  };

  const drop = (): void => {
    session?.end();
    session = undefined;
  };

  return {
    async look() {
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

/** Connects anew and leaves. */
async function lookAtDoor({ source, limits, signal }: ObserverOptions): Promise<Door> {
  const addresses = await addressesOf(source.host);
  try {
    const session = await connect(source, { limit: limits.poll, signal });
    session.end();
    return { addresses, certificate: certificateWords(session.tls), refused: undefined };
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error;
    return { addresses, certificate: undefined, refused: { code: error.code, message: error.message } };
  }
}
