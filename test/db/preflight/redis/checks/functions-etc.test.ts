import { functionsStreamsEtcCheck } from '../../../../../src/db/preflight/redis/checks/functions-etc.ts';
import { checkCases, denied, sampled } from '../check-cases.ts';
import { healthy } from '../recordings.ts';

checkCases(functionsStreamsEtcCheck, {
  none: { status: 'pass' },
  functions: {
    server: healthy({ more: { functions: 2 } }),
    options: { targetVersion: undefined },
    status: 'info',
  },
  'functions, to another release': {
    server: healthy({ more: { functions: 2 } }),
    options: { targetVersion: 'valkey-9' },
    status: 'unknown',
  },
  'FUNCTION removed, and INFO counts functions': {
    server: healthy({ info: { number_of_functions: '1' }, more: { lacks: ['function'] } }),
    options: { targetVersion: 'valkey-9' },
    status: 'unknown',
  },
  'FUNCTION removed, and INFO counts none': {
    server: healthy({ info: { number_of_functions: '0' }, more: { lacks: ['function'] } }),
    options: { targetVersion: 'valkey-9' },
    status: 'pass',
  },
  'FUNCTION STATS denied': {
    server: healthy({ more: { replies: { 'FUNCTION STATS': `-${denied} 'function|stats'` } } }),
    status: 'unknown',
    fix: { sql: ['ACL SETUSER default +function|stats'], undo: ['ACL SETUSER default -function|stats'] },
  },
  'FUNCTION STATS of another shape': {
    server: healthy({ more: { replies: { 'FUNCTION STATS': '-ERR out of order' } } }),
    status: 'unknown',
  },
  'functions, by scan': { server: healthy({ more: { functions: 2 } }), options: { method: 'scan' }, status: 'warn' },
  streams: { facts: { sample: sampled({ type: 'stream' }) }, status: 'info' },
  'fields that expire': {
    server: healthy({ info: { db0: 'keys=1,expires=0,avg_ttl=0,subexpiry=1' } }),
    status: 'info',
  },
});
