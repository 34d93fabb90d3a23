import { maxclientsCheck } from '../../../../../src/db/preflight/redis/checks/maxclients.ts';
import { both, checkCases, cut } from '../check-cases.ts';
import { healthy } from '../recordings.ts';

checkCases(maxclientsCheck, {
  room: { status: 'pass' },
  'nearly full': {
    server: healthy({ info: { connected_clients: '9990' } }),
    status: 'warn',
    fix: {
      sql: ['CONFIG SET maxclients 20000', 'CONFIG REWRITE'],
      undo: ['CONFIG SET maxclients 10000', 'CONFIG REWRITE'],
    },
  },
  'room for all connections of a migration but one': {
    server: healthy({ info: { connected_clients: '9999' } }),
    status: 'fail',
    blocks: ['continuous'],
    fix: {
      sql: ['CONFIG SET maxclients 20000', 'CONFIG REWRITE'],
      undo: ['CONFIG SET maxclients 10000', 'CONFIG REWRITE'],
    },
  },
  'room that replicas and a cluster take': {
    server: healthy({ info: { connected_clients: '9990', connected_slaves: '4', cluster_connections: '5' } }),
    status: 'fail',
    blocks: ['continuous'],
    fix: {
      sql: ['CONFIG SET maxclients 20000', 'CONFIG REWRITE'],
      undo: ['CONFIG SET maxclients 10000', 'CONFIG REWRITE'],
    },
  },
  'room for the preflight alone': {
    server: healthy({ info: { connected_clients: '10000' } }),
    status: 'fail',
    blocks: both,
    fix: {
      sql: ['CONFIG SET maxclients 20000', 'CONFIG REWRITE'],
      undo: ['CONFIG SET maxclients 10000', 'CONFIG REWRITE'],
    },
  },
  'room for the connections of a migration': {
    server: healthy({ info: { connected_clients: '9998' } }),
    status: 'warn',
    fix: {
      sql: ['CONFIG SET maxclients 20000', 'CONFIG REWRITE'],
      undo: ['CONFIG SET maxclients 10000', 'CONFIG REWRITE'],
    },
  },
  full: { facts: cut('startup', 'MAXCLIENTS', 'ERR max number of clients reached'), status: 'fail', blocks: both },
  'not entered': { facts: cut('startup', 'NOAUTH', 'NOAUTH'), status: 'skip' },
  'not told': {
    server: { info: { redis_version: '7.2.0', connected_clients: '1' }, config: 'hidden' },
    status: 'unknown',
  },
});
