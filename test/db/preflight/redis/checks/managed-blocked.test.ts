import { managedBlockedCheck } from '../../../../../src/db/preflight/redis/checks/managed-blocked.ts';
import { both, checkCases, denied } from '../check-cases.ts';
import { healthy } from '../recordings.ts';

checkCases(managedBlockedCheck, {
  'no provider': { status: 'pass' },
  'a cluster of the service': {
    facts: { host: 'db-1-do-user-1.b.db.ondigitalocean.com' },
    status: 'fail',
    blocks: both,
  },
  'a provider without PSYNC': {
    server: healthy({ more: { lacks: ['psync'] } }),
    facts: { host: 'x.upstash.io' },
    status: 'fail',
    blocks: ['continuous'],
  },
  'a provider with everything': { facts: { host: 'valkey-1.shop.aivencloud.com' }, status: 'warn' },
  'a provider, tried': {
    facts: { host: 'x.upstash.io', probe: { kind: 'accepted', reply: '+FULLRESYNC', copy: { kind: 'started' } } },
    status: 'info',
  },
  'a name that only ends alike': { facts: { host: 'my-upstash.io.example.com' }, status: 'pass' },
  'CONFIG hidden': { server: { ...healthy(), config: 'hidden' }, status: 'unknown' },
  'CONFIG hidden, tried': {
    server: { ...healthy(), config: 'hidden' },
    facts: { probe: { kind: 'accepted', reply: '+FULLRESYNC', copy: { kind: 'started' } } },
    status: 'info',
  },
  'CONFIG denied': {
    server: healthy({ more: { replies: { 'CONFIG GET': `-${denied} 'config|get'` } } }),
    status: 'pass',
  },
  'the default port': { facts: { port: 25061 }, status: 'info' },
});
