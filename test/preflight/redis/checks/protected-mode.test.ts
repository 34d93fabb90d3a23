import { protectedModeCheck } from '../../../../src/preflight/redis/checks/protected-mode.ts';
import { both, checkCases, cut, denied, dialled } from '../check-cases.ts';
import { healthy } from '../recordings.ts';

checkCases(protectedModeCheck, {
  'let in from elsewhere': { status: 'pass' },
  refused: {
    facts: cut('startup', 'DENIED', 'DENIED Redis is running in protected mode'),
    status: 'fail',
    blocks: both,
  },
  'refused for another reason': { facts: cut('startup', 'NOAUTH', 'NOAUTH Authentication required.'), status: 'skip' },
  'on the machine itself, open to none': {
    server: healthy({ config: { bind: '127.0.0.1 -::1' } }),
    facts: { address: dialled },
    options: { isOverInternet: true },
    status: 'fail',
  },
  'on the machine itself, without a password': {
    facts: { address: dialled, connection: { kind: 'connected', auth: 'open' } },
    options: { isOverInternet: true },
    status: 'fail',
  },
  'on the machine itself, with one': { facts: { address: dialled }, options: { isOverInternet: true }, status: 'pass' },
  'on the machine itself, and CONFIG denied': {
    server: healthy({ more: { replies: { 'CONFIG GET': `-${denied} 'config|get'` } } }),
    facts: { address: dialled },
    options: { isOverInternet: true },
    status: 'unknown',
  },
});
