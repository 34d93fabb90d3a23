import { disklessDelayCheck } from '../../../../../src/db/preflight/redis/checks/diskless-delay.ts';
import { checkCases } from '../check-cases.ts';
import { healthy } from '../recordings.ts';

checkCases(disklessDelayCheck, {
  short: { status: 'pass' },
  long: { server: healthy({ config: { 'repl-diskless-sync-delay': '120' } }), status: 'info' },
  saving: { server: healthy({ info: { rdb_bgsave_in_progress: '1' } }), status: 'info' },
});
