import type { RedisInfo } from '../../redis/info.ts';
import { isVersionAtLeast, parseServerVersion } from '../../redis/version.ts';
import { type QueryResult, queryValueOr } from '../query.ts';
import type { RedisConfigValues, ReplicationSetting } from './queries/config.ts';

export interface DisklessSync {
  /** The value of `repl-diskless-sync`; undefined if the server hides CONFIG. */
  readonly setting: string | undefined;
  readonly isDiskless: boolean;
}

/** Whether a replica receives the initial copy without a file on the disk of the source. */
export function usesDisklessSync(
  settings: QueryResult<RedisConfigValues<ReplicationSetting>>,
  info: RedisInfo | undefined,
): DisklessSync {
  const setting = queryValueOr(settings, undefined)?.get('repl-diskless-sync');
  if (setting !== undefined) return { setting, isDiskless: setting === 'yes' };
  // The default of `repl-diskless-sync` is yes in Redis 7.0 and newer, and in every version of Valkey.
  const version = info === undefined ? undefined : parseServerVersion(info);
  const isDiskless = version?.product === 'valkey' || (version !== undefined && isVersionAtLeast(version, 7, 0));
  return { setting, isDiskless };
}
