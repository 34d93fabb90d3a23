import { flavorNames, isAtLeast, serverVersion } from '../../../redis/version.ts';
import { pass, unknown, warn } from '../../finding.ts';
import { info } from '../asks/info.ts';
import { check } from '../check.ts';

export const versionMin = check({
  id: 'version-min',
  title: 'a broken connection does not copy everything again',
  needs: 'entry',
  mayBlock: [],
  asks: { server: info },
  judge({ server }) {
    const source = serverVersion(server);
    if (source === undefined) return unknown('INFO names no version');
    const observed = `${flavorNames[source.flavor]} ${source.version}`;
    if (source.flavor !== 'redis' || isAtLeast(source, 4, 0)) return pass(observed);
    const fix = { text: 'Upgrade the source first, or choose a quiet time and a good line.' };
    if (!isAtLeast(source, 2, 8)) {
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
