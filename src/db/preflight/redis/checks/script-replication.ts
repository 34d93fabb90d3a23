import { isValkeyOrRedisAtLeast, parseRedisServerVersion } from '../../../../redis/version.ts';
import { failOutcome, passOutcome, warnOutcome } from '../../finding.ts';
import { getPreflightQueryValueOrDefault, markPreflightQueryOptional } from '../../query.ts';
import { declareRedisPreflightCheck } from '../check.ts';
import { buildRedisOutcomeWithoutQueryResult } from '../commands.ts';
import { buildRedisConfigSetFix } from '../fixes.ts';
import { redisCommandCallsQuery, redisInfoQuery, redisLuaReplicateCommandsConfigQuery } from '../queries.ts';

/**
 * Redis 5 and 6 can replicate a script by sending the script itself to the replica. Redis 7.0 and newer, and Valkey,
 * always replicate the changes that the script makes.
 */
export const scriptReplicationCheck = declareRedisPreflightCheck({
  id: 'script-replication',
  title: 'scripts are replicated by their changes',
  headline: 'Scripts are replicated as scripts (lua-replicate-commands no)',
  needs: 'connection',
  severity: { continuous: 'blocker' },
  queries: {
    info: redisInfoQuery,
    setting: markPreflightQueryOptional(redisLuaReplicateCommandsConfigQuery),
    calls: markPreflightQueryOptional(redisCommandCallsQuery),
  },
  evaluate({ info, setting, calls }) {
    const version = parseRedisServerVersion(info);
    if (isValkeyOrRedisAtLeast(version, 7, 0)) return passOutcome('always');
    // If the server hides CONFIG, the default of lua-replicate-commands is assumed, because few servers change it.
    if (setting.kind === 'failed' || setting.kind === 'denied') return buildRedisOutcomeWithoutQueryResult(setting);
    const value = getPreflightQueryValueOrDefault(setting, undefined)?.get('lua-replicate-commands');
    if (value !== 'no') return passOutcome(value === undefined ? 'always' : `lua-replicate-commands ${value}`);
    const called = getPreflightQueryValueOrDefault(calls, new Map<string, number>());
    const count = (called.get('eval') ?? 0) + (called.get('evalsha') ?? 0);
    const fix = buildRedisConfigSetFix(
      'lua-replicate-commands',
      'yes',
      'no',
      info,
      'Replicate the changes that scripts make, so that the target does not run the scripts again.',
    );
    const required = 'lua-replicate-commands yes';
    const detail =
      'The target runs every script again. In Redis 7 and newer, commands return members in another order, random numbers differ and some scripts are refused, so the data differs without an error.';
    if (calls.kind === 'known' && count === 0) {
      return warnOutcome('lua-replicate-commands no, no script was run since the start', { required, detail, fix });
    }
    return failOutcome(['continuous'], `lua-replicate-commands no, ${count} scripts run since the start`, {
      required,
      detail,
      fix,
    });
  },
});
