import { Secret } from '../base/secret.ts';
import { decryptSharedRecord, encryptSharedRecord } from '../shared-store/sealed-record.ts';
import { type ShareEncryptionKeys, selectShareEncryptionKeyById } from '../shared-store/share-encryption-keys.ts';
import type { EncryptedSharedSession, SharedSessionVersion } from '../shared-store/shared-session.ts';
import { type CredentialRecord, decodeCredentialRecord, encodeCredentialRecord } from './credential-record.ts';

/** A record of the shared store after decryption. */
export type DecryptedSharedSession =
  | { readonly kind: 'record'; readonly record: CredentialRecord }
  /** A logout on one of the machines ended the session. */
  | { readonly kind: 'tombstone' }
  | { readonly kind: 'unknown_key'; readonly isKeyFromVariable?: boolean | undefined }
  /** Damaged, forged, or moved from another version; or written by a newer version of the program. */
  | { readonly kind: 'damaged' };

/** Encrypts and decrypts the records of one profile with the keys of the share. */
export interface SharedSessionEncryptor {
  /** @param kid the id of the encryption key; the newest key is used if this machine does not have that key */
  seal(version: SharedSessionVersion, record: CredentialRecord | 'tombstone', kid?: string): EncryptedSharedSession;
  /** The id of the newest of these keys that this machine has. */
  findNewestKid(kids: readonly (string | undefined)[]): string | undefined;
  open(sealed: EncryptedSharedSession): DecryptedSharedSession;
}

export function createSharedSessionEncryptor(
  keys: ShareEncryptionKeys,
  profile: string,
  random: (bytes: number) => Uint8Array,
): SharedSessionEncryptor {
  const place = { share: keys.share, profile };
  return {
    findNewestKid: (kids) => keys.keys.find(({ kid }) => kids.includes(kid))?.kid,
    seal({ epoch, sid, gen }, record, wanted) {
      const active = keys.keys.find(({ kid }) => kid === wanted) ?? keys.keys[0];
      const text = record === 'tombstone' ? tombstone : encodeCredentialRecord({ ...record, epoch });
      const version = { epoch, sid, gen, kid: active.kid };
      return { ...version, record: encryptSharedRecord(place, version, active.key, text, random) };
    },
    open(sealed) {
      const key = selectShareEncryptionKeyById(keys, sealed.kid);
      if (key === undefined) return { kind: 'unknown_key', isKeyFromVariable: keys.isFromVariable };
      const text = decryptSharedRecord(place, sealed, key)?.reveal();
      if (text === undefined) return { kind: 'damaged' };
      if (text === tombstone.reveal()) return { kind: 'tombstone' };
      const record = decodeCredentialRecord(text);
      return record === undefined
        ? { kind: 'damaged' }
        : { kind: 'record', record: { ...record, epoch: sealed.epoch } };
    },
  };
}

/** Whether the record was decrypted with a key of the share, so that a machine of the share has written it. */
export function isReadableSharedSession(
  opened: DecryptedSharedSession | undefined,
): opened is Extract<DecryptedSharedSession, { kind: 'record' | 'tombstone' }> {
  return opened?.kind === 'record' || opened?.kind === 'tombstone';
}

const tombstone = new Secret('logout', '[tombstone]');
