import { sentinelCheck } from '../../../../../src/db/preflight/redis/checks/sentinel.ts';
import { checkCases } from '../check-cases.ts';
import { healthy } from '../recordings.ts';

const listening = (sentinels: number, info: Readonly<Record<string, string>> = {}) => ({
  ...healthy({ info: { pubsub_channels: '1', ...info } }),
  replies: { 'PUBSUB NUMSUB __sentinel__:hello': ['__sentinel__:hello', sentinels] },
});

checkCases(sentinelCheck, {
  'no channels': { status: 'pass' },
  'channels of applications': { server: listening(0), status: 'pass' },
  'three Sentinels': { server: listening(3), status: 'unknown' },
  'Sentinels of a replica': { server: listening(1, { role: 'slave' }), status: 'warn' },
  'channels that may not be read': {
    server: {
      ...healthy({ info: { pubsub_channels: '1' } }),
      replies: { 'PUBSUB NUMSUB': "-NOPERM this user has no permissions to run the 'pubsub|numsub' command" },
    },
    status: 'unknown',
    fix: { sql: ['ACL SETUSER default +pubsub|numsub'], undo: ['ACL SETUSER default -pubsub|numsub'] },
  },
  'the source is a Sentinel': { server: healthy({ info: { redis_mode: 'sentinel' } }), status: 'skip' },
});
