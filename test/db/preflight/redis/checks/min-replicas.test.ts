import { minReplicasCheck } from '../../../../../src/db/preflight/redis/checks/min-replicas.ts';
import { checkCases } from '../check-cases.ts';
import { healthy } from '../recordings.ts';

checkCases(minReplicasCheck, {
  none: { status: 'pass' },
  one: {
    server: healthy({ config: { 'min-replicas-to-write': '1' }, info: { min_slaves_good_slaves: '1' } }),
    status: 'warn',
    fix: {
      sql: ['CONFIG SET min-replicas-to-write 0', 'CONFIG REWRITE'],
      undo: ['CONFIG SET min-replicas-to-write 1', 'CONFIG REWRITE'],
    },
  },
  'CONFIG hidden, INFO tells': {
    fixed: 'unknown',
    server: { ...healthy({ info: { min_slaves_good_slaves: '2' } }), config: 'hidden' },
    status: 'warn',
    fix: {
      sql: ['CONFIG SET min-replicas-to-write 0', 'CONFIG REWRITE'],
      undo: ['CONFIG SET min-replicas-to-write 0', 'CONFIG REWRITE'],
    },
  },
  'CONFIG hidden': { server: { ...healthy(), config: 'hidden' }, status: 'unknown' },
});
