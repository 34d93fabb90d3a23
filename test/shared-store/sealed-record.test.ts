import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { Secret } from '../../src/base/secret.ts';
import { decryptSharedRecord, encryptSharedRecord } from '../../src/shared-store/sealed-record.ts';
import type { EncryptedSharedSession } from '../../src/shared-store/shared-session.ts';

const place = { share: '0123456789abcdef', profile: 'default' };
const version = { epoch: 1_790_000_000, sid: 'aabb', gen: 7, kid: '00000001' };
const key = new Secret(Buffer.alloc(32, 1).toString('base64url'));
const sealed: EncryptedSharedSession = {
  ...version,
  record: encryptSharedRecord(place, version, key, new Secret('the record'), randomBytes),
};

it('is decrypted with its key, and each encryption has another nonce', () => {
  expect(decryptSharedRecord(place, sealed, key)?.reveal()).toBe('the record');
  expect(encryptSharedRecord(place, version, key, new Secret('the record'), randomBytes)).not.toBe(sealed.record);
});

it.each([
  ['another epoch', place, { epoch: version.epoch + 1 }],
  ['another session', place, { sid: 'aabc' }],
  ['another generation', place, { gen: 8 }],
  ['another key id', place, { kid: '00000002' }],
  ['another share', { ...place, share: 'fedcba9876543210' }, {}],
  ['another profile', { ...place, profile: 'work' }, {}],
  ['a cut text', place, { record: sealed.record.slice(0, 20) }],
  ['a changed text', place, { record: `A${sealed.record.slice(1, -4)}AAA=` }],
])('cannot be moved to %s', (_name, where, changes) => {
  expect(decryptSharedRecord(where, { ...sealed, ...changes }, key)).toBeUndefined();
});

it('cannot be decrypted with another key', () => {
  const other = new Secret(Buffer.alloc(32, 2).toString('base64url'));
  expect(decryptSharedRecord(place, sealed, other)).toBeUndefined();
});
