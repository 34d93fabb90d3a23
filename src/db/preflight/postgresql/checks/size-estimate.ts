import { countOf, formatBytes, formatDuration } from '../../../../base/text.ts';
import { failOutcome, infoOutcome, skipOutcome, warnOutcome } from '../../finding.ts';
import { declareServerCheck } from '../check.ts';
import { estimateCopyTime, maxMigrationSeconds, tableSeconds, workerCopyRate } from '../source-facts.ts';

export const sizeEstimateCheck = declareServerCheck({
  id: 'size-estimate',
  title: 'the initial copy finishes within two weeks',
  headline: 'The initial copy can take longer than two weeks',
  severity: { continuous: 'blocker', dump: 'blocker' },
  spec: 'S9.8',
  queries: {},
  evaluate(_values, { copy }) {
    if (copy === undefined) return skipOutcome('no table sizes are known');
    const { low, high } = estimateCopyTime(copy);
    const largest =
      copy.largest === undefined
        ? ''
        : `; the largest is ${copy.largest.table} in ${copy.largest.database} with ${formatBytes(copy.largest.bytes)}`;
    const unseen =
      copy.unseen.length === 0
        ? ''
        : ` ${countOf(copy.unseen.length, 'database')} without known sizes: ${copy.unseen.slice(0, 10).join(', ')}.`;
    const rates = `${workerCopyRate.slow / 1e6} to ${workerCopyRate.fast / 1e6} MB/s and ${tableSeconds.fast * 1000} to ${tableSeconds.slow * 1000} ms for each table`;
    const more = {
      required: 'an initial copy that takes at most two weeks',
      detail: `${formatBytes(copy.bytes)} in ${countOf(copy.tables, 'table')}${largest}. One worker copies one table, and two workers run at a time: ${formatDuration(low * 1000)} to ${formatDuration(high * 1000)} at ${rates}. The target needs 25% to 50% more space for indexes and WAL.${unseen}`,
    };
    const observed = `${formatBytes(copy.bytes)}, ${formatDuration(low * 1000)} to ${formatDuration(high * 1000)}`;
    const fix = {
      by: 'the data owner',
      text: 'Archive or drop data that is not needed, split the largest table, or migrate the databases one after the other with --ignore-dbs.',
    };
    if (low > maxMigrationSeconds) {
      const stops = `${more.detail} An online migration stops after two weeks.`;
      return failOutcome(['continuous', 'dump'], observed, { ...more, detail: stops, fix });
    }
    return high > maxMigrationSeconds
      ? warnOutcome(observed, { ...more, fix })
      : infoOutcome(observed, { ...more, headline: 'The initial copy finishes within two weeks' });
  },
});
