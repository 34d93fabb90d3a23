import { databasesCountCheck } from '../../../../../src/db/preflight/redis/checks/databases-count.ts';
import { both, checkCases } from '../check-cases.ts';
import { healthy } from '../recordings.ts';

checkCases(databasesCountCheck, {
  sixteen: { status: 'pass' },
  'keys above': {
    server: healthy({ info: { db20: 'keys=3,expires=0' }, config: { databases: '32' } }),
    status: 'fail',
    blocks: both,
    objects: ['db20'],
    only: ['db20'],
  },
  'more, unused': { server: healthy({ config: { databases: '32' } }), status: 'unknown' },
  'more, unused, and the target has as many': {
    server: healthy({ info: { db20: 'keys=3,expires=0' }, config: { databases: '32' } }),
    options: { targetDatabases: 32 },
    status: 'pass',
  },
  'more, unused, and the target has fewer': {
    server: healthy({ config: { databases: '32' } }),
    options: { targetDatabases: 4 },
    status: 'unknown',
  },
  'a cluster with more': {
    server: healthy({ info: { cluster_enabled: '1' }, config: { 'cluster-databases': '32' } }),
    status: 'unknown',
  },
  'a cluster with one': {
    server: healthy({ info: { cluster_enabled: '1' }, config: { databases: '32', 'cluster-databases': '1' } }),
    status: 'pass',
  },
  'no cluster, and more for one': { server: healthy({ config: { 'cluster-databases': '32' } }), status: 'pass' },
  'keys above, CONFIG hidden': {
    server: { ...healthy({ info: { db16: 'keys=1' } }), config: 'hidden' },
    status: 'fail',
    blocks: ['continuous', 'scan'],
    objects: ['db16'],
    only: ['db16'],
  },
  'CONFIG hidden': { server: { ...healthy(), config: 'hidden' }, status: 'unknown' },
});
