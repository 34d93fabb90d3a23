import { failOutcome, passOutcome, warnOutcome } from '../../finding.ts';
import { isLoopbackAddress } from '../../network/addresses.ts';
import { declareServerCheck } from '../check.ts';
import { sessionsQuery } from '../queries/activity.ts';
import { getSetting, settingsQuery } from '../queries/settings.ts';
import { alterSystemFix, describeRestart } from '../settings.ts';
import type { PostgresqlFacts } from '../source-facts.ts';

export const listenAddressesCheck = declareServerCheck({
  id: 'listen-addresses',
  title: 'the server listens on all interfaces',
  headline: 'The server does not listen on all interfaces',
  severity: { continuous: 'blocker', dump: 'blocker' },
  spec: 'S9.13',
  queries: { settings: settingsQuery, activity: sessionsQuery },
  evaluate({ settings, activity }, facts, options) {
    const value = getSetting(settings, 'listen_addresses');
    const addresses = value.split(',').map((part) => part.trim());
    if (addresses.includes('*') || addresses.includes('0.0.0.0')) return passOutcome(value, { required: '*' });
    const local = addresses.every((address) => address === '' || address === 'localhost' || isLoopbackAddress(address));
    const observed = value === '' ? 'none' : value;
    const used = connectedAddress(facts);
    const fix = alterSystemFix(
      settings,
      { listen_addresses: '*' },
      'On a server that listens on all interfaces, only pg_hba.conf and the firewall decide who may connect.',
    );
    const impact = describeRestart(activity);
    if (!options.isOverInternet) {
      return warnOutcome(observed, {
        required: '*',
        detail: `The server is reachable at ${used}. The specification requires listen_addresses = '*', because the service connects from another machine. ${impact}`,
        fix,
      });
    }
    if (used !== undefined && addresses.includes(used)) return passOutcome(value, { required: `* or ${used}` });
    if (!local) {
      return warnOutcome(observed, {
        required: '*',
        detail: `The server is reachable at ${used}, so connections are forwarded; the specification requires listen_addresses = '*'. ${impact}`,
        fix,
      });
    }
    return failOutcome(['continuous', 'dump'], observed, {
      required: '*',
      detail: `The server accepts only connections from its own machine: the service receives "connection refused". ${impact}`,
      fix,
    });
  },
});

function connectedAddress({ address }: PostgresqlFacts): string | undefined {
  return address.connects.find(({ error }) => error === undefined)?.address;
}
