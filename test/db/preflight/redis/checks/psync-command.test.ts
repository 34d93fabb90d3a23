import { psyncCommandCheck } from '../../../../../src/db/preflight/redis/checks/psync-command.ts';
import { both, checkCases, cut, denied } from '../check-cases.ts';
import { healthy } from '../recordings.ts';

checkCases(psyncCommandCheck, {
  'a Sentinel': { server: healthy({ info: { redis_mode: 'sentinel' }, more: { lacks: ['psync'] } }), status: 'skip' },
  there: { status: 'pass' },
  'SYNC alone': {
    server: healthy({ more: { lacks: ['psync'] }, config: { 'repl-diskless-sync': 'no' } }),
    status: 'warn',
    fix: {
      shell: [
        'cp -np /etc/redis/redis.conf /etc/redis/redis.conf.before-migration',
        "sed -i '/^ *rename-command  *PSYNC /Id' /etc/redis/redis.conf",
      ],
      undoShell: ['cp -p /etc/redis/redis.conf.before-migration /etc/redis/redis.conf'],
      restart: true,
    },
  },
  'SYNC alone, without the disk': {
    fixed: 'warn',
    server: healthy({ more: { lacks: ['psync'] }, config: { 'repl-diskless-sync': 'yes' } }),
    status: 'fail',
    blocks: ['continuous'],
    fix: {
      sql: ['CONFIG SET repl-diskless-sync no', 'CONFIG REWRITE'],
      undo: ['CONFIG SET repl-diskless-sync yes', 'CONFIG REWRITE'],
    },
  },
  neither: {
    server: healthy({ more: { lacks: ['psync', 'sync'] } }),
    status: 'fail',
    blocks: ['continuous'],
    fix: {
      shell: [
        'cp -np /etc/redis/redis.conf /etc/redis/redis.conf.before-migration',
        "sed -i '/^ *rename-command  *PSYNC /Id' /etc/redis/redis.conf",
        "sed -i '/^ *rename-command  *SYNC /Id' /etc/redis/redis.conf",
      ],
      undoShell: ['cp -p /etc/redis/redis.conf.before-migration /etc/redis/redis.conf'],
      restart: true,
    },
  },
  'no PING': {
    server: healthy({ more: { lacks: ['ping'] } }),
    status: 'fail',
    blocks: ['continuous'],
    fix: {
      shell: [
        'cp -np /etc/redis/redis.conf /etc/redis/redis.conf.before-migration',
        "sed -i '/^ *rename-command  *PING /Id' /etc/redis/redis.conf",
      ],
      undoShell: ['cp -p /etc/redis/redis.conf.before-migration /etc/redis/redis.conf'],
      restart: true,
    },
  },
  'no REPLCONF, before 7.0': {
    server: healthy({ info: { redis_version: '6.0.16' }, more: { lacks: ['replconf'] } }),
    status: 'fail',
    blocks: ['continuous'],
    fix: {
      shell: [
        'cp -np /etc/redis/redis.conf /etc/redis/redis.conf.before-migration',
        "sed -i '/^ *rename-command  *REPLCONF /Id' /etc/redis/redis.conf",
      ],
      undoShell: ['cp -p /etc/redis/redis.conf.before-migration /etc/redis/redis.conf'],
      restart: true,
    },
  },
  'no REPLCONF': {
    server: healthy({ info: { redis_version: '7.0.15' }, more: { lacks: ['replconf'] } }),
    status: 'pass',
  },
  'neither, and no SCAN': {
    server: healthy({ more: { lacks: ['psync', 'sync', 'scan'] } }),
    status: 'fail',
    blocks: both,
    fix: {
      shell: [
        'cp -np /etc/redis/redis.conf /etc/redis/redis.conf.before-migration',
        "sed -i '/^ *rename-command  *PSYNC /Id' /etc/redis/redis.conf",
        "sed -i '/^ *rename-command  *SYNC /Id' /etc/redis/redis.conf",
      ],
      undoShell: ['cp -p /etc/redis/redis.conf.before-migration /etc/redis/redis.conf'],
      restart: true,
    },
  },
  'COMMAND denied': {
    server: healthy({ more: { replies: { 'COMMAND INFO': `-${denied} 'command|info'` } } }),
    status: 'unknown',
    fix: { sql: ['ACL SETUSER default +command|info'], undo: ['ACL SETUSER default -command|info'] },
  },
  'tried and accepted': {
    server: healthy({ more: { lacks: ['psync', 'sync'] } }),
    facts: { probe: { kind: 'accepted', reply: '+FULLRESYNC', copy: { kind: 'started' } } },
    status: 'pass',
  },
  'tried and refused': {
    facts: { probe: { kind: 'refused', code: 'ERR', message: 'ERR unknown command' } },
    status: 'fail',
    blocks: ['continuous'],
  },
  'not entered': { facts: cut('startup', 'NOAUTH', 'NOAUTH'), status: 'skip' },
});
