import { loadingCheck } from '../../../../../src/db/preflight/redis/checks/loading.ts';
import { both, checkCases } from '../check-cases.ts';
import { healthy } from '../recordings.ts';

checkCases(loadingCheck, {
  loaded: { status: 'pass' },
  loading: { server: healthy({ info: { loading: '1', loading_loaded_perc: '40.5' } }), status: 'fail', blocks: both },
  'PING said so': {
    facts: { connection: { kind: 'connected', auth: 'open', notice: { code: 'LOADING', message: '' } } },
    status: 'fail',
    blocks: ['continuous', 'scan'],
  },
});
