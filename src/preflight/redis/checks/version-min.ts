import { isVersionAtLeast, parseServerVersion, redisProductNames } from '../../../redis/version.ts';
import { pass, unknown, warn } from '../../finding.ts';
import { redisCheck } from '../check.ts';
import { infoQuery } from '../queries/info.ts';

export const redisVersionMinCheck = redisCheck({
  id: 'version-min',
  title: 'the version can resume replication after an interruption',
  headline: 'The version cannot always resume replication after an interruption',
  needs: 'connection',
  severity: { continuous: 'warning' },
  queries: { info: infoQuery },
  evaluate({ info }) {
    const source = parseServerVersion(info);
    if (source === undefined) return unknown('INFO has no version');
    const observed = `${redisProductNames[source.product]} ${source.version}`;
    if (source.product !== 'redis' || isVersionAtLeast(source, 4, 0)) return pass(observed);
    const fix = { text: 'Upgrade the source first, or migrate when the load is low and the network is stable.' };
    if (!isVersionAtLeast(source, 2, 8)) {
      return warn(observed, {
        required: '2.8, better 4.0',
        detail: 'PSYNC exists since 2.8: before, every interruption of the connection restarts the copy.',
        fix,
      });
    }
    return warn(observed, {
      required: '4.0',
      detail: 'PSYNC2 exists since 4.0: before, a restart or a change of the primary restarts the copy.',
      fix,
    });
  },
});
