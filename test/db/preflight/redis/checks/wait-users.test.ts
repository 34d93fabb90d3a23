import { waitUsersCheck } from '../../../../../src/db/preflight/redis/checks/wait-users.ts';
import { checkCases } from '../check-cases.ts';
import { healthy } from '../recordings.ts';

checkCases(waitUsersCheck, {
  none: { status: 'pass' },
  some: { server: healthy({ info: { cmdstat_wait: 'calls=7,usec=1' } }), status: 'info' },
});
