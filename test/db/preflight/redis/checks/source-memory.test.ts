import { sourceMemoryCheck } from '../../../../../src/db/preflight/redis/checks/source-memory.ts';
import { checkCases, filled, writing } from '../check-cases.ts';
import { healthy } from '../recordings.ts';

checkCases(sourceMemoryCheck, {
  unlimited: { server: healthy({ info: { maxmemory: '0' } }), status: 'pass' },
  roomy: { server: healthy({ info: { maxmemory: '9000000000' } }), status: 'pass' },
  'full, and written to': {
    server: filled('noeviction'),
    facts: writing(1e5),
    status: 'fail',
    blocks: ['continuous'],
    fix: {
      sql: ['CONFIG SET maxmemory 1002097152', 'CONFIG REWRITE'],
      undoReview: ['CONFIG SET maxmemory 1000000000', 'CONFIG REWRITE'],
    },
  },
  'full, and quiet': {
    server: filled('noeviction'),
    status: 'unknown',
    fix: {
      sql: ['CONFIG SET maxmemory 1002097152', 'CONFIG REWRITE'],
      undoReview: ['CONFIG SET maxmemory 1000000000', 'CONFIG REWRITE'],
    },
  },
  'full, mostly read, and some keys change': {
    server: filled('noeviction'),
    facts: { rate: { writes: 1e5, source: 'network', evicted: 0, expired: 0, changes: 3 } },
    status: 'fail',
    blocks: ['continuous'],
    fix: {
      sql: ['CONFIG SET maxmemory 1002097152', 'CONFIG REWRITE'],
      undoReview: ['CONFIG SET maxmemory 1000000000', 'CONFIG REWRITE'],
    },
  },
  'full, evicting, and a large backlog': {
    server: filled('allkeys-lru', { 'repl-backlog-size': '67108864' }),
    facts: writing(1e5),
    status: 'warn',
    fix: {
      sql: ['CONFIG SET maxmemory 1134217728', 'CONFIG REWRITE'],
      undoReview: ['CONFIG SET maxmemory 1000000000', 'CONFIG REWRITE'],
    },
  },
  'full, evicting, and a small backlog': { server: filled('allkeys-lru'), facts: writing(1e5), status: 'pass' },
  'full, and the backlog is there': {
    server: filled('noeviction', {}, { repl_backlog_active: '1', repl_backlog_histlen: '1048576' }),
    facts: writing(1e5),
    status: 'pass',
  },
  'not told': { server: healthy({ info: { maxmemory: '1', used_memory: '' } }), status: 'unknown' },
});
