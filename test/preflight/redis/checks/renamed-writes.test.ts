import { renamedWriteCommandsCheck } from '../../../../src/preflight/redis/checks/renamed-writes.ts';
import { checkCases } from '../check-cases.ts';

checkCases(renamedWriteCommandsCheck, {
  none: { status: 'pass' },
  some: {
    facts: { renamed: { kind: 'known', value: { called: ['incr', 'function'], uncalled: ['flushall'] } } },
    status: 'fail',
    blocks: ['continuous'],
  },
  'not called so far': {
    facts: { renamed: { kind: 'known', value: { called: [], uncalled: ['xgroup'] } } },
    status: 'unknown',
  },
  'not told': { facts: { renamed: { kind: 'missing', reason: 'unknown command' } }, status: 'unknown' },
});
