import { isJsonRecord, readNumberField, readStringField, tryParseJson } from '../../base/json.ts';
import { Secret } from '../../base/secret.ts';

/**
 * The first line of a write-ahead file. The first line is plain text without secrets; the encryption of the body also
 * authenticates this line.
 */
export interface RefreshJournalHeader {
  readonly sid: string;
  /** The generation of the record that the response to the refresh will create. */
  readonly gen: number;
  /** The first 8 hexadecimal digits of the SHA-256 hash of the refresh token that was sent. */
  readonly fingerprint: string;
  /** The time before the refresh request was sent, in seconds since the epoch. */
  readonly sentAt: number;
  readonly pid: number;
}

/** The content of a write-ahead file. */
export type DecryptedRefreshJournal =
  /**
   * The body is neither zero bytes nor encrypted with the key of the session, so it is partly written, damaged, or belongs to
   * another session.
   */
  | { readonly kind: 'torn'; readonly head: RefreshJournalHeader | undefined }
  | { readonly kind: 'zeros'; readonly head: RefreshJournalHeader }
  | { readonly kind: 'opens'; readonly head: RefreshJournalHeader; readonly body: Secret };

const [nonceLength, tagLength] = [12, 16];

/** Number of bytes that the encryption adds to the body of a write-ahead file. */
export const refreshJournalEncryptionOverhead = nonceLength + tagLength;

export function encodeRefreshJournalHeader(head: RefreshJournalHeader): string {
  const { sid, gen, fingerprint, sentAt, pid } = head;
  return `${JSON.stringify({ op: 'refresh', sid, gen, proof: fingerprint, t: sentAt, pid })}\n`;
}

export function refreshTokenFingerprint(refreshToken: Secret): string {
  return crypto().createHash('sha256').update(refreshToken.reveal()).digest('hex').slice(0, 8);
}

/** Whether the text is a valid key: 32 bytes in base64url. */
export function isValidRefreshJournalKey(key: Secret): boolean {
  return keyBytes(key).length === 32;
}

/**
 * Encrypts the body of a write-ahead file with AES-256-GCM and the key of the session; the result is nonce, tag and ciphertext,
 * and the first line is the additional data. The body is padded with zero bytes to a total length of `size`, so that no length
 * has to be stored and a partly written file cannot be decrypted.
 */
export function encryptRefreshJournal(
  head: string,
  key: Secret,
  body: string,
  size: number,
  nonce: Uint8Array,
): Buffer {
  const text = Buffer.from(body, 'utf8');
  const padding = Math.max(0, size - refreshJournalEncryptionOverhead - text.length);
  const cipher = crypto().createCipheriv('aes-256-gcm', keyBytes(key), nonce);
  cipher.setAAD(Buffer.from(head, 'utf8'));
  const encrypted = Buffer.concat([cipher.update(text), cipher.update(Buffer.alloc(padding)), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), encrypted]);
}

export function decryptRefreshJournal(bytes: Buffer, key: Secret): DecryptedRefreshJournal {
  const end = bytes.indexOf('\n') + 1;
  const head = end === 0 ? undefined : decodeJournalHeader(bytes.toString('utf8', 0, end));
  const rest = bytes.subarray(end);
  if (head === undefined) return { kind: 'torn', head };
  if (rest.every((byte) => byte === 0)) return { kind: 'zeros', head };
  const body = decrypt(bytes.subarray(0, end), rest, key);
  return body === undefined ? { kind: 'torn', head } : { kind: 'opens', head, body };
}

function decodeJournalHeader(line: string): RefreshJournalHeader | undefined {
  const json = tryParseJson(line);
  if (!json.ok || !isJsonRecord(json.value) || json.value.op !== 'refresh') return undefined;
  const fields = json.value;
  const [sid, proof] = [readStringField(fields, 'sid'), readStringField(fields, 'proof')];
  const [gen, at, pid] = [readNumberField(fields, 'gen'), readNumberField(fields, 't'), readNumberField(fields, 'pid')];
  if (sid === undefined || proof === undefined || gen === undefined || at === undefined || pid === undefined)
    return undefined;
  return { sid, gen, fingerprint: proof, sentAt: at, pid };
}

function decrypt(head: Buffer, encrypted: Buffer, key: Secret): Secret | undefined {
  if (encrypted.length <= refreshJournalEncryptionOverhead || !isValidRefreshJournalKey(key)) return undefined;
  const decipher = crypto().createDecipheriv('aes-256-gcm', keyBytes(key), encrypted.subarray(0, nonceLength));
  decipher.setAAD(head);
  decipher.setAuthTag(encrypted.subarray(nonceLength, refreshJournalEncryptionOverhead));
  try {
    const text = Buffer.concat([
      decipher.update(encrypted.subarray(refreshJournalEncryptionOverhead)),
      decipher.final(),
    ]);
    return new Secret(text.toString('utf8').replace(/\0+$/, ''), '[response]');
  } catch {
    // The authentication tag does not match because the file is partly written or damaged.
    return undefined;
  }
}

function keyBytes(key: Secret): Buffer {
  return Buffer.from(key.reveal(), 'base64url');
}

/** The encryption module is loaded on first use, because only a refresh needs it and loading it takes a millisecond. */
function crypto() {
  return process.getBuiltinModule('node:crypto');
}
