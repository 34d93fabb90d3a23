import { Secret } from '../base/secret.ts';
import type { EncryptedSharedSession, SharedSessionEntryKey } from './shared-session.ts';

const [nonceLength, tagLength] = [12, 16];

/**
 * Encrypts a record with AES-256-GCM and a new nonce; the result is nonce, tag and ciphertext in base64. The additional data
 * binds the ciphertext to share, profile, epoch, session, generation and key, so the store can delete, delay or repeat a
 * record, but not read it or store it under another version.
 */
export function encryptSharedRecord(
  place: SharedSessionEntryKey,
  version: Omit<EncryptedSharedSession, 'record'>,
  key: Secret,
  text: Secret,
  random: (bytes: number) => Uint8Array,
): string {
  const nonce = random(nonceLength);
  const cipher = crypto().createCipheriv('aes-256-gcm', deriveKey(place, key), nonce);
  cipher.setAAD(additionalData(place, version));
  const encrypted = Buffer.concat([cipher.update(Buffer.from(text.reveal(), 'utf8')), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), encrypted]).toString('base64');
}

/** Decrypts a record; undefined when it was damaged, forged, or stored under another version than it was encrypted for. */
export function decryptSharedRecord(
  place: SharedSessionEntryKey,
  sealed: EncryptedSharedSession,
  key: Secret,
): Secret | undefined {
  const bytes = Buffer.from(sealed.record, 'base64');
  if (bytes.length <= nonceLength + tagLength) return undefined;
  const decipher = crypto().createDecipheriv('aes-256-gcm', deriveKey(place, key), bytes.subarray(0, nonceLength));
  decipher.setAAD(additionalData(place, sealed));
  decipher.setAuthTag(bytes.subarray(nonceLength, nonceLength + tagLength));
  try {
    const text = Buffer.concat([decipher.update(bytes.subarray(nonceLength + tagLength)), decipher.final()]);
    return new Secret(text.toString('utf8'), '[session]');
  } catch {
    // The authentication tag does not match.
    return undefined;
  }
}

/**
 * Derives a key for each profile (HKDF, RFC 5869), so that a record of one profile cannot be decrypted as a record of
 * another profile.
 */
function deriveKey({ share, profile }: SharedSessionEntryKey, key: Secret): Buffer {
  const bytes = Buffer.from(key.reveal(), 'base64url');
  return Buffer.from(crypto().hkdfSync('sha256', bytes, share, `cloudctl session ${profile}`, 32));
}

function additionalData(
  { share, profile }: SharedSessionEntryKey,
  { epoch, gen, sid, kid }: Omit<EncryptedSharedSession, 'record'>,
): Buffer {
  return Buffer.from(JSON.stringify(['cloudctl-session-1', share, profile, epoch, gen, sid, kid]), 'utf8');
}

/** The encryption module is loaded on first use, because loading it takes a millisecond. */
function crypto() {
  return process.getBuiltinModule('node:crypto');
}
