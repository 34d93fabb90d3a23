import { formatBytes } from '../../../../base/text.ts';
import { type RedisInfo, readRedisInfoNumber } from '../../../../redis/info.ts';
import { type FindingFix, failOutcome, passOutcome, unknownOutcome, warnOutcome } from '../../finding.ts';
import { getPreflightQueryValueOrDefault, markPreflightQueryOptional } from '../../query.ts';
import { declareRedisPreflightCheck } from '../check.ts';
import { buildRedisConfigSetFix, redisAdministratorText } from '../fixes.ts';
import { computeFreeMemoryOfRedisHost } from '../memory.ts';
import {
  readRedisMaxmemory,
  redisInfoQuery,
  redisMaxmemoryConfigQuery,
  redisReplicationConfigQuery,
} from '../queries.ts';

export const sourceMemoryCheck = declareRedisPreflightCheck({
  id: 'source-memory',
  title: 'maxmemory of the source leaves room for the replication backlog',
  headline: 'maxmemory of the source leaves no room for the replication backlog',
  needs: 'connection',
  severity: { continuous: 'blocker' },
  queries: {
    info: redisInfoQuery,
    memory: markPreflightQueryOptional(redisMaxmemoryConfigQuery),
    replication: markPreflightQueryOptional(redisReplicationConfigQuery),
  },
  evaluate({ info, memory, replication }, { rate }) {
    const { limit, policy } = readRedisMaxmemory(info, getPreflightQueryValueOrDefault(memory, undefined));
    const used = readRedisInfoNumber(info, 'used_memory');
    if (limit === 0) return passOutcome('maxmemory unlimited');
    if (used === undefined) return unknownOutcome('the server does not report its memory');
    const size =
      Number(getPreflightQueryValueOrDefault(replication, undefined)?.get('repl-backlog-size') ?? 0) ||
      (readRedisInfoNumber(info, 'repl_backlog_size') ?? 2 ** 20);
    // A server that has a replica has allocated the backlog already, and the backlog grows to its full size.
    const allocated =
      info.get('repl_backlog_active') === '1' ? (readRedisInfoNumber(info, 'repl_backlog_histlen') ?? 0) : 0;
    const need = Math.max(0, size - allocated);
    const room = Math.max(0, limit - used + (readRedisInfoNumber(info, 'mem_not_counted_for_evict') ?? 0));
    const observed = `${formatBytes(room)} left of maxmemory ${formatBytes(limit)}, ${policy}`;
    const evicts = policy !== 'noeviction';
    if (room >= need || (evicts && need < limit / 100)) return passOutcome(observed);
    const hasWrites = (rate?.writes ?? 0) > 0 && rate?.source !== 'network';
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
    return hasWrites && !evicts ? failOutcome(['continuous'], observed, details) : warnOutcome(observed, details);
  },
});

/**
 * The command that restores the old maxmemory is only printed for review, because lowering maxmemory evicts keys or
 * refuses writes if the memory is still in use.
 */
function raiseMaxmemory(info: RedisInfo, limit: number, need: number): FindingFix {
  const text = 'Raise maxmemory for the time of the migration, or reduce repl-backlog-size.';
  const raised = limit + 2 * need;
  const machine = computeFreeMemoryOfRedisHost(info);
  // The machine needs memory for all of maxmemory, not only for the present use.
  const used = Math.max(
    readRedisInfoNumber(info, 'used_memory') ?? 0,
    readRedisInfoNumber(info, 'used_memory_rss') ?? 0,
  );
  if (machine === undefined || raised > used + machine) {
    return {
      by: redisAdministratorText,
      text: `Reduce repl-backlog-size, or free memory. To raise maxmemory to ${formatBytes(raised)}, the machine needs more memory than it is known to have.`,
    };
  }
  const { undo = [], ...fix } = buildRedisConfigSetFix('maxmemory', String(raised), String(limit), info, text);
  return { ...fix, undoReview: undo };
}
