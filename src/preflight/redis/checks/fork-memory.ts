import { numberIn } from '../../../redis/info.ts';
import { pass, warn } from '../../finding.ts';
import { bytesText } from '../../formats/shared.ts';
import { known, maybe } from '../ask.ts';
import { info } from '../asks/info.ts';
import { slowest } from '../asks/server.ts';
import { check } from '../check.ts';

export const forkMemory = check({
  id: 'fork-memory',
  title: 'a fork has the memory it may need',
  needs: 'entry',
  mayBlock: [],
  asks: { server: info, latency: maybe(slowest) },
  judge({ server, latency }) {
    const used = numberIn(server, 'used_memory_rss') ?? numberIn(server, 'used_memory');
    const total = numberIn(server, 'total_system_memory');
    const stopped = Math.max(
      (numberIn(server, 'latest_fork_usec') ?? 0) / 1000,
      known(latency, new Map<string, number>()).get('fork') ?? 0,
    );
    const observed = [
      used === undefined ? 'memory not told' : `${bytesText(used)} used`,
      ...(total === undefined || total === 0 ? [] : [`of ${bytesText(total)}`]),
      ...(stopped > 0 ? [`the last fork stopped the server for ${Math.round(stopped)} ms`] : []),
    ].join(', ');
    const isTight = used !== undefined && total !== undefined && total > 0 && used * 2 > total;
    if (!isTight && stopped < 1000) return pass(observed);
    return warn(observed, {
      required: isTight ? 'as much memory free as is used' : 'a fork below a second',
      detail: isTight
        ? 'While the copy is made, every page that is written is held twice. Without overcommit the fork fails at once: `fork: Cannot allocate memory`; otherwise the kernel may kill the server.'
        : 'All clients wait for the fork at the start of the copy.',
      fix: {
        ...(isTight
          ? { shell: ['sysctl vm.overcommit_memory   # note the value', 'sysctl -w vm.overcommit_memory=1'] }
          : {}),
        text: isTight
          ? 'Let the kernel overcommit, free memory, and migrate at a quiet hour.'
          : 'Migrate at a quiet hour; transparent huge pages make forks slow (never is the advised value).',
      },
    });
  },
});
