import type { RedisInfo } from '../../redis/info.ts';
import { formatRedisCommand } from '../../redis/quote.ts';
import type { Fix } from '../finding.ts';

/** Changes a setting of the running server, writes its file, and knows the way back to what was observed. */
export function configSetFix(name: string, value: string, observed: string, info: RedisInfo, text: string): Fix {
  const keep = configRewriteCommands(info);
  return {
    sql: [formatRedisCommand('CONFIG', 'SET', name, value), ...keep],
    undo: [formatRedisCommand('CONFIG', 'SET', name, observed), ...keep],
    by: redisAdministrator,
    text: keep.length > 0 ? text : `${text} The server runs without a configuration file, so a restart forgets it.`,
  };
}

export const redisAdministrator = 'an administrator of the source';

/** A server without a file refuses CONFIG REWRITE. */
export function configRewriteCommands(info: RedisInfo): readonly string[] {
  return (info.get('config_file') ?? '') === '' ? [] : ['CONFIG REWRITE'];
}

/** What a user is given, and what it had. */
export interface AclGrantRequest {
  readonly user: string;
  /** Of commands: `psync`. */
  readonly names: readonly string[];
  /** Keys of any name. */
  readonly allKeys?: boolean;
  /** The patterns of keys it had; undefined: not known. */
  readonly keysBefore?: readonly string[] | undefined;
  /** Some of the names may have been allowed before, so that no way back is known. */
  readonly isGuessed?: boolean;
  /** Empty when users stand in the configuration. */
  readonly aclFile: string;
  readonly info: RedisInfo;
  readonly text: string;
}

/** Lets a user do more. */
export function aclGrantFix({
  user,
  names,
  allKeys = false,
  keysBefore,
  isGuessed: guessed = false,
  aclFile,
  info,
  text,
}: AclGrantRequest): Fix {
  const keep = aclFile === '' ? configRewriteCommands(info) : ['ACL SAVE'];
  const line = (sign: string, keys: readonly string[]) =>
    formatRedisCommand('ACL', 'SETUSER', user, ...names.map((name) => `${sign}${name}`), ...keys);
  const back = allKeys ? keysBefore && ['resetkeys', ...keysBefore] : [];
  const isKnown = back !== undefined && !guessed;
  return {
    sql: [line('+', allKeys ? ['~*'] : []), ...keep],
    ...(isKnown ? { undo: [line('-', back), ...keep] } : {}),
    by: redisAdministrator,
    text: isKnown ? text : `${text} Note what it had before: ${formatRedisCommand('ACL', 'GETUSER', user)}.`,
  };
}
