import { protectedModeCheck } from '../../../../../src/db/preflight/redis/checks/protected-mode.ts';
import { both, checkCases, cut, denied, dialled } from '../check-cases.ts';
import { healthy } from '../recordings.ts';

checkCases(protectedModeCheck, {
  'let in from elsewhere': { status: 'pass' },
  refused: {
    facts: cut('startup', 'DENIED', 'DENIED Redis is running in protected mode'),
    status: 'fail',
    blocks: both,
    fix: {
      shell: ["redis-cli CONFIG SET requirepass 'A-LONG-PASSWORD'", "redis-cli -a 'A-LONG-PASSWORD' CONFIG REWRITE"],
      undoShell: ["redis-cli -a 'A-LONG-PASSWORD' CONFIG SET requirepass ''", 'redis-cli CONFIG REWRITE'],
    },
  },
  'refused for another reason': { facts: cut('startup', 'NOAUTH', 'NOAUTH Authentication required.'), status: 'skip' },
  'on the machine itself, open to none': {
    server: healthy({ config: { bind: '127.0.0.1 -::1' } }),
    facts: { address: dialled },
    options: { isOverInternet: true },
    status: 'fail',
    blocks: ['continuous', 'scan'],
    fix: {
      shell: ["redis-cli CONFIG SET bind '0.0.0.0 -::*'"],
      undoShell: ["redis-cli CONFIG SET bind '127.0.0.1 -::1'"],
    },
  },
  'on the machine itself, without a password': {
    facts: { address: dialled, connection: { kind: 'connected', auth: 'open' } },
    options: { isOverInternet: true },
    status: 'fail',
    blocks: ['continuous', 'scan'],
    fix: {
      shell: ["redis-cli CONFIG SET requirepass 'A-LONG-PASSWORD'", "redis-cli -a 'A-LONG-PASSWORD' CONFIG REWRITE"],
      undoShell: ["redis-cli -a 'A-LONG-PASSWORD' CONFIG SET requirepass ''", 'redis-cli CONFIG REWRITE'],
    },
  },
  'on the machine itself, with one': { facts: { address: dialled }, options: { isOverInternet: true }, status: 'pass' },
  'on the machine itself, and CONFIG denied': {
    server: healthy({ more: { replies: { 'CONFIG GET': `-${denied} 'config|get'` } } }),
    facts: { address: dialled },
    options: { isOverInternet: true },
    status: 'unknown',
    fix: { sql: ['ACL SETUSER default +config|get'], undo: ['ACL SETUSER default -config|get'] },
  },
});
