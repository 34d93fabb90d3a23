import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { Secret } from '../../src/base/secret.ts';
import type { CredentialRecord } from '../../src/session/credential-record.ts';
import { createSharedSessionEncryptor } from '../../src/session/sealed-session.ts';
import { addShareEncryptionKey, generateShareEncryptionKeys } from '../../src/shared-store/share-encryption-keys.ts';

const version = { epoch: 1_790_000_000, sid: '0123456789abcdef', gen: 3 };
const record: CredentialRecord = {
  sid: version.sid,
  gen: version.gen,
  journalKey: new Secret('k'.repeat(43)),
  accessToken: new Secret('access'),
  expiresAt: 1_790_003_600,
  obtainedAt: 1_790_000_000,
  scope: 'read',
  authOrigin: 'https://auth.example.com',
  baseOrigin: 'https://api.example.com',
  clientId: 'client',
};
const keys = generateShareEncryptionKeys(randomBytes);
const sealer = createSharedSessionEncryptor(keys, 'default', randomBytes);

it('a record is opened with its epoch, and a tombstone is no record', () => {
  expect(sealer.open(sealer.seal(version, record))).toMatchObject({ kind: 'record', record: { epoch: version.epoch } });
  expect(sealer.open(sealer.seal(version, 'tombstone'))).toEqual({ kind: 'tombstone' });
});

it('a record under another version is damaged', () => {
  expect(sealer.open({ ...sealer.seal(version, record), gen: 4 })).toEqual({ kind: 'damaged' });
});

it('the key that the store names is used, and an unknown one is reported', () => {
  const rotated = createSharedSessionEncryptor(addShareEncryptionKey(keys, randomBytes), 'default', randomBytes);
  expect(rotated.seal(version, record, keys.keys[0].kid).kid).toBe(keys.keys[0].kid);
  const withNewKey = rotated.seal(version, record);
  expect(withNewKey.kid).not.toBe(keys.keys[0].kid);
  expect(sealer.open(withNewKey)).toEqual({ kind: 'unknown_key' });
  expect(rotated.open(sealer.seal(version, record)).kind).toBe('record');
});
