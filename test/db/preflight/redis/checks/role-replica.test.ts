import { roleReplicaSourceCheck } from '../../../../../src/db/preflight/redis/checks/role-replica.ts';
import { both, checkCases, denied } from '../check-cases.ts';
import { healthy } from '../recordings.ts';

checkCases(roleReplicaSourceCheck, {
  primary: { status: 'pass' },
  replica: {
    server: healthy({ info: { role: 'slave', master_host: 'p', master_port: '1', master_link_status: 'up' } }),
    status: 'warn',
  },
  'one that has heard nothing for two pings': {
    server: healthy({ info: { role: 'slave', master_link_status: 'up', master_last_io_seconds_ago: '21' } }),
    status: 'unknown',
  },
  'one whose primary pings seldom': {
    server: healthy({
      info: { role: 'slave', master_link_status: 'up', master_last_io_seconds_ago: '21' },
      config: { 'repl-ping-replica-period': '11' },
    }),
    status: 'warn',
  },
  'one that takes writes': {
    fixed: 'warn',
    server: healthy({ info: { role: 'slave', master_host: 'p', master_link_status: 'up', slave_read_only: '0' } }),
    status: 'fail',
    blocks: ['continuous'],
    fix: {
      review: ['CONFIG SET replica-read-only yes', 'CONFIG REWRITE'],
      undoReview: ['CONFIG SET replica-read-only no', 'CONFIG REWRITE'],
    },
  },
  'one that takes writes, and has heard nothing': {
    fixed: 'unknown',
    server: healthy({
      info: {
        role: 'slave',
        master_host: 'p',
        master_link_status: 'up',
        slave_read_only: '0',
        master_last_io_seconds_ago: '21',
      },
    }),
    status: 'fail',
    blocks: ['continuous'],
    fix: {
      review: ['CONFIG SET replica-read-only yes', 'CONFIG REWRITE'],
      undoReview: ['CONFIG SET replica-read-only no', 'CONFIG REWRITE'],
    },
  },
  'one that takes writes, before 5.0': {
    fixed: 'warn',
    server: healthy({
      info: { redis_version: '3.2.1', role: 'slave', master_link_status: 'up', slave_read_only: '0' },
    }),
    status: 'fail',
    blocks: ['continuous'],
    fix: {
      review: ['CONFIG SET slave-read-only yes', 'CONFIG REWRITE'],
      undoReview: ['CONFIG SET slave-read-only no', 'CONFIG REWRITE'],
    },
  },
  'cut off': {
    server: healthy({ info: { role: 'slave', master_link_status: 'down' } }),
    status: 'fail',
    blocks: ['continuous'],
  },
  'cut off and mute': {
    server: healthy({ info: { role: 'slave', master_link_status: 'down' } }),
    facts: { connection: { kind: 'connected', auth: 'open', notice: { code: 'MASTERDOWN', message: '' } } },
    status: 'fail',
    blocks: both,
  },
  'cut off and mute, and INFO is denied': {
    server: healthy({ more: { replies: { INFO: `-${denied} 'info' command` } } }),
    facts: { connection: { kind: 'connected', auth: 'open', notice: { code: 'MASTERDOWN', message: '' } } },
    status: 'fail',
    blocks: both,
  },
  'cut off, as the probe was told': {
    server: healthy({ more: { replies: { INFO: `-${denied} 'info' command` } } }),
    facts: { probe: { kind: 'refused', code: 'NOMASTERLINK', message: "NOMASTERLINK Can't SYNC" } },
    status: 'fail',
    blocks: ['continuous'],
  },
  'INFO is denied': {
    server: healthy({ more: { replies: { INFO: `-${denied} 'info' command` } } }),
    status: 'unknown',
    fix: { sql: ['ACL SETUSER default +info'], undo: ['ACL SETUSER default -info'] },
  },
  'a Sentinel': { server: healthy({ info: { redis_mode: 'sentinel' } }), status: 'fail', blocks: both },
});
