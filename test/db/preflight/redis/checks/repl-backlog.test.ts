import { replBacklogCheck } from '../../../../../src/db/preflight/redis/checks/repl-backlog.ts';
import { checkCases, writing } from '../check-cases.ts';
import { healthy } from '../recordings.ts';

checkCases(replBacklogCheck, {
  quiet: { status: 'pass' },
  'too small': {
    facts: writing(1e6),
    status: 'warn',
    fix: {
      sql: ['CONFIG SET repl-backlog-size 268435456', 'CONFIG REWRITE'],
      undo: ['CONFIG SET repl-backlog-size 1048576', 'CONFIG REWRITE'],
    },
  },
  'INFO tells': {
    server: { ...healthy(), config: 'hidden' },
    facts: writing(1e6),
    status: 'warn',
    fix: {
      sql: ['CONFIG SET repl-backlog-size 268435456', 'CONFIG REWRITE'],
      undo: ['CONFIG SET repl-backlog-size 1048576', 'CONFIG REWRITE'],
    },
  },
  'not told': { server: { info: { redis_version: '7.2.0' }, config: 'hidden' }, status: 'unknown' },
});
