import { expect, it } from 'vitest';
import { Secret } from '../../src/base/secret.ts';
import type { CredentialRecord } from '../../src/session/credential-record.ts';
import { decodeCredentialRecord } from '../../src/session/credential-record.ts';
import { buildSharedReadResult, findSharedRecordFailure } from '../../src/session/shared-record-result.ts';
import { profileNamed } from '../fixtures/profile.ts';

const profile = profileNamed('default');
const record: CredentialRecord = {
  sid: 'aa',
  gen: 1,
  journalKey: new Secret('k'.repeat(43)),
  accessToken: new Secret('token'),
  expiresAt: 2,
  obtainedAt: 1,
  scope: 'read',
  authOrigin: 'https://auth.example.com',
  baseOrigin: 'https://api.example.com',
  clientId: 'client',
};

it('a record is found and usable', () => {
  const read = buildSharedReadResult({ kind: 'record', record }, 'k1', profile);
  if (read.kind !== 'found') throw new Error(read.kind);
  expect(decodeCredentialRecord(read.value.reveal())).toMatchObject({ sid: 'aa', gen: 1 });
  expect(findSharedRecordFailure({ kind: 'record', record }, 'k1', profile)).toBeUndefined();
});

it('a tombstone is an ended session, not a missing item', () => {
  expect(buildSharedReadResult({ kind: 'tombstone' }, 'k1', profile)).toEqual({ kind: 'absent', isEnded: true });
  expect(findSharedRecordFailure({ kind: 'tombstone' }, 'k1', profile)).toBeUndefined();
});

it('a missing key makes the store unavailable, and the result names the key', () => {
  const failure = { kind: 'unavailable', why: 'shared', isRejected: true, reason: expect.stringContaining('k1') };
  expect(buildSharedReadResult({ kind: 'unknown_key' }, 'k1', profile)).toMatchObject(failure);
  expect(findSharedRecordFailure({ kind: 'unknown_key' }, 'k1', profile)).toMatchObject(failure);
});

it('a damaged record is read as a damaged session, and is a failure for a commit', () => {
  const read = buildSharedReadResult({ kind: 'damaged' }, 'k1', profile);
  if (read.kind !== 'found') throw new Error(read.kind);
  expect(decodeCredentialRecord(read.value.reveal())).toBeUndefined();
  expect(findSharedRecordFailure({ kind: 'damaged' }, 'k1', profile)).toMatchObject({ isRejected: true });
});
