import { renamedCommandsCheck } from '../../../../../src/db/preflight/redis/checks/renamed-commands.ts';
import { checkCases } from '../check-cases.ts';
import { healthy } from '../recordings.ts';

checkCases(renamedCommandsCheck, {
  none: { status: 'pass' },
  'a Sentinel': { server: healthy({ info: { redis_mode: 'sentinel' }, more: { lacks: ['scan'] } }), status: 'skip' },
  'COMMAND and SCAN behind a proxy': {
    server: healthy({ more: { lacks: ['command'] } }),
    facts: { sample: { kind: 'missing', reason: 'SCAN: ERR unknown command' } },
    status: 'fail',
    blocks: ['scan'],
  },
  'COMMAND alone': { server: healthy({ more: { lacks: ['command'] } }), status: 'unknown' },
  some: {
    server: healthy({ more: { lacks: ['cluster', 'sync'] } }),
    status: 'warn',
    objects: ['SYNC', 'CLUSTER'],
    fix: {
      shell: [
        'cp -np /etc/redis/redis.conf /etc/redis/redis.conf.before-migration',
        "sed -i '/^ *rename-command  *SYNC /Id' /etc/redis/redis.conf",
        "sed -i '/^ *rename-command  *CLUSTER /Id' /etc/redis/redis.conf",
      ],
      undoShell: ['cp -p /etc/redis/redis.conf.before-migration /etc/redis/redis.conf'],
      restart: true,
    },
  },
  'one that a scan needs': {
    server: healthy({ more: { lacks: ['sync', 'pttl'] } }),
    status: 'fail',
    blocks: ['scan'],
    objects: ['SYNC', 'PTTL'],
    fix: {
      shell: [
        'cp -np /etc/redis/redis.conf /etc/redis/redis.conf.before-migration',
        "sed -i '/^ *rename-command  *SYNC /Id' /etc/redis/redis.conf",
        "sed -i '/^ *rename-command  *PTTL /Id' /etc/redis/redis.conf",
      ],
      undoShell: ['cp -p /etc/redis/redis.conf.before-migration /etc/redis/redis.conf'],
      restart: true,
    },
  },
  'SELECT, and all keys are in database 0': { server: healthy({ more: { lacks: ['select'] } }), status: 'pass' },
  'SELECT, and keys are elsewhere': {
    server: healthy({ info: { db3: 'keys=1,expires=0,avg_ttl=0' }, more: { lacks: ['select'] } }),
    status: 'fail',
    blocks: ['scan'],
    objects: ['SELECT'],
    fix: {
      shell: [
        'cp -np /etc/redis/redis.conf /etc/redis/redis.conf.before-migration',
        "sed -i '/^ *rename-command  *SELECT /Id' /etc/redis/redis.conf",
      ],
      undoShell: ['cp -p /etc/redis/redis.conf.before-migration /etc/redis/redis.conf'],
      restart: true,
    },
  },
});
