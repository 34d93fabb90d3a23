import { renamedWriteCommandsCheck } from '../../../../../src/db/preflight/redis/checks/renamed-writes.ts';
import { checkCases } from '../check-cases.ts';

checkCases(renamedWriteCommandsCheck, {
  none: { status: 'pass' },
  some: {
    facts: { renamed: { kind: 'known', value: { called: ['incr', 'function'], uncalled: ['flushall'] } } },
    status: 'fail',
    blocks: ['continuous'],
    objects: ['INCR', 'FUNCTION'],
    fix: {
      shell: [
        'cp -np /etc/redis/redis.conf /etc/redis/redis.conf.before-migration',
        "sed -i '/^ *rename-command  *INCR /Id' /etc/redis/redis.conf",
        "sed -i '/^ *rename-command  *FUNCTION /Id' /etc/redis/redis.conf",
      ],
      undoShell: ['cp -p /etc/redis/redis.conf.before-migration /etc/redis/redis.conf'],
      restart: true,
    },
  },
  'not called so far': {
    facts: { renamed: { kind: 'known', value: { called: [], uncalled: ['xgroup'] } } },
    status: 'unknown',
    objects: ['XGROUP'],
    fix: {
      shell: [
        'cp -np /etc/redis/redis.conf /etc/redis/redis.conf.before-migration',
        "sed -i '/^ *rename-command  *XGROUP /Id' /etc/redis/redis.conf",
      ],
      undoShell: ['cp -p /etc/redis/redis.conf.before-migration /etc/redis/redis.conf'],
      restart: true,
    },
  },
  'not told': { facts: { renamed: { kind: 'missing', reason: 'unknown command' } }, status: 'unknown' },
});
