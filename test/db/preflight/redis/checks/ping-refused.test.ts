import { pingRefusedCheck } from '../../../../../src/db/preflight/redis/checks/ping-refused.ts';
import { checkCases, told } from '../check-cases.ts';
import { healthy } from '../recordings.ts';

checkCases(pingRefusedCheck, {
  PONG: { status: 'pass' },
  'a save that failed': {
    facts: told('MISCONF', 'MISCONF Redis is configured to save RDB snapshots, but it is unable to persist to disk.'),
    status: 'fail',
    blocks: ['continuous'],
    fix: {
      review: ['CONFIG SET stop-writes-on-bgsave-error no', 'CONFIG REWRITE'],
      undoReview: ['CONFIG SET stop-writes-on-bgsave-error yes', 'CONFIG REWRITE'],
    },
  },
  'an append-only file that cannot be written': {
    facts: told('MISCONF', 'MISCONF Errors writing to the AOF file: No space left on device'),
    status: 'fail',
    blocks: ['continuous'],
  },
  'a word of a proxy': { facts: told('ERR', 'ERR no backend'), status: 'fail', blocks: ['continuous'] },
  'no right to PING': { facts: told('NOPERM', 'NOPERM'), status: 'pass' },
  'PING that is not there': {
    server: healthy({ more: { lacks: ['ping'] } }),
    facts: told('ERR', "ERR unknown command 'PING'"),
    status: 'pass',
  },
});
