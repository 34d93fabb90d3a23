import { fail, info, skip, warn } from '../../finding.ts';
import { serverCheck } from '../check.ts';
import { copyRates, estimateCopyTime, maxMigrationSeconds } from '../copy-estimate.ts';
import { binarySizeText, countText, timeSpanText } from '../units.ts';

export const sizeEstimateCheck = serverCheck({
  id: 'size-estimate',
  title: 'the initial copy finishes within two weeks',
  headline: 'The initial copy can take longer than two weeks',
  severity: { continuous: 'blocker', dump: 'blocker' },
  spec: '8',
  needs: 'connection',
  queries: {},
  evaluate(_values, { copy }) {
    if (copy === undefined) return skip('no size could be asked');
    const { low, high } = estimateCopyTime(copy);
    const biggest =
      copy.largest === undefined
        ? ''
        : `, the biggest ${copy.largest.table} in ${copy.largest.database} with ${binarySizeText(copy.largest.bytes)}`;
    const unseen =
      copy.unseen.length === 0
        ? ''
        : ` ${countText(copy.unseen.length, 'database')} could not be measured: ${copy.unseen.slice(0, 10).join(', ')}.`;
    const rates = `${copyRates.slow / 1e6} to ${copyRates.fast / 1e6} MB/s`;
    const more = {
      required: 'at most two weeks',
      detail: `${binarySizeText(copy.bytes)} in ${countText(copy.tables, 'table')}${biggest}. One worker copies a table and two work at a time: between ${timeSpanText(low * 1000)} and ${timeSpanText(high * 1000)} at ${rates}. The target needs a quarter to a half more room than that, for indexes and WAL.${unseen}`,
    };
    const observed = `${binarySizeText(copy.bytes)}, ${timeSpanText(low * 1000)} to ${timeSpanText(high * 1000)}`;
    const fix = {
      by: 'who owns the data',
      text: 'Archive or drop what need not move, split the biggest table, or migrate the databases one after the other with ignore_dbs.',
    };
    if (low > maxMigrationSeconds) {
      const stops = `${more.detail} An online migration stops by itself after two weeks.`;
      return fail(['continuous', 'dump'], observed, { ...more, detail: stops, fix });
    }
    return high > maxMigrationSeconds ? warn(observed, { ...more, fix }) : info(observed, more);
  },
});
