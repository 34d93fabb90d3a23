import type { RedisInfo } from '../../../redis/info.ts';
import { isValkeyOrRedisAtLeast, parseRedisServerVersion } from '../../../redis/version.ts';
import { getPreflightQueryValueOrDefault, type PreflightQueryResult } from '../query.ts';
import type { RedisConfigValues, RedisReplicationSetting } from './queries/config.ts';

interface RedisDisklessReplication {
  /** The value of `repl-diskless-sync`; undefined if the server hides CONFIG. */
  readonly setting: string | undefined;
  readonly isDiskless: boolean;
}

/** Whether a replica receives the initial copy without a file on the disk of the source. */
export function getRedisDisklessReplication(
  settings: PreflightQueryResult<RedisConfigValues<RedisReplicationSetting>>,
  info: RedisInfo | undefined,
): RedisDisklessReplication {
  const setting = getPreflightQueryValueOrDefault(settings, undefined)?.get('repl-diskless-sync');
  if (setting !== undefined) return { setting, isDiskless: setting === 'yes' };
  // The default of `repl-diskless-sync` is yes in Redis 7.0 and newer, and in every version of Valkey.
  const version = info === undefined ? undefined : parseRedisServerVersion(info);
  const isDiskless = isValkeyOrRedisAtLeast(version, 7, 0);
  return { setting, isDiskless };
}
