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
    const value = valueOr(setting, undefined)?.get('lua-replicate-commands');
    if (value !== 'no') return passOutcome(value === undefined ? 'always' : `lua-replicate-commands ${value}`);
    const called = valueOr(calls, new Map<string, number>());
    const count = (called.get('eval') ?? 0) + (called.get('evalsha') ?? 0);
    const fix = configSetFix(
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
      return {
        ...unknownOutcome('lua-replicate-commands no, no script was run since the start', fix),
        required,
        detail,
        premise: 'no application runs a script during the migration',
        settledBy: 'lua-replicate-commands yes (see the fix), or --accept script-replication',
      };
    }
    return failOutcome(['continuous'], `lua-replicate-commands no, ${count} scripts run since the start`, {
      required,
      detail,
      fix,
    });
  },
});
