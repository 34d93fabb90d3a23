import { forkMemoryCheck } from '../../../../../src/db/preflight/redis/checks/fork-memory.ts';
import { checkCases } from '../check-cases.ts';
import { healthy } from '../recordings.ts';

checkCases(forkMemoryCheck, {
  roomy: { status: 'pass' },
  tight: {
    server: healthy({ info: { used_memory_rss: '12000000000' } }),
    status: 'warn',
    fix: { shell: ['sysctl vm.overcommit_memory', 'sysctl -w vm.overcommit_memory=1'] },
  },
  slow: { server: healthy({ info: { latest_fork_usec: '1500000' } }), status: 'warn' },
  'slow once': { server: healthy({ more: { replies: { 'LATENCY LATEST': [['fork', 1, 2, 2500]] } } }), status: 'warn' },
});
