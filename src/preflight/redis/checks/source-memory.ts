import { numberIn } from '../../../redis/info.ts';
import { fail, pass, unknown, warn } from '../../finding.ts';
import { bytesText } from '../../formats/shared.ts';
import { known, maybe } from '../ask.ts';
import { type Config, memory, replication } from '../asks/config.ts';
import { info } from '../asks/info.ts';
import { check } from '../check.ts';
import { setting } from '../fixes.ts';

export const sourceMemory = check({
  id: 'source-memory',
  title: 'the source has room for the backlog of a replica',
  needs: 'entry',
  mayBlock: ['continuous'],
  asks: { server: info, settings: maybe(memory), replicating: maybe(replication) },
  judge({ server, settings, replicating }, { rate }) {
    const config = known<Config, undefined>(settings, undefined);
    const limit = numberIn(server, 'maxmemory') ?? Number(config?.get('maxmemory') ?? 0);
    const policy = server.get('maxmemory_policy') ?? config?.get('maxmemory-policy') ?? 'noeviction';
    const used = numberIn(server, 'used_memory');
    if (limit === 0) return pass('maxmemory unlimited');
    if (used === undefined) return unknown('the server does not tell its memory');
    const size =
      Number(known<Config, undefined>(replicating, undefined)?.get('repl-backlog-size') ?? 0) ||
      (numberIn(server, 'repl_backlog_size') ?? 2 ** 20);
    // Where there is a replica the backlog is there, and grows to its size.
    const held = server.get('repl_backlog_active') === '1' ? (numberIn(server, 'repl_backlog_histlen') ?? 0) : 0;
    const need = Math.max(0, size - held);
    const room = Math.max(0, limit - used + (numberIn(server, 'mem_not_counted_for_evict') ?? 0));
    const observed = `${bytesText(room)} left of maxmemory ${bytesText(limit)}, ${policy}`;
    const isEvicting = policy !== 'noeviction';
    if (room >= need || (isEvicting && need < limit / 100)) return pass(observed);
    const isWritten = (rate?.writes ?? 0) > 0 && rate?.source !== 'network';
    const more = {
      required: `${bytesText(need)} for the backlog (repl-backlog-size)`,
      detail: isEvicting
        ? `The backlog counts as memory: the source evicts up to ${bytesText(need - room)} of keys to make room for it, once the target follows.`
        : "The backlog counts as memory: once the target follows, applications are told `OOM command not allowed when used memory > 'maxmemory'` on the source.",
      fix: setting(
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
