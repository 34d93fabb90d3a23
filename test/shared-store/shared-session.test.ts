import { expect, test } from 'vitest';
import { listSharedOperationArguments, type SharedSessionOperation } from '../../src/shared-store/shared-session.ts';

const version = { epoch: 7, sid: 'aa', gen: 3 };
const encrypted = { ...version, kid: 'k2', record: 'r' };

test.each<{ readonly operation: SharedSessionOperation; readonly args: readonly unknown[] }>([
  { operation: { op: 'read' }, args: [] },
  { operation: { op: 'claim', ...version, by: 'ci', attempt: '1', leaseMs: 15 }, args: [7, 'aa', 3, 'ci', '1', 15] },
  { operation: { op: 'renew', attempt: '1', leaseMs: 15 }, args: ['1', 15] },
  { operation: { op: 'release', attempt: '1', unsent: true }, args: ['1', true] },
  {
    operation: { op: 'commit', ...encrypted, by: 'ci', event: 'refresh' },
    args: [7, 'aa', 3, 'k2', 'r', 'ci', 'refresh'],
  },
  { operation: { op: 'refuse', ...version, by: 'ci' }, args: [7, 'aa', 3, 'ci'] },
  { operation: { op: 'reseal', ...encrypted, oldKid: 'k1', by: 'ci' }, args: [7, 'aa', 3, 'k1', 'k2', 'r', 'ci'] },
])('the arguments of $operation.op have the order of the SQL functions and the scripts', ({ operation, args }) => {
  expect(listSharedOperationArguments(operation)).toEqual(args);
});
