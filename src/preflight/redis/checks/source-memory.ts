import { infoNumber } from '../../../redis/info.ts';
import { fail, pass, unknown, warn } from '../../finding.ts';
import { formatBytes } from '../../formats/report-text.ts';
import { redisCheck } from '../check.ts';
import { configSetFix } from '../fixes.ts';
import { maxmemoryConfigQuery, type RedisConfigValues, replicationConfigQuery } from '../queries/config.ts';
import { infoQuery } from '../queries/info.ts';
import { optionalQuery, resultOr } from '../query.ts';

export const sourceMemoryCheck = redisCheck({
  id: 'source-memory',
  title: 'the source has room for the backlog of a replica',
  needs: 'entry',
  mayBlock: ['continuous'],
  queries: {
    server: infoQuery,
    settings: optionalQuery(maxmemoryConfigQuery),
    replicating: optionalQuery(replicationConfigQuery),
  },
  evaluate({ server, settings, replicating }, { rate }) {
    const config = resultOr<RedisConfigValues, undefined>(settings, undefined);
    const limit = infoNumber(server, 'maxmemory') ?? Number(config?.get('maxmemory') ?? 0);
    const policy = server.get('maxmemory_policy') ?? config?.get('maxmemory-policy') ?? 'noeviction';
    const used = infoNumber(server, 'used_memory');
    if (limit === 0) return pass('maxmemory unlimited');
    if (used === undefined) return unknown('the server does not tell its memory');
    const size =
      Number(resultOr<RedisConfigValues, undefined>(replicating, undefined)?.get('repl-backlog-size') ?? 0) ||
      (infoNumber(server, 'repl_backlog_size') ?? 2 ** 20);
    // Where there is a replica the backlog is there, and grows to its size.
    const held = server.get('repl_backlog_active') === '1' ? (infoNumber(server, 'repl_backlog_histlen') ?? 0) : 0;
    const need = Math.max(0, size - held);
    const room = Math.max(0, limit - used + (infoNumber(server, 'mem_not_counted_for_evict') ?? 0));
    const observed = `${formatBytes(room)} left of maxmemory ${formatBytes(limit)}, ${policy}`;
    const isEvicting = policy !== 'noeviction';
    if (room >= need || (isEvicting && need < limit / 100)) return pass(observed);
    const isWritten = (rate?.writes ?? 0) > 0 && rate?.source !== 'network';
    const more = {
      required: `${formatBytes(need)} for the backlog (repl-backlog-size)`,
      detail: isEvicting
        ? `The backlog counts as memory: the source evicts up to ${formatBytes(need - room)} of keys to make room for it, once the target follows.`
        : "The backlog counts as memory: once the target follows, applications are told `OOM command not allowed when used memory > 'maxmemory'` on the source.",
      fix: configSetFix(
        'maxmemory',
        String(limit + 2 * need),
        String(limit),
        server,
        'Give the source more memory while the migration runs, or make repl-backlog-size smaller.',
      ),
    };
    return isWritten && !isEvicting ? fail(['continuous'], observed, more) : warn(observed, more);
  },
});
