import { isVersionAtLeast, parseServerVersion, redisProductNames } from '../../../redis/version.ts';
import { pass, unknown, warn } from '../../finding.ts';
import { redisCheck } from '../check.ts';
import { infoQuery } from '../queries/info.ts';

export const redisVersionMinCheck = redisCheck({
  id: 'version-min',
  title: 'a broken connection does not copy everything again',
  needs: 'entry',
  mayBlock: [],
  queries: { server: infoQuery },
  evaluate({ server }) {
    const source = parseServerVersion(server);
    if (source === undefined) return unknown('INFO names no version');
    const observed = `${redisProductNames[source.product]} ${source.version}`;
    if (source.product !== 'redis' || isVersionAtLeast(source, 4, 0)) return pass(observed);
    const fix = { text: 'Upgrade the source first, or choose a quiet time and a good line.' };
    if (!isVersionAtLeast(source, 2, 8)) {
      return warn(observed, {
        required: '2.8, better 4.0',
        detail: 'Before 2.8 there is no PSYNC: every break of the connection copies everything again.',
        fix,
      });
    }
    return warn(observed, {
      required: '4.0',
      detail: 'Before 4.0 there is no PSYNC2: a restart or a change of the primary copies everything again.',
      fix,
    });
  },
});
