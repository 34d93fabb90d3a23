import { parseKeyspace, type RedisInfo } from '../../../redis/info.ts';
import type { PreflightQueryResult } from '../query.ts';

type RedisScanCommand = 'select' | 'scan' | 'dump' | 'pttl' | 'type';

/**
 * The commands of a scan. SELECT is needed if keys exist outside database 0, or if it is not known which databases have
 * keys.
 */
export function listRedisScanCommands(info: PreflightQueryResult<RedisInfo>): readonly RedisScanCommand[] {
  const isDefaultOnly = info.kind === 'known' && parseKeyspace(info.value).every(({ index }) => index === 0);
  return [...(isDefaultOnly ? [] : (['select'] as const)), 'scan', 'dump', 'pttl', 'type'];
}
