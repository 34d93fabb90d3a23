import { bgsaveBrokenCheck } from '../../../../../src/db/preflight/redis/checks/bgsave-broken.ts';
import type { CopyStart } from '../../../../../src/db/preflight/redis/source.ts';
import { broken, checkCases } from '../check-cases.ts';
import { healthy } from '../recordings.ts';

const accepted = (copy: CopyStart) => ({ probe: { kind: 'accepted', reply: '+FULLRESYNC', copy } }) as const;
const repeated = (save: string) => {
  const server = broken({ 'repl-diskless-sync': 'no', save });
  const more = { rdb_changes_since_last_save: '9', rdb_last_save_time: '1000', server_time_usec: '1100000000' };
  return { ...server, info: { ...server.info, ...more } };
};
const byDisk = (more: Readonly<Record<string, string>> = {}, info: Readonly<Record<string, string>> = {}) =>
  healthy({ info, config: { 'repl-diskless-sync': 'no', ...more } });

checkCases(bgsaveBrokenCheck, {
  ok: { status: 'pass' },
  'err, by disk': {
    fixed: 'unknown',
    server: repeated('60 1'),
    status: 'fail',
    blocks: ['continuous'],
    fix: {
      sql: ['CONFIG SET repl-diskless-sync yes', 'CONFIG REWRITE'],
      undo: ['CONFIG SET repl-diskless-sync no', 'CONFIG REWRITE'],
    },
  },
  'ok, and no room': {
    server: healthy({ config: { 'repl-diskless-sync': 'no' } }),
    options: { sourceDiskFree: 5e7 },
    status: 'warn',
    fix: {
      sql: ['CONFIG SET repl-diskless-sync yes', 'CONFIG REWRITE'],
      undo: ['CONFIG SET repl-diskless-sync no', 'CONFIG REWRITE'],
    },
  },
  'ok, no room, and none needed': { options: { sourceDiskFree: 5e7 }, status: 'pass' },
  'the folder is gone': {
    server: byDisk({ dir: '' }),
    status: 'fail',
    blocks: ['continuous'],
    fix: {
      sql: ['CONFIG SET repl-diskless-sync yes', 'CONFIG REWRITE'],
      undo: ['CONFIG SET repl-diskless-sync no', 'CONFIG REWRITE'],
    },
  },
  'the folder is gone, and none is needed': { server: healthy({ config: { dir: '' } }), status: 'pass' },
  'never tried, by disk': { server: byDisk({}, { rdb_last_bgsave_time_sec: '-1' }), status: 'unknown' },
  'never tried, by disk, and a copy began': {
    server: byDisk({}, { rdb_last_bgsave_time_sec: '-1' }),
    facts: accepted({ kind: 'started' }),
    status: 'pass',
  },
  'the probe received no copy': {
    facts: accepted({ kind: 'failed', reason: 'the server closed the connection' }),
    status: 'fail',
    blocks: ['continuous'],
  },
  'the probe received no copy, by disk': {
    server: byDisk(),
    facts: accepted({ kind: 'failed', reason: 'the server closed the connection' }),
    status: 'fail',
    blocks: ['continuous'],
    fix: {
      sql: ['CONFIG SET repl-diskless-sync yes', 'CONFIG REWRITE'],
      undo: ['CONFIG SET repl-diskless-sync no', 'CONFIG REWRITE'],
    },
  },
  'the copy is late': { facts: accepted({ kind: 'late', reason: 'the copy did not begin' }), status: 'unknown' },
  'err, by disk, and no save points': {
    fixed: 'unknown',
    server: broken({ 'repl-diskless-sync': 'no', save: '' }),
    status: 'unknown',
    fix: {
      sql: ['CONFIG SET repl-diskless-sync yes', 'CONFIG REWRITE'],
      undo: ['CONFIG SET repl-diskless-sync no', 'CONFIG REWRITE'],
    },
  },
  'err, by disk, and too few changes for a save point': {
    fixed: 'unknown',
    server: repeated('60 10'),
    status: 'unknown',
    fix: {
      sql: ['CONFIG SET repl-diskless-sync yes', 'CONFIG REWRITE'],
      undo: ['CONFIG SET repl-diskless-sync no', 'CONFIG REWRITE'],
    },
  },
  'err, by disk, and a save point that is not due': {
    fixed: 'unknown',
    server: repeated('3600 1'),
    status: 'unknown',
    fix: {
      sql: ['CONFIG SET repl-diskless-sync yes', 'CONFIG REWRITE'],
      undo: ['CONFIG SET repl-diskless-sync no', 'CONFIG REWRITE'],
    },
  },
  'err, and the folder is gone': {
    server: broken({ 'repl-diskless-sync': 'no', save: '', dir: '' }),
    status: 'fail',
    blocks: ['continuous'],
    fix: {
      sql: ['CONFIG SET repl-diskless-sync yes', 'CONFIG REWRITE'],
      undo: ['CONFIG SET repl-diskless-sync no', 'CONFIG REWRITE'],
    },
    fixed: 'unknown',
  },
  'err, without disk': { server: broken({ 'repl-diskless-sync': 'yes' }), status: 'unknown' },
  'err, without disk, and a copy began': {
    server: broken({ 'repl-diskless-sync': 'yes' }),
    facts: accepted({ kind: 'started' }),
    status: 'pass',
  },
  'err, CONFIG hidden, before 7.0': {
    server: { ...broken({}), info: { ...broken({}).info, redis_version: '6.2.1' }, config: 'hidden' },
    status: 'unknown',
  },
  'err, CONFIG hidden, later': { server: { ...broken({}), config: 'hidden' }, status: 'unknown' },
});
