import { infoNumber } from '../../../redis/info.ts';
import { pass, info as tell } from '../../finding.ts';
import { redisCheck } from '../check.ts';
import { keyspaceEventsConfigQuery } from '../queries/config.ts';
import { infoQuery } from '../queries/info.ts';

export const keyspaceNotificationsCheck = redisCheck({
  id: 'keyspace-notifications',
  title: 'nobody subscribes',
  needs: 'entry',
  mayBlock: [],
  queries: { server: infoQuery, setting: keyspaceEventsConfigQuery },
  evaluate({ server, setting }) {
    const events = setting.get('notify-keyspace-events') ?? '';
    const channels = (infoNumber(server, 'pubsub_channels') ?? 0) + (infoNumber(server, 'pubsub_patterns') ?? 0);
    if (events === '' && channels === 0) return pass('no subscriptions');
    return tell(`notify-keyspace-events "${events}", ${channels} channels and patterns subscribed`, {
      detail:
        'Subscriptions belong to connections and settings to servers: neither is migrated. Set notify-keyspace-events on the target and let subscribers connect there.',
    });
  },
});
