import { bgsaveBrokenCheck } from '../../../../src/preflight/redis/checks/bgsave-broken.ts';
import { broken, checkCases } from '../check-cases.ts';
import { healthy } from '../recordings.ts';

checkCases(bgsaveBrokenCheck, {
  ok: { status: 'pass' },
  'err, by disk': {
    fixed: 'warn',
    server: broken({ 'repl-diskless-sync': 'no' }),
    status: 'fail',
    blocks: ['continuous'],
  },
  'ok, and no room': {
    server: healthy({ config: { 'repl-diskless-sync': 'no' } }),
    options: { sourceDiskFree: 5e7 },
    status: 'warn',
  },
  'ok, no room, and none needed': { options: { sourceDiskFree: 5e7 }, status: 'pass' },
  'err, without disk': { server: broken({ 'repl-diskless-sync': 'yes' }), status: 'warn' },
  'err, CONFIG hidden, before 7.0': {
    server: { ...broken({}), info: { ...broken({}).info, redis_version: '6.2.1' }, config: 'hidden' },
    status: 'fail',
  },
  'err, CONFIG hidden, later': { server: { ...broken({}), config: 'hidden' }, status: 'warn' },
});
