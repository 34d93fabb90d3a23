import { redisVersionMinCheck } from '../../../../../src/db/preflight/redis/checks/version-min.ts';
import { checkCases } from '../check-cases.ts';
import { healthy } from '../recordings.ts';

checkCases(redisVersionMinCheck, {
  'new enough': { status: 'pass' },
  '3.2': { server: healthy({ info: { redis_version: '3.2.13' } }), status: 'warn' },
  '2.6': { server: healthy({ info: { redis_version: '2.6.17' } }), status: 'warn' },
  Valkey: { server: healthy({ info: { valkey_version: '8.0.1' } }), status: 'pass' },
});
