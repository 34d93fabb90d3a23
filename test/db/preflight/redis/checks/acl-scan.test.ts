import { aclScanCheck } from '../../../../../src/db/preflight/redis/checks/acl-scan.ts';
import { checkCases, denied } from '../check-cases.ts';
import { healthy } from '../recordings.ts';

checkCases(aclScanCheck, {
  'may do it': { status: 'pass' },
  'may not DUMP': {
    server: healthy({ more: { replies: { 'ACL DRYRUN default DUMP cloudctl:any:key': 'no' } } }),
    status: 'fail',
    blocks: ['scan'],
    fix: {
      sql: ['ACL SETUSER default +dump', 'CONFIG REWRITE'],
      undo: ['ACL SETUSER default -dump', 'CONFIG REWRITE'],
    },
  },
  'may not SELECT, and all keys are in database 0': {
    server: healthy({ more: { replies: { 'ACL DRYRUN default SELECT 0': 'no' } } }),
    status: 'pass',
  },
  'may not SELECT, and keys are elsewhere': {
    server: healthy({
      info: { db3: 'keys=1,expires=0,avg_ttl=0' },
      more: { replies: { 'ACL DRYRUN default SELECT 0': 'no' } },
    }),
    status: 'fail',
    blocks: ['scan'],
    fix: {
      sql: ['ACL SETUSER default +select', 'CONFIG REWRITE'],
      undo: ['ACL SETUSER default -select', 'CONFIG REWRITE'],
    },
  },
  'may SELECT 0 alone': {
    server: healthy({ info: { db3: 'keys=1,expires=0,avg_ttl=0' } }),
    facts: { sample: { kind: 'denied', reason: `SCAN: ${denied} the 'select' command`, grant: '' } },
    status: 'fail',
    blocks: ['scan'],
    fix: {
      sql: ['ACL SETUSER default +select', 'CONFIG REWRITE'],
      undo: ['ACL SETUSER default -select', 'CONFIG REWRITE'],
    },
  },
  'may not read all keys': {
    server: healthy({
      more: {
        replies: {
          'ACL DRYRUN default DUMP cloudctl:any:key': "User default has no permissions to access the 'k' key",
        },
      },
    }),
    status: 'fail',
    blocks: ['scan'],
    fix: { sql: ['ACL SETUSER default ~*', 'CONFIG REWRITE'] },
  },
  'may not read some databases': {
    server: healthy({ info: { db3: 'keys=1,expires=0,avg_ttl=0' } }),
    facts: {
      sample: { kind: 'denied', reason: 'SCAN: SELECT 3 failed: NOPERM No permissions to access database', grant: '' },
    },
    status: 'fail',
    blocks: ['scan'],
    fix: { sql: ['ACL SETUSER default alldbs', 'CONFIG REWRITE'] },
  },
  'by the rules of 6.x, not by those for keys': {
    server: healthy({
      more: {
        replies: {
          'ACL DRYRUN': "-ERR Unknown subcommand 'DRYRUN'",
          'ACL GETUSER': ['flags', [], 'passwords', [], 'commands', '+@all', 'keys', ['app:*']],
        },
      },
    }),
    status: 'fail',
    blocks: ['scan'],
    fix: {
      sql: ['ACL SETUSER default ~*', 'CONFIG REWRITE'],
      undo: ['ACL SETUSER default resetkeys ~app:*', 'CONFIG REWRITE'],
    },
  },
  'before there were users': {
    server: healthy({ info: { redis_version: '5.0.14' }, more: { lacks: ['acl'] } }),
    status: 'pass',
  },
  'ACL hidden': { server: healthy({ more: { lacks: ['acl'] } }), status: 'unknown' },
  'one is refused and the rest cannot be asked': {
    fixed: 'unknown',
    server: healthy({ more: { lacks: ['acl'] } }),
    facts: { sample: { kind: 'denied', reason: `SCAN: ${denied} the 'scan' command`, grant: '' } },
    status: 'fail',
    blocks: ['scan'],
    fix: { sql: ['ACL SETUSER default +scan +dump +pttl +type', 'CONFIG REWRITE'] },
  },
});
