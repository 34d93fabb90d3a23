import { multiDbCheck } from '../../../../../src/db/preflight/redis/checks/multi-db.ts';
import { checkCases } from '../check-cases.ts';
import { healthy } from '../recordings.ts';

checkCases(multiDbCheck, {
  one: { status: 'pass' },
  two: { server: healthy({ info: { db1: 'keys=3,expires=0' } }), status: 'warn', objects: ['db1'] },
});
