import { replTimeoutCheck } from '../../../../../src/db/preflight/redis/checks/repl-timeout.ts';
import { checkCases } from '../check-cases.ts';
import { healthy } from '../recordings.ts';

checkCases(replTimeoutCheck, {
  enough: { status: 'pass' },
  'too short': {
    server: healthy({ info: { used_memory_dataset: '10000000000', used_memory: '10000000000' } }),
    status: 'warn',
    fix: {
      sql: ['CONFIG SET repl-timeout 1020', 'CONFIG REWRITE'],
      undo: ['CONFIG SET repl-timeout 60', 'CONFIG REWRITE'],
    },
  },
  'shorter than a sign of life': {
    server: healthy({ config: { 'repl-timeout': '10' } }),
    status: 'warn',
    fix: {
      sql: ['CONFIG SET repl-timeout 300', 'CONFIG REWRITE'],
      undo: ['CONFIG SET repl-timeout 10', 'CONFIG REWRITE'],
    },
  },
  'a huge number that wrapped around': {
    server: healthy({ info: { used_memory_dataset: '18446744073709356592' } }),
    status: 'pass',
  },
});
