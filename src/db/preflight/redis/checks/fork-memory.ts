import { formatBytes } from '../../../../base/text.ts';
import { infoNumber } from '../../../../redis/info.ts';
import { passOutcome, warnOutcome } from '../../finding.ts';
import { markOptional, valueOr } from '../../query.ts';
import { declareRedisCheck } from '../check.ts';
import { infoQuery, latencyQuery } from '../queries.ts';

export const forkMemoryCheck = declareRedisCheck({
  id: 'fork-memory',
  title: 'the machine has enough memory for a fork',
  headline: 'The machine may not have enough memory for a fork',
  severity: { continuous: 'warning' },
  queries: { info: infoQuery, latency: markOptional(latencyQuery) },
  evaluate({ info, latency }) {
    const used = infoNumber(info, 'used_memory_rss') ?? infoNumber(info, 'used_memory');
    const total = infoNumber(info, 'total_system_memory');
    const stopped = Math.max(
      (infoNumber(info, 'latest_fork_usec') ?? 0) / 1000,
      valueOr(latency, undefined)?.get('fork') ?? 0,
    );
    const observed = [
      used === undefined ? 'memory not reported' : `${formatBytes(used)} used`,
      ...(total === undefined || total === 0 ? [] : [`of ${formatBytes(total)}`]),
      ...(stopped > 0 ? [`the last fork stopped the server for ${Math.round(stopped)} ms`] : []),
    ].join(', ');
    const isShort = used !== undefined && total !== undefined && total > 0 && used * 2 > total;
    if (!isShort && stopped < 1000) return passOutcome(observed);
    return warnOutcome(observed, {
      ...(isShort ? {} : { headline: 'A fork stops the server for more than one second' }),
      required: isShort ? 'as much free memory as is used' : 'a fork of less than 1 s',
      detail: isShort
        ? 'While the copy is made, every page that is written exists twice. Without overcommit the fork fails at once: `fork: Cannot allocate memory`. With overcommit the kernel may kill the server.'
        : 'All clients wait for the fork at the start of the copy.',
      fix: isShort
        ? {
            shell: ['sysctl vm.overcommit_memory', 'sysctl -w vm.overcommit_memory=1'],
            notSimulated: 'it changes the machine',
            text: 'Note the value of the first command. Allow overcommit, free memory, and migrate when the load is low.',
          }
        : { text: 'Migrate when the load is low, and disable transparent huge pages, which make forks slow.' },
    });
  },
});
