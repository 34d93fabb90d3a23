import { busyScriptCheck } from '../../../../../src/db/preflight/redis/checks/busy-script.ts';
import { both, checkCases } from '../check-cases.ts';

checkCases(busyScriptCheck, {
  answers: { status: 'pass' },
  'a script': {
    facts: { busy: 'BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.' },
    status: 'fail',
    blocks: both,
    fix: { shell: ['redis-cli SCRIPT KILL'] },
  },
  'a function': {
    facts: { busy: 'BUSY Redis is busy running a script. You can only call FUNCTION KILL or SHUTDOWN NOSAVE.' },
    status: 'fail',
    blocks: ['continuous', 'scan'],
    fix: { shell: ['redis-cli FUNCTION KILL'] },
  },
  'a module': { facts: { busy: 'BUSY a module is at work' }, status: 'fail', blocks: ['continuous', 'scan'] },
});
