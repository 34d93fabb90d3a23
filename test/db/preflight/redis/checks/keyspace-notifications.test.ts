import { keyspaceNotificationsCheck } from '../../../../../src/db/preflight/redis/checks/keyspace-notifications.ts';
import { checkCases } from '../check-cases.ts';
import { healthy } from '../recordings.ts';

checkCases(keyspaceNotificationsCheck, {
  none: { status: 'pass' },
  events: { server: healthy({ config: { 'notify-keyspace-events': 'KEA' } }), status: 'info' },
  subscribers: { server: healthy({ info: { pubsub_channels: '2' } }), status: 'info' },
});
