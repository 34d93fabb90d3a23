import { replBacklogCheck } from '../../../../src/preflight/redis/checks/repl-backlog.ts';
import { checkCases, writing } from '../check-cases.ts';
import { healthy } from '../recordings.ts';

checkCases(replBacklogCheck, {
  quiet: { status: 'pass' },
  'too small': { facts: writing(1e6), status: 'warn' },
  'INFO tells': { server: { ...healthy(), config: 'hidden' }, facts: writing(1e6), status: 'warn' },
  'not told': { server: { info: { redis_version: '7.2.0' }, config: 'hidden' }, status: 'unknown' },
});
