import { fail, pass, warn } from '../../finding.ts';
import { isLoopbackAddress } from '../../network/public-address.ts';
import { alterSystemFix } from '../alter-system.ts';
import { serverCheck } from '../check.ts';
import { activityQuery } from '../queries/activity.ts';
import { settingOf, settingsQuery } from '../queries/settings.ts';
import { restartImpact } from '../restart-impact.ts';
import type { PostgresqlSourceFacts } from '../source-facts.ts';

export const listenAddressesCheck = serverCheck({
  id: 'listen-addresses',
  title: 'the server listens on all interfaces',
  headline: 'The server does not listen on all interfaces',
  severity: { continuous: 'blocker', dump: 'blocker' },
  spec: '4.6',
  needs: 'connection',
  queries: { settings: settingsQuery, activity: activityQuery },
  evaluate({ settings, activity }, facts, options) {
    const value = settingOf(settings, 'listen_addresses');
    const heard = value.split(',').map((part) => part.trim());
    if (heard.includes('*') || heard.includes('0.0.0.0')) return pass(value, { required: '*' });
    const local = heard.every((address) => address === '' || address === 'localhost' || isLoopbackAddress(address));
    const observed = value === '' ? 'none' : value;
    const used = dialled(facts);
    const fix = alterSystemFix(settings, { listen_addresses: '*' });
    const harm = restartImpact(activity);
    if (!options.isOverInternet) {
      return warn(observed, {
        required: '*',
        detail: `Reached at ${used} as it is; a service out on the internet needs listen_addresses = '*'. ${harm}`,
        fix,
      });
    }
    if (used !== undefined && heard.includes(used)) return pass(value, { required: `* or ${used}` });
    if (!local) {
      return warn(observed, {
        required: '*',
        detail: `Reached at ${used}, so something passes connections on; the specification asks for listen_addresses = '*'. ${harm}`,
        fix,
      });
    }
    return fail(['continuous', 'dump'], observed, {
      required: '*',
      detail: `The server hears its own machine only: the service gets "connection refused". ${harm}`,
      fix,
    });
  },
});

function dialled({ address }: PostgresqlSourceFacts): string | undefined {
  return address.connects.find(({ error }) => error === undefined)?.address;
}
