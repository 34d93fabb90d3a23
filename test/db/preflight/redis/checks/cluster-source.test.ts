import { clusterSourceCheck } from '../../../../../src/db/preflight/redis/checks/cluster-source.ts';
import { both, checkCases, denied } from '../check-cases.ts';
import { healthy } from '../recordings.ts';

checkCases(clusterSourceCheck, {
  alone: { status: 'pass' },
  'a cluster': { server: healthy({ info: { cluster_enabled: '1' } }), status: 'fail', blocks: ['continuous'] },
  'one shard, whose nodes may not be asked for': {
    server: healthy({
      info: { cluster_enabled: '1' },
      more: {
        replies: {
          'CLUSTER INFO': 'cluster_state:ok\r\ncluster_size:1\r\ncluster_slots_assigned:16384',
          'CLUSTER NODES': "-NOPERM this user has no permissions to run the 'cluster|nodes' command",
        },
      },
    }),
    status: 'unknown',
    fix: { sql: ['ACL SETUSER default +cluster|nodes'], undo: ['ACL SETUSER default -cluster|nodes'] },
  },
  'one shard, of which a replica was named': {
    server: healthy({
      info: { cluster_enabled: '1' },
      more: {
        replies: {
          'CLUSTER INFO': 'cluster_state:ok\r\ncluster_size:1\r\ncluster_slots_assigned:16384',
          'CLUSTER NODES':
            'b 10.0.0.2:6379@16379 myself,slave a 0 0 1 connected\na 10.0.0.1:6379@16379 master - 0 0 1 connected 0-16383\n',
        },
      },
    }),
    status: 'unknown',
  },
  'a cluster that is down': {
    server: healthy({
      info: { cluster_enabled: '1' },
      more: { replies: { 'CLUSTER INFO': 'cluster_state:fail\r\ncluster_slots_ok:16383' } },
    }),
    status: 'fail',
    blocks: both,
    fix: { shell: ['redis-cli --cluster check HOST:PORT'] },
  },
  'a cluster that is down and may be read': {
    server: healthy({
      info: { cluster_enabled: '1' },
      config: { 'cluster-allow-reads-when-down': 'yes' },
      more: { replies: { 'CLUSTER INFO': 'cluster_state:fail\r\ncluster_slots_ok:16383' } },
    }),
    status: 'fail',
    blocks: ['continuous'],
  },
  'INFO denied': { server: healthy({ more: { replies: { INFO: `-${denied} 'info'` } } }), status: 'pass' },
});
