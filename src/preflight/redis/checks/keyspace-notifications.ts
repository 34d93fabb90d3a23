import { numberIn } from '../../../redis/info.ts';
import { pass, info as tell } from '../../finding.ts';
import { notifications } from '../asks/config.ts';
import { info } from '../asks/info.ts';
import { check } from '../check.ts';

export const keyspaceNotifications = check({
  id: 'keyspace-notifications',
  title: 'nobody subscribes',
  needs: 'entry',
  mayBlock: [],
  asks: { server: info, setting: notifications },
  judge({ server, setting }) {
    const events = setting.get('notify-keyspace-events') ?? '';
    const channels = (numberIn(server, 'pubsub_channels') ?? 0) + (numberIn(server, 'pubsub_patterns') ?? 0);
    if (events === '' && channels === 0) return pass('no subscriptions');
    return tell(`notify-keyspace-events "${events}", ${channels} channels and patterns subscribed`, {
      detail:
        'Subscriptions belong to connections and settings to servers: neither is migrated. Set notify-keyspace-events on the target and let subscribers connect there.',
    });
  },
});
