import { formatBytes } from '../../../../base/text.ts';
import { infoNumber, parseKeyspace, type RedisInfo } from '../../../../redis/info.ts';
import { isServerAtLeast, parseServerVersion } from '../../../../redis/version.ts';
import { type FindingFix, failOutcome, passOutcome, unknownOutcome, warnOutcome } from '../../finding.ts';
import { markOptional, valueOr } from '../../query.ts';
import { configSetFix, declareRedisCheck, redisAdministrator } from '../check.ts';
import { infoQuery, maxmemoryQuery, readMaxmemory, replicationQuery } from '../queries.ts';
import { freeHostMemory } from '../source.ts';

export const sourceMemoryCheck = declareRedisCheck({
  id: 'source-memory',
  title: 'maxmemory of the source leaves room for the replication backlog',
  headline: 'maxmemory of the source leaves no room for the replication backlog',
  severity: { continuous: 'blocker' },
  queries: {
    info: infoQuery,
    memory: markOptional(maxmemoryQuery),
    replication: markOptional(replicationQuery),
  },
  evaluate({ info, memory, replication }, { rate }) {
    const { limit, policy } = readMaxmemory(info, valueOr(memory, undefined));
    const used = infoNumber(info, 'used_memory');
    if (limit === 0) return passOutcome('maxmemory unlimited');
    // replica-ignore-maxmemory is yes unless somebody changed it.
    if (info.get('role') === 'slave') return passOutcome('a replica neither evicts keys nor refuses writes');
    if (used === undefined) return unknownOutcome('the server does not report its memory');
    const size =
      Number(valueOr(replication, undefined)?.get('repl-backlog-size') ?? 0) ||
      (infoNumber(info, 'repl_backlog_size') ?? 2 ** 20);
    // A server that has a replica has allocated the backlog already; since Redis 7.0 it grows to its full size.
    const isGrowing = isServerAtLeast(parseServerVersion(info), 7, 0);
    const filled = isGrowing ? (infoNumber(info, 'repl_backlog_histlen') ?? 0) : size;
    const allocated = info.get('repl_backlog_active') === '1' ? filled : 0;
    const need = Math.max(0, size - allocated);
    const room = Math.max(0, limit - used + (infoNumber(info, 'mem_not_counted_for_evict') ?? 0));
    const observed = `${formatBytes(room)} left of maxmemory ${formatBytes(limit)}, ${policy}`;
    const hasExpiries = parseKeyspace(info).some(({ expires }) => expires > 0);
    const evicts = policy !== 'noeviction' && (hasExpiries || !policy.startsWith('volatile-'));
    if (room >= need || (evicts && need < limit / 100)) return passOutcome(observed);
    const hasWrites = ((rate?.writes ?? 0) > 0 && rate?.source !== 'network') || (rate?.changes ?? 0) > 0;
    const details = {
      required: `${formatBytes(need)} of free memory for the backlog (repl-backlog-size)`,
      detail: evicts
        ? `The backlog counts as used memory: once the target follows, the source evicts up to ${formatBytes(need - room)} of keys.`
        : "The backlog counts as used memory: once the target follows, the source refuses writes with `OOM command not allowed when used memory > 'maxmemory'`.",
      ...(evicts
        ? { dataLoss: `up to ${formatBytes(need - room)} of keys that the source evicts for the backlog` }
        : {}),
      fix: raiseMaxmemory(info, limit, need),
    };
    if (evicts) return warnOutcome(observed, details);
    if (hasWrites) return failOutcome(['continuous'], observed, details);
    return {
      ...unknownOutcome(rate === undefined ? observed : `${observed}; no writes were measured`),
      ...details,
      premise: 'no application writes until the cut-over',
      settledBy: 'more room (see the fix), or --accept source-memory',
    };
  },
});

/**
 * The command that restores the old maxmemory is only printed for review, because lowering maxmemory evicts keys or
 * refuses writes if the memory is still in use.
 */
function raiseMaxmemory(info: RedisInfo, limit: number, need: number): FindingFix {
  const text = 'Raise maxmemory for the time of the migration, or reduce repl-backlog-size.';
  const raised = limit + 2 * need;
  const machine = freeHostMemory(info);
  // The machine needs memory for all of maxmemory, not only for the present use.
  const used = Math.max(infoNumber(info, 'used_memory') ?? 0, infoNumber(info, 'used_memory_rss') ?? 0);
  if (machine === undefined || raised > used + machine) {
    return {
      by: redisAdministrator,
      text: `Reduce repl-backlog-size, or free memory. To raise maxmemory to ${formatBytes(raised)}, the machine needs more memory than it is known to have.`,
    };
  }
  const { undo = [], ...fix } = configSetFix('maxmemory', String(raised), String(limit), info, text);
  return { ...fix, undoReview: undo };
}
