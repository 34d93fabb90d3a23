import type { RedisReply } from '../../../redis/connection.ts';
import type { RedisCommand } from '../../../redis/send-redis-command.ts';

/**
 * One read-only command. All commands are sent together; a command that is denied or unknown does not affect the
 * others.
 */
export interface RedisPreflightQuery<T> {
  /** The query as `--show-queries` prints it, such as `CONFIG GET repl-*`. */
  readonly id: string;
  readonly command: (context: RedisPreflightQueryContext) => RedisCommand;
  /** Throws if the reply does not have the expected structure. */
  readonly decode: (reply: RedisReply) => T;
  /** The ACL rules that allow a user to send the command, as arguments of ACL SETUSER: `+config|get`. */
  readonly permission: string;
}

export interface RedisPreflightQueryContext {
  /** The ACL user of the session: `default` unless AUTH was sent with another name. */
  readonly user: string;
}
