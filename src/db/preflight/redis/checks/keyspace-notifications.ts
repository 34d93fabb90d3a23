import { infoNumber } from '../../../../redis/info.ts';
import { infoOutcome, passOutcome } from '../../finding.ts';
import { declareRedisCheck } from '../check.ts';
import { infoQuery, keyspaceEventsQuery } from '../queries.ts';

export const keyspaceNotificationsCheck = declareRedisCheck({
  id: 'keyspace-notifications',
  title: 'there are no subscriptions and no keyspace notifications',
  headline: 'There are subscriptions or keyspace notifications',
  severity: { continuous: 'info', scan: 'info' },
  queries: { info: infoQuery, settings: keyspaceEventsQuery },
  evaluate({ info, settings }) {
    const events = settings.get('notify-keyspace-events') ?? '';
    const channels = (infoNumber(info, 'pubsub_channels') ?? 0) + (infoNumber(info, 'pubsub_patterns') ?? 0);
    if (events === '' && channels === 0) return passOutcome('no subscriptions');
    return infoOutcome(`notify-keyspace-events "${events}", ${channels} channels and patterns subscribed`, {
      detail:
        'Neither subscriptions nor settings are migrated. Set notify-keyspace-events on the target and let subscribers connect there.',
    });
  },
});
