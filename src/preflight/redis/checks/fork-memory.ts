import { infoNumber } from '../../../redis/info.ts';
import { pass, warn } from '../../finding.ts';
import { formatBytes } from '../../formats/report-text.ts';
import { redisCheck } from '../check.ts';
import { infoQuery } from '../queries/info.ts';
import { latencyMaximaQuery } from '../queries/server.ts';
import { optionalQuery, resultOr } from '../query.ts';

export const forkMemoryCheck = redisCheck({
  id: 'fork-memory',
  title: 'a fork has the memory it may need',
  needs: 'entry',
  mayBlock: [],
  queries: { server: infoQuery, latency: optionalQuery(latencyMaximaQuery) },
  evaluate({ server, latency }) {
    const used = infoNumber(server, 'used_memory_rss') ?? infoNumber(server, 'used_memory');
    const total = infoNumber(server, 'total_system_memory');
    const stopped = Math.max(
      (infoNumber(server, 'latest_fork_usec') ?? 0) / 1000,
      resultOr(latency, new Map<string, number>()).get('fork') ?? 0,
    );
    const observed = [
      used === undefined ? 'memory not told' : `${formatBytes(used)} used`,
      ...(total === undefined || total === 0 ? [] : [`of ${formatBytes(total)}`]),
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
