import type { RedisInfo } from '../../redis/info.ts';
import { isVersionAtLeast, parseServerVersion } from '../../redis/version.ts';
import type { RedisConfigValues } from './queries/config.ts';
import { type RedisQueryResult, resultOr } from './query.ts';

export interface DisklessSync {
  /** `repl-diskless-sync` as the server tells it; undefined: hidden. */
  readonly setting: string | undefined;
  readonly isDiskless: boolean;
}

/** Whether a replica gets its first copy without a file on the disk of the source. */
export function disklessSyncOf(
  settings: RedisQueryResult<RedisConfigValues>,
  server: RedisInfo | undefined,
): DisklessSync {
  const told = resultOr<RedisConfigValues, undefined>(settings, undefined)?.get('repl-diskless-sync');
  if (told !== undefined) return { setting: told, isDiskless: told === 'yes' };
  // 7.0 turned it on; a Valkey never had it off.
  const version = server === undefined ? undefined : parseServerVersion(server);
  return {
    setting: told,
    isDiskless: version?.product === 'valkey' || (version !== undefined && isVersionAtLeast(version, 7, 0)),
  };
}
