import { formatBytes, formatDuration } from '../../../../base/text.ts';
import { infoOutcome, passOutcome, skipOutcome, warnOutcome } from '../../finding.ts';
import { declareServerCheck } from '../check.ts';
import { walVolumeQuery } from '../queries/replication.ts';
import { estimateCopyTime, estimateWalRate } from '../source-facts.ts';

export const walRateCheck = declareServerCheck({
  id: 'wal-rate',
  title: 'the source disk can hold the WAL written during the copy',
  headline: 'The source disk can be too small for the WAL written during the copy',
  severity: { continuous: 'warning' },
  queries: { walHistory: walVolumeQuery },
  evaluate({ walHistory }, facts, options) {
    const { walRate, copy } = facts;
    if (walRate === undefined && walHistory === undefined) return skipOutcome('the WAL position could not be read');
    const rate = estimateWalRate(walRate, walHistory);
    const seconds = copy === undefined ? 0 : estimateCopyTime(copy).high;
    const bytes = rate * seconds;
    const observed = `${formatBytes(rate)} of WAL per second`;
    const sum = `${formatBytes(rate)} per second x ${formatDuration(seconds * 1000)} of copying = ${formatBytes(bytes)} kept until the copy is complete`;
    const free = options.sourceDiskFree;
    if (free === undefined) {
      const question = `${sum}; two weeks need ${formatBytes(rate * 14 * 86_400)}. Free disk space is not available through SQL: provide it with --source-disk-free.`;
      return bytes < negligible
        ? passOutcome(observed, { detail: `${sum}.` })
        : infoOutcome(observed, { headline: 'The free disk space of the source is not known', detail: question });
    }
    if (bytes <= free / 2)
      return passOutcome(observed, { required: `half of ${formatBytes(free)} free`, detail: `${sum}.` });
    return warnOutcome(observed, {
      required: `at most half of the free disk, ${formatBytes(free / 2)}`,
      detail: `${sum}; ${formatBytes(free)} are free. A full disk stops the server: "could not write to file pg_wal/…: No space left on device".`,
      fix: {
        by: 'the server administrator',
        text: 'Free disk space, migrate when less data is written, or limit the retained WAL with max_slot_wal_keep_size: a migration that exceeds the limit then fails, but the server does not.',
      },
    });
  },
});

const negligible = 1024 ** 3;
