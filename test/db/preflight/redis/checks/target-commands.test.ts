import { targetCommandsCheck } from '../../../../../src/db/preflight/redis/checks/target-commands.ts';
import { checkCases } from '../check-cases.ts';
import { healthy } from '../recordings.ts';

const valkey = (version: string, calls: Readonly<Record<string, number>> = {}) =>
  healthy({
    info: { redis_version: '7.2.4', valkey_version: version, server_name: 'valkey' },
    more: {
      replies: {
        'INFO commandstats': Object.entries(calls)
          .map(([name, count]) => `cmdstat_${name}:calls=${count}`)
          .join('\r\n'),
      },
    },
  });
const toRedis = (version: string) => ({ targetVersion: `redis-${version}` });

checkCases(targetCommandsCheck, {
  'from Redis': { options: toRedis('8.0'), status: 'pass' },
  'to Valkey': {
    server: valkey('9.1.0', { hexpire: 3, msetex: 2 }),
    options: { targetVersion: 'valkey-9' },
    status: 'pass',
  },
  'Valkey 8.0, which has no more options': { server: valkey('8.0.1'), options: toRedis('8.0'), status: 'pass' },
  'SET IFEQ, which Redis 8.0 does not know': {
    server: valkey('8.1.1', { set: 3 }),
    options: toRedis('8.0'),
    status: 'unknown',
    objects: ['SET IFEQ'],
  },
  'SET IFEQ, which Redis 8.4 knows': { server: valkey('8.1.1', { set: 3 }), options: toRedis('8.4'), status: 'pass' },
  'a major version whose first release does not know SET IFEQ': {
    server: valkey('8.1.1'),
    options: toRedis('8'),
    status: 'unknown',
    objects: ['SET IFEQ'],
  },
  'GEOSEARCHSTORE BYPOLYGON, which no Redis knows': {
    server: valkey('9.0.0', { geosearchstore: 1 }),
    options: toRedis('8.4'),
    status: 'unknown',
    objects: ['GEOSEARCHSTORE BYPOLYGON'],
  },
  'hash fields expire': {
    server: valkey('9.0.0', { hexpire: 2 }),
    options: toRedis('8.4'),
    status: 'unknown',
    objects: ['HEXPIRE'],
  },
  'a command that the target does not know': {
    server: valkey('9.1.0', { msetex: 2 }),
    options: toRedis('8.0'),
    status: 'fail',
    blocks: ['continuous'],
    objects: ['MSETEX'],
  },
  'RESTORE, whose payload Valkey 9 may have dumped': {
    server: valkey('9.1.0', { restore: 1 }),
    options: toRedis('8.4'),
    status: 'unknown',
    objects: ['RESTORE of a key that Valkey 9 dumped'],
  },
  'RESTORE on Valkey 8, whose payloads Redis reads': {
    server: valkey('8.1.1', { restore: 1 }),
    options: toRedis('8.4'),
    status: 'pass',
  },
  'calls are not known': {
    server: healthy({
      info: { redis_version: '7.2.4', valkey_version: '9.0.0', server_name: 'valkey' },
      more: { replies: { 'INFO commandstats': '-NOPERM this user has no permissions to run' } },
    }),
    options: toRedis('8.4'),
    status: 'unknown',
    objects: [
      'GEOSEARCHSTORE BYPOLYGON',
      'RESTORE of a key that Valkey 9 dumped',
      'HEXPIRE',
      'HPEXPIRE',
      'HEXPIREAT',
      'HPEXPIREAT',
      'HSETEX',
      'HGETEX',
    ],
  },
  'the target is not known': { server: valkey('9.1.0'), options: { targetVersion: undefined }, status: 'skip' },
});
