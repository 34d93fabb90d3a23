import { replicaOutputBufferCheck } from '../../../../../src/db/preflight/redis/checks/replica-output-buffer.ts';
import { checkCases, config, limited, writing } from '../check-cases.ts';
import { healthy } from '../recordings.ts';

checkCases(replicaOutputBufferCheck, {
  quiet: { status: 'pass' },
  'a small limit, and no write was measured': {
    server: limited('1048576 524288 10'),
    status: 'unknown',
    fix: {
      sql: ['CONFIG SET client-output-buffer-limit "slave 20971520 0 0"', 'CONFIG REWRITE'],
      undo: ['CONFIG SET client-output-buffer-limit "slave 1048576 524288 10"', 'CONFIG REWRITE'],
    },
  },
  'no limit': { server: limited('0 0 0'), facts: writing(1e9), status: 'pass' },
  'a default limit that is full in a minute, and the copy takes seconds': { facts: writing(7e6), status: 'pass' },
  'full before any copy ends': {
    server: limited('1048576 0 0'),
    facts: writing(1e7),
    status: 'fail',
    blocks: ['continuous'],
    fix: {
      sql: ['CONFIG SET client-output-buffer-limit "slave 180355072 0 0"', 'CONFIG REWRITE'],
      undo: ['CONFIG SET client-output-buffer-limit "slave 1048576 0 0"', 'CONFIG REWRITE'],
    },
  },
  'full before any copy ends, and the copy has its own channel': {
    server: {
      ...limited('1048576 0 0'),
      config: { ...config(limited('1048576 0 0')), 'dual-channel-replication-enabled': 'yes' },
    },
    facts: writing(1e7),
    status: 'unknown',
    fix: {
      sql: ['CONFIG SET client-output-buffer-limit "slave 180355072 0 0"', 'CONFIG REWRITE'],
      undo: ['CONFIG SET client-output-buffer-limit "slave 1048576 0 0"', 'CONFIG REWRITE'],
    },
  },
  'full before a usual copy ends': {
    server: limited('1048576 0 0'),
    facts: writing(1e6),
    status: 'unknown',
    fix: {
      sql: ['CONFIG SET client-output-buffer-limit "slave 20971520 0 0"', 'CONFIG REWRITE'],
      undo: ['CONFIG SET client-output-buffer-limit "slave 1048576 0 0"', 'CONFIG REWRITE'],
    },
  },
  'full before the copy ends, at most': {
    server: limited('1048576 0 0'),
    facts: { rate: { writes: 1e6, source: 'network', evicted: 0, expired: 0 } },
    status: 'unknown',
    fix: {
      sql: ['CONFIG SET client-output-buffer-limit "slave 20971520 0 0"', 'CONFIG REWRITE'],
      undo: ['CONFIG SET client-output-buffer-limit "slave 1048576 0 0"', 'CONFIG REWRITE'],
    },
  },
  'full before a copy of 10 GB ends': {
    server: healthy({ info: { used_memory_dataset: '10000000000', used_memory: '10000000000' } }),
    facts: writing(2e6),
    status: 'unknown',
  },
  'full before a slow copy ends': {
    server: {
      ...limited('268435456 0 0'),
      info: { ...healthy().info, used_memory_dataset: '10000000000', used_memory: '10000000000' },
    },
    facts: writing(1e6),
    status: 'warn',
    fix: {
      sql: ['CONFIG SET client-output-buffer-limit "slave 1503657984 0 0"', 'CONFIG REWRITE'],
      undo: ['CONFIG SET client-output-buffer-limit "slave 268435456 0 0"', 'CONFIG REWRITE'],
    },
  },
  'over the soft limit for long': {
    server: {
      ...limited('10000000000 67108864 60'),
      info: { ...healthy().info, used_memory_dataset: '10000000000', used_memory: '10000000000' },
    },
    facts: writing(2e6),
    status: 'unknown',
    fix: {
      sql: ['CONFIG SET client-output-buffer-limit "slave 10000000000 0 0"', 'CONFIG REWRITE'],
      undo: ['CONFIG SET client-output-buffer-limit "slave 10000000000 67108864 60"', 'CONFIG REWRITE'],
    },
  },
  'over the soft limit, however fast the copy is': {
    server: {
      ...limited('0 1048576 1'),
      info: { ...healthy().info, used_memory_dataset: '10000000000', used_memory: '10000000000' },
    },
    facts: writing(2e6),
    status: 'fail',
    blocks: ['continuous'],
  },
  'small and not measured': {
    server: limited('1048576 0 0'),
    facts: { rate: undefined },
    status: 'unknown',
    fix: {
      sql: ['CONFIG SET client-output-buffer-limit "slave 20971520 0 0"', 'CONFIG REWRITE'],
      undo: ['CONFIG SET client-output-buffer-limit "slave 1048576 0 0"', 'CONFIG REWRITE'],
    },
  },
  'the backlog counts from 7.0 on': {
    server: {
      ...limited('1048576 0 0'),
      config: { ...config(limited('1048576 0 0')), 'repl-backlog-size': '1073741824' },
    },
    facts: writing(1e6),
    status: 'pass',
  },
  hidden: { server: { ...healthy(), config: 'hidden' }, status: 'unknown' },
});
