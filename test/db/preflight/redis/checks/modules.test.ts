import { modulesCheck } from '../../../../../src/db/preflight/redis/checks/modules.ts';
import { both, checkCases, denied, sampled } from '../check-cases.ts';
import { healthy } from '../recordings.ts';

checkCases(modulesCheck, {
  none: { status: 'pass' },
  some: { server: healthy({ more: { modules: ['ReJSON'] } }), status: 'fail', blocks: both, objects: ['ReJSON'] },
  'those of the target': {
    server: healthy({ more: { modules: ['ReJSON'] } }),
    options: { targetExtensions: ['rejson'] },
    status: 'pass',
  },
  'a type of one': {
    facts: { sample: sampled({ type: 'MBbloom--' }) },
    status: 'fail',
    blocks: ['continuous', 'scan'],
    objects: ['MBbloom--'],
  },
  'the one that is built in': {
    server: healthy({ info: { redis_version: '8.0.4' }, more: { modules: ['vectorset'] } }),
    options: { targetVersion: 'redis-8' },
    status: 'pass',
  },
  'the scripting engine of Valkey': {
    server: healthy({ info: { redis_version: '7.2.4', valkey_version: '9.1.2' }, more: { modules: ['lua'] } }),
    options: { targetVersion: 'valkey-9.1' },
    status: 'pass',
  },
  'a module of that name in Redis': {
    server: healthy({ more: { modules: ['lua'] } }),
    status: 'fail',
    blocks: both,
    objects: ['lua'],
  },
  'denied, and INFO tells': {
    server: healthy({ more: { replies: { 'MODULE LIST': `-${denied} 'module|list'` } } }),
    status: 'pass',
  },
  'denied in 4.0': {
    server: healthy({
      info: { redis_version: '4.0.1' },
      more: { replies: { 'MODULE LIST': `-${denied} 'module'` } },
    }),
    status: 'unknown',
    fix: { sql: ['ACL SETUSER default +module|list'] },
  },
});
