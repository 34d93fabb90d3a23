import type { RedisReply } from '../../redis/connection.ts';
import type { RedisCommand } from '../../redis/send-command.ts';

/** One read-only command. All are sent together; one that is denied or unknown does not affect the others. */
export interface RedisQuery<T> {
  /** As in `--show-queries`: `CONFIG GET repl-*`. */
  readonly id: string;
  readonly command: (context: RedisQueryContext) => RedisCommand;
  /** Throws when the reply has another shape. */
  readonly decode: (reply: RedisReply) => T;
  /** The rules that allow a user to send it, as ACL SETUSER takes them: `+config|get`. */
  readonly permission: string;
}

export interface RedisQueryContext {
  /** The user of the session: `default` unless AUTH was sent with another name. */
  readonly user: string;
}
