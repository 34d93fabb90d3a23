import { isServerAtLeast, parseServerVersion } from '../../../../redis/version.ts';
import { failOutcome, passOutcome, unknownOutcome } from '../../finding.ts';
import { markOptional, valueOr } from '../../query.ts';
import { configSetFix, declareRedisCheck, outcomeWithoutValue } from '../check.ts';
import { commandCallsQuery, infoQuery, luaReplicateQuery } from '../queries.ts';

/**
 * Redis 5 and 6 can replicate a script by sending the script itself to the replica. Redis 7.0 and newer, and Valkey,
 * always replicate the changes that the script makes.
 */
export const scriptReplicationCheck = declareRedisCheck({
  id: 'script-replication',
  title: 'scripts are replicated by their changes',
  headline: 'Scripts are replicated as scripts (lua-replicate-commands no)',
  severity: { continuous: 'blocker' },
  queries: {
    info: infoQuery,
    setting: markOptional(luaReplicateQuery),
    calls: markOptional(commandCallsQuery),
  },
  evaluate({ info, setting, calls }) {
    const version = parseServerVersion(info);
    if (isServerAtLeast(version, 7, 0)) return passOutcome('always');
    // If the server hides CONFIG, the default of lua-replicate-commands is assumed, because few servers change it.
    if (setting.kind === 'failed' || setting.kind === 'denied') return outcomeWithoutValue(setting);
    // Before 5.0 there is no setting, and scripts are sent as scripts.
    const isOld = version?.product === 'redis' && !isServerAtLeast(version, 5, 0);
    const value = isOld ? 'no' : valueOr(setting, undefined)?.get('lua-replicate-commands');
    if (value !== 'no') return passOutcome(value === undefined ? 'always' : `lua-replicate-commands ${value}`);
    const called = valueOr(calls, new Map<string, number>());
    const count = (called.get('eval') ?? 0) + (called.get('evalsha') ?? 0);
    const fix = isOld
      ? { text: 'Let each script call redis.replicate_commands() first (3.2 and newer), or upgrade the source.' }
      : configSetFix(
          'lua-replicate-commands',
          'yes',
          'no',
          info,
          'Replicate the changes that scripts make, so that the target does not run the scripts again.',
        );
    const required = 'lua-replicate-commands yes';
    const detail =
      'The target runs every script again. In Redis 7 and newer, commands return members in another order, random numbers differ and some scripts are refused, so the data differs without an error.';
    if (calls.kind !== 'known' || count === 0) {
      return {
        ...unknownOutcome(
          `scripts are replicated as scripts, ${calls.kind === 'known' ? 'none was run since the start' : 'and whether any was run is not known'}`,
          fix,
        ),
        required,
        detail,
        premise: 'no application runs a script during the migration',
        settledBy: 'lua-replicate-commands yes (see the fix), or --accept script-replication',
      };
    }
    return failOutcome(['continuous'], `scripts are replicated as scripts, ${count} run since the start`, {
      required,
      detail,
      fix,
    });
  },
});
