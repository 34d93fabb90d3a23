import type { DatabaseResponseMemoryLimit } from '../platform/response-memory.ts';
import type { TimeLimitOptions } from './time-limit-options.ts';

/** The name of a command and its arguments, which may be bytes because keys need not be text. */
export type RedisCommand = readonly [name: string, ...rest: readonly (string | Uint8Array)[]];

export interface RedisConnectOptions extends TimeLimitOptions {
  /**
   * Memory limit shared by sessions whose replies are kept at the same time (default: a limit for each reply alone).
   */
  readonly memory?: DatabaseResponseMemoryLimit | undefined;
  /** Called with every command just before it is sent, in which a password is replaced by `***`. */
  readonly onCommand?: ((command: RedisCommand) => void) | undefined;
}

/** Every command to a Redis server is sent by this function, so that all commands are reported and counted. */
export function sendRedisCommand<T>(
  command: RedisCommand,
  { onCommand }: Pick<RedisConnectOptions, 'onCommand'>,
  transmit: (command: RedisCommand) => T,
): T {
  onCommand?.(/^AUTH$/i.test(command[0]) ? ['AUTH', '***'] : command);
  return transmit(command);
}
