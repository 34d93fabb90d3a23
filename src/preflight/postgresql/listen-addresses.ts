import { fail, pass, warn } from '../finding.ts';
import { isLoopback } from '../network/reach.ts';
import { alterSystem } from './alter-system.ts';
import { activity } from './asks/activity.ts';
import { settingOf, settings } from './asks/settings.ts';
import { serverCheck } from './check.ts';
import type { Ground } from './ground.ts';
import { restartHarm } from './restart-harm.ts';

export const listenAddresses = serverCheck({
  id: 'listen-addresses',
  title: 'the server listens on every address',
  spec: '4.6',
  needs: 'entry',
  asks: { settings, activity },
  judge({ settings, activity }, ground, wish) {
    const value = settingOf(settings, 'listen_addresses');
    const heard = value.split(',').map((part) => part.trim());
    if (heard.includes('*') || heard.includes('0.0.0.0')) return pass(value, { required: '*' });
    const local = heard.every((address) => address === '' || address === 'localhost' || isLoopback(address));
    const observed = value === '' ? 'none' : value;
    const used = dialled(ground);
    const fix = alterSystem(settings, { listen_addresses: '*' });
    const harm = restartHarm(activity);
    if (!wish.asPublic) {
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

function dialled({ address }: Ground): string | undefined {
  return address.connects.find(({ error }) => error === undefined)?.address;
}
