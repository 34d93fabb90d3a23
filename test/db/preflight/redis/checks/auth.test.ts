import { authCheck } from '../../../../../src/db/preflight/redis/checks/auth.ts';
import { both, checkCases, cut } from '../check-cases.ts';

checkCases(authCheck, {
  'a password': { status: 'pass' },
  'no password, nearby': { facts: { connection: { kind: 'connected', auth: 'open' } }, status: 'pass' },
  'no password, on the internet': {
    facts: { connection: { kind: 'connected', auth: 'open' } },
    options: { isOverInternet: true },
    status: 'warn',
  },
  'one too many': {
    facts: { connection: { kind: 'connected', auth: 'needless', authReply: 'ERR' } },
    status: 'fail',
    blocks: both,
  },
  'none where one is asked': {
    facts: cut('startup', 'NOAUTH', 'NOAUTH Authentication required.'),
    status: 'fail',
    blocks: both,
  },
  'a wrong one': {
    facts: cut('startup', 'WRONGPASS', 'WRONGPASS invalid'),
    status: 'fail',
    blocks: ['continuous', 'scan'],
  },
  'a user before there were users': {
    facts: cut('startup', 'ERR', "ERR wrong number of arguments for 'auth' command"),
    status: 'fail',
    blocks: ['continuous', 'scan'],
  },
  'AUTH renamed': {
    facts: cut('startup', 'ERR', "ERR unknown command 'AUTH'"),
    status: 'fail',
    blocks: ['continuous', 'scan'],
  },
  'not so far': { facts: cut('tls', 'TLS', 'no'), status: 'skip' },
  'a user without a password': {
    facts: { isUsernameUnused: true, connection: { kind: 'connected', auth: 'open' } },
    status: 'warn',
  },
  'a user without a password, where one is asked': {
    facts: { isUsernameUnused: true, ...cut('startup', 'NOAUTH', 'NOAUTH Authentication required.') },
    status: 'fail',
    blocks: ['continuous', 'scan'],
  },
});
