import { expect, it } from 'vitest';
import { DatabaseConnectError, DatabaseError } from '../../src/platform/connect-error.ts';
import { catchSharedStoreUnavailable } from '../../src/session/catch-shared-store-unavailable.ts';
import { credentialStoreUnavailableError } from '../../src/session/credential-store.ts';
import { profileNamed } from '../fixtures/profile.ts';

it.each([
  [new DatabaseConnectError('network', 'ECONNREFUSED', 'refused'), undefined],
  [new DatabaseError('25006', 'read-only transaction', false), expect.stringContaining('primary')],
  [new DatabaseError('READONLY', 'read only replica', false), expect.stringContaining('primary')],
  [new DatabaseError('42501', 'permission denied', false), expect.not.stringContaining('cloudctl_share_member')],
])('the error %s of the server makes the store unavailable', async (error, hint) => {
  const result = await catchSharedStoreUnavailable('memory', () => Promise.reject(error));
  expect(result).toMatchObject({ kind: 'unavailable', why: 'shared', ...(hint === undefined ? {} : { hint }) });
});

it('other errors are thrown, and a result is returned', async () => {
  await expect(catchSharedStoreUnavailable('memory', () => Promise.reject(new TypeError('x')))).rejects.toThrow(
    TypeError,
  );
  expect(await catchSharedStoreUnavailable('memory', async () => 1)).toBe(1);
});

it.each(['3F000', '42883'])('the hint of %s creates the schema for the profile', async (code) => {
  const error = new DatabaseError(code, 'the schema does not exist', false);
  const result = await catchSharedStoreUnavailable('memory', () => Promise.reject(error));
  if (result.kind !== 'unavailable') throw new Error('the store is available');
  expect(credentialStoreUnavailableError(result, profileNamed('work')).hint).toContain(
    '`cloudctl auth share init --profile work`',
  );
});

it.each([
  [new DatabaseError('42501', 'permission denied', false), true],
  [new DatabaseError('LOADING', 'the connection was lost before', true), false],
  [new DatabaseError('57P01', 'terminating connection', false), false],
  [new DatabaseError('PROTOCOL', 'the reply of the script has an unknown form', false), false],
  [new DatabaseConnectError('network', 'ECONNREFUSED', 'refused'), false],
])('the error %s is the rejection of an operation: %s', async (error, isRejected) => {
  expect(await catchSharedStoreUnavailable('memory', () => Promise.reject(error))).toMatchObject({ isRejected });
});
