import type { ResponseMemory } from '../platform/response-memory.ts';
import type { TimeLimit } from './time-limit.ts';

/** The name of a command and its arguments; bytes, because keys need not be text. */
export type RedisCommand = readonly [name: string, ...rest: readonly (string | Uint8Array)[]];

export interface RedisConnectOptions extends TimeLimit {
  /** Shared by sessions whose replies are kept at the same time (default: each reply alone is limited). */
  readonly memory?: ResponseMemory | undefined;
  /** Called with every command just before it is sent; a password is replaced by `***`. */
  readonly onCommand?: ((command: RedisCommand) => void) | undefined;
}

/** Every command to a Redis server passes through here, so that all of them are reported and counted. */
export function sendCommand<T>(
  command: RedisCommand,
  { onCommand }: Pick<RedisConnectOptions, 'onCommand'>,
  transmit: (command: RedisCommand) => T,
): T {
  onCommand?.(/^AUTH$/i.test(command[0]) ? ['AUTH', '***'] : command);
  return transmit(command);
}
