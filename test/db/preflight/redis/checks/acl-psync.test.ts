import { aclPsyncCheck } from '../../../../../src/db/preflight/redis/checks/acl-psync.ts';
import { checkCases, denied } from '../check-cases.ts';
import { healthy } from '../recordings.ts';

checkCases(aclPsyncCheck, {
  'may do it': { status: 'pass' },
  'may not': {
    server: healthy({
      more: {
        replies: { 'ACL DRYRUN default PSYNC ? -1': "User default has no permissions to run the 'psync' command" },
      },
    }),
    status: 'fail',
    blocks: ['continuous'],
    fix: {
      sql: ['ACL SETUSER default +psync', 'CONFIG REWRITE'],
      undo: ['ACL SETUSER default -psync', 'CONFIG REWRITE'],
    },
  },
  'may not, and SYNC comes over the disk': {
    server: healthy({
      config: { 'repl-diskless-sync': 'no' },
      more: { replies: { 'ACL DRYRUN default PSYNC ? -1': 'no' } },
    }),
    status: 'warn',
    fix: {
      sql: ['ACL SETUSER default +psync', 'CONFIG REWRITE'],
      undo: ['ACL SETUSER default -psync', 'CONFIG REWRITE'],
    },
  },
  'may neither PSYNC nor SYNC': {
    server: healthy({
      config: { 'repl-diskless-sync': 'no' },
      more: { replies: { 'ACL DRYRUN default PSYNC ? -1': 'no', 'ACL DRYRUN default SYNC': 'no' } },
    }),
    status: 'fail',
    blocks: ['continuous'],
    fix: {
      sql: ['ACL SETUSER default +psync', 'CONFIG REWRITE'],
      undo: ['ACL SETUSER default -psync', 'CONFIG REWRITE'],
    },
  },
  'may not INFO': {
    server: healthy({ more: { replies: { INFO: `-${denied} 'info' command` } } }),
    status: 'fail',
    blocks: ['continuous'],
    fix: { sql: ['ACL SETUSER default +info'], undo: ['ACL SETUSER default -info'] },
  },
  'may not INFO, and nothing else can be asked': {
    server: healthy({
      more: {
        replies: {
          INFO: `-${denied} 'info' command`,
          'ACL DRYRUN': `-${denied} 'acl|dryrun'`,
          'ACL GETUSER': `-${denied} 'acl|getuser'`,
        },
      },
    }),
    status: 'fail',
    blocks: ['continuous'],
    fix: { sql: ['ACL SETUSER default +psync +replconf +info'] },
  },
  'may not REPLCONF': {
    server: healthy({ more: { replies: { 'ACL DRYRUN default REPLCONF listening-port 6379': 'no' } } }),
    status: 'warn',
    fix: {
      sql: ['ACL SETUSER default +replconf', 'CONFIG REWRITE'],
      undo: ['ACL SETUSER default -replconf', 'CONFIG REWRITE'],
    },
  },
  'may not REPLCONF, before 7.0': {
    server: healthy({
      info: { redis_version: '6.0.16' },
      more: { lacks: ['acl dryrun'], rules: '+@all -replconf' },
    }),
    status: 'fail',
    blocks: ['continuous'],
    fix: {
      sql: ['ACL SETUSER default +replconf', 'CONFIG REWRITE'],
      undo: ['ACL SETUSER default -replconf', 'CONFIG REWRITE'],
    },
  },
  'by the rules of 6.x': {
    server: healthy({ more: { lacks: ['acl dryrun'], rules: '+@all -@dangerous +psync' } }),
    status: 'warn',
    fix: {
      sql: ['ACL SETUSER default +replconf', 'CONFIG REWRITE'],
      undo: ['ACL SETUSER default -replconf', 'CONFIG REWRITE'],
    },
  },
  'not by the rules of 6.x': {
    server: healthy({ more: { lacks: ['acl dryrun'], rules: '-@all +@read' } }),
    status: 'fail',
    blocks: ['continuous'],
    fix: {
      sql: ['ACL SETUSER default +psync +replconf', 'CONFIG REWRITE'],
      undo: ['ACL SETUSER default -psync -replconf', 'CONFIG REWRITE'],
    },
  },
  'before there were users': {
    server: healthy({ info: { redis_version: '5.0.14' }, more: { lacks: ['acl'] } }),
    status: 'pass',
  },
  'ACL hidden': { server: healthy({ more: { lacks: ['acl'] } }), status: 'unknown' },
  'ACL denied': {
    server: healthy({
      more: { replies: { 'ACL DRYRUN': `-${denied} 'acl|dryrun'`, 'ACL GETUSER': `-${denied} 'acl|getuser'` } },
    }),
    status: 'unknown',
    fix: { sql: ['ACL SETUSER default +acl|dryrun'], undo: ['ACL SETUSER default -acl|dryrun'] },
  },
  'tried and refused': {
    facts: { probe: { kind: 'refused', code: 'NOPERM', message: `${denied} 'psync'` } },
    status: 'fail',
    blocks: ['continuous'],
    fix: {
      sql: ['ACL SETUSER default +psync', 'CONFIG REWRITE'],
      undo: ['ACL SETUSER default -psync', 'CONFIG REWRITE'],
    },
  },
});
