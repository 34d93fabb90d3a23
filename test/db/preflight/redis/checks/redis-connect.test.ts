import { redisConnectCheck } from '../../../../../src/db/preflight/redis/checks/redis-connect.ts';
import { both, checkCases, cut } from '../check-cases.ts';
import { healthy } from '../recordings.ts';

checkCases(redisConnectCheck, {
  'a connection': { status: 'pass' },
  refused: {
    facts: cut('network', 'ECONNREFUSED', 'connection refused', 'ECONNREFUSED'),
    status: 'fail',
    blocks: both,
  },
  dropped: {
    facts: cut('network', 'ETIMEDOUT', 'no answer', 'ETIMEDOUT'),
    status: 'fail',
    blocks: ['continuous', 'scan'],
  },
  'hung up': {
    facts: cut('startup', 'EPIPE', 'the connection was closed by the other side'),
    status: 'fail',
    blocks: both,
  },
  'another service': {
    facts: cut('startup', 'PROTOCOL', 'what answers does not speak'),
    status: 'fail',
    blocks: ['continuous', 'scan'],
  },
  'a break in the middle': { facts: { broken: 'INFO: closed' }, status: 'fail', blocks: both },
  'a stranger that says yes to everything': {
    server: healthy({ more: { replies: { INFO: 'OK' } } }),
    status: 'fail',
    blocks: both,
  },
  silence: {
    facts: cut('startup', 'ETIMEDOUT', 'connected, but no answer'),
    status: 'fail',
    blocks: ['continuous', 'scan'],
  },
  'a wrong password is another matter': { facts: cut('startup', 'WRONGPASS', 'WRONGPASS invalid'), status: 'pass' },
});
