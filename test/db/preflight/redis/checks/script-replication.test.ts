import { scriptReplicationCheck } from '../../../../../src/db/preflight/redis/checks/script-replication.ts';
import { checkCases, denied } from '../check-cases.ts';
import { healthy } from '../recordings.ts';

const verbatim = (calls: string) =>
  healthy({
    info: { redis_version: '6.0.16' },
    config: { 'lua-replicate-commands': 'no' },
    more: { replies: { 'INFO commandstats': calls } },
  });

checkCases(scriptReplicationCheck, {
  'the setting does not exist': { status: 'pass' },
  'CONFIG is denied, and the server is too new for the setting': {
    server: healthy({
      info: { redis_version: '7.2.4' },
      more: { replies: { 'CONFIG GET lua-replicate-commands': `-${denied} 'config|get'` } },
    }),
    status: 'pass',
  },
  'changes are replicated': {
    server: healthy({ info: { redis_version: '6.0.16' }, config: { 'lua-replicate-commands': 'yes' } }),
    status: 'pass',
  },
  'scripts are replicated, and none was run': {
    server: verbatim('cmdstat_get:calls=1,usec=1'),
    status: 'unknown',
    fix: {
      sql: ['CONFIG SET lua-replicate-commands yes', 'CONFIG REWRITE'],
      undo: ['CONFIG SET lua-replicate-commands no', 'CONFIG REWRITE'],
    },
  },
  'scripts are replicated, and some were run': {
    server: verbatim('cmdstat_evalsha:calls=7,usec=1'),
    status: 'fail',
    blocks: ['continuous'],
    fix: {
      sql: ['CONFIG SET lua-replicate-commands yes', 'CONFIG REWRITE'],
      undo: ['CONFIG SET lua-replicate-commands no', 'CONFIG REWRITE'],
    },
  },
});
