import { expect, test } from 'vitest';
import { isUncopyable, unreadReason } from '../../../../../src/db/preflight/postgresql/deep/rows.ts';

test.each([
  ['42501', 'permission denied for table t', 'no_privilege'],
  ['42P01', 'relation does not exist', 'dropped_or_changed'],
  ['42703', 'column does not exist', 'dropped_or_changed'],
  ['55P03', 'canceling statement due to lock timeout', 'locked'],
  ['40001', 'canceling statement due to conflict with recovery', 'recovery_conflict'],
  ['57P01', 'terminating connection due to administrator command', 'connection_ended'],
  ['57P02', '', 'connection_ended'],
  ['08006', '', 'connection_ended'],
  ['ECONNRESET', '', 'connection_ended'],
  ['57014', 'canceling statement due to user request', 'cancelled'],
  ['ABORTED', '', 'time_limit'],
  ['XX001', 'invalid page in block 0', 'damaged'],
  ['XX000', 'compressed data is corrupt', 'damaged'],
  ['58P01', 'could not open file', 'damaged'],
  ['54000', 'out_of_memory', 'row_too_large'],
  ['XX000', 'invalid memory alloc request size 1080000003', 'row_too_large'],
  ['XX000', 'invalid memory alloc request size 2147483646', 'row_too_large'],
  ['XX000', 'invalid memory alloc request size 18446744073709551613', 'damaged'],
  ['53200', 'out_of_memory', 'out_of_memory'],
  ['0A000', 'feature not supported', 'other'],
])('%s %s: %s', (code, message, reason) => {
  expect(unreadReason({ code, message }, { isSecured: false })).toBe(reason);
});

test('a refusal of a table with policies is theirs', () => {
  expect(unreadReason({ code: '42501', message: '' }, { isSecured: true })).toBe('row_security');
});

test('only damage and length stop every copy', () => {
  expect((['damaged', 'row_too_large', 'locked', 'no_privilege', 'other'] as const).map(isUncopyable)).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
});
