import { isAtLeast, parseServerVersion, productNames } from '../../../../redis/version.ts';
import { passOutcome, unknownOutcome, warnOutcome } from '../../finding.ts';
import { declareRedisCheck } from '../check.ts';
import { infoQuery } from '../queries.ts';

export const redisVersionMinCheck = declareRedisCheck({
  id: 'version-min',
  title: 'the version can resume replication after an interruption',
  headline: 'The version cannot always resume replication after an interruption',
  severity: { continuous: 'warning' },
  queries: { info: infoQuery },
  evaluate({ info }) {
    const source = parseServerVersion(info);
    if (source === undefined) return unknownOutcome('INFO has no version');
    const observed = `${productNames[source.product]} ${source.version}`;
    if (source.product !== 'redis' || isAtLeast(source, 4, 0)) return passOutcome(observed);
    const fix = { text: 'Upgrade the source first, or migrate when the load is low and the network is stable.' };
    if (!isAtLeast(source, 2, 8)) {
      return warnOutcome(observed, {
        required: '2.8, better 4.0',
        detail: 'PSYNC exists since 2.8: before, every interruption of the connection restarts the copy.',
        fix,
      });
    }
    return warnOutcome(observed, {
      required: '4.0',
      detail: 'PSYNC2 exists since 4.0: before, a restart or a change of the primary restarts the copy.',
      fix,
    });
  },
});
