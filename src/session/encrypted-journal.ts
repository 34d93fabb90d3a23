import { isRecord, numberField, parseJson, stringField } from '../json.ts';
import { Secret } from '../secret.ts';

/** Line 1 of a write-ahead file. It is plain text without a secret, and is authenticated together with the encrypted body. */
export interface JournalHeader {
  readonly sid: string;
  /** The generation of the record that the response will create. */
  readonly gen: number;
  /** First 8 hexadecimal digits of the SHA-256 of the refresh token that was sent. */
  readonly fingerprint: string;
  /** Seconds since the epoch, before the request was sent. */
  readonly sentAt: number;
  readonly pid: number;
}

/** The content of a write-ahead file. */
export type DecryptedJournal =
  /** Neither zeros nor encrypted with this key: partly written, damaged, or of another session. */
  | { readonly kind: 'torn'; readonly head: JournalHeader | undefined }
  | { readonly kind: 'zeros'; readonly head: JournalHeader }
  | { readonly kind: 'opens'; readonly head: JournalHeader; readonly body: Secret };

const [nonceLength, tagLength] = [12, 16];

/** Bytes that the encryption adds to the body. */
export const encryptionOverhead = nonceLength + tagLength;

export function encodeJournalHeader(head: JournalHeader): string {
  const { sid, gen, fingerprint, sentAt, pid } = head;
  return `${JSON.stringify({ op: 'refresh', sid, gen, proof: fingerprint, t: sentAt, pid })}\n`;
}

export function refreshTokenFingerprint(refreshToken: Secret): string {
  return crypto().createHash('sha256').update(refreshToken.reveal()).digest('hex').slice(0, 8);
}

/** Whether the text is a key: 32 bytes as base64url. */
export function isJournalKey(key: Secret): boolean {
  return keyBytes(key).length === 32;
}

/**
 * Nonce, tag and ciphertext of the body (AES-256-GCM with the key of the session, line 1 as additional data). The body is
 * padded with zeros to `size` bytes in all, so that no length has to be stored and a partly written file does not decrypt.
 */
export function encryptJournal(head: string, key: Secret, body: string, size: number, nonce: Uint8Array): Buffer {
  const text = Buffer.from(body, 'utf8');
  const padding = Math.max(0, size - encryptionOverhead - text.length);
  const cipher = crypto().createCipheriv('aes-256-gcm', keyBytes(key), nonce);
  cipher.setAAD(Buffer.from(head, 'utf8'));
  const encrypted = Buffer.concat([cipher.update(text), cipher.update(Buffer.alloc(padding)), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), encrypted]);
}

export function decryptJournal(bytes: Buffer, key: Secret): DecryptedJournal {
  const end = bytes.indexOf('\n') + 1;
  const head = end === 0 ? undefined : decodeJournalHeader(bytes.toString('utf8', 0, end));
  const rest = bytes.subarray(end);
  if (head === undefined) return { kind: 'torn', head };
  if (rest.every((byte) => byte === 0)) return { kind: 'zeros', head };
  const body = decrypt(bytes.subarray(0, end), rest, key);
  return body === undefined ? { kind: 'torn', head } : { kind: 'opens', head, body };
}

function decodeJournalHeader(line: string): JournalHeader | undefined {
  const json = parseJson(line);
  if (!json.ok || !isRecord(json.value) || json.value.op !== 'refresh') return undefined;
  const fields = json.value;
  const [sid, proof] = [stringField(fields, 'sid'), stringField(fields, 'proof')];
  const [gen, at, pid] = [numberField(fields, 'gen'), numberField(fields, 't'), numberField(fields, 'pid')];
  if (sid === undefined || proof === undefined || gen === undefined || at === undefined || pid === undefined)
    return undefined;
  return { sid, gen, fingerprint: proof, sentAt: at, pid };
}

function decrypt(head: Buffer, encrypted: Buffer, key: Secret): Secret | undefined {
  if (encrypted.length <= encryptionOverhead || !isJournalKey(key)) return undefined;
  const decipher = crypto().createDecipheriv('aes-256-gcm', keyBytes(key), encrypted.subarray(0, nonceLength));
  decipher.setAAD(head);
  decipher.setAuthTag(encrypted.subarray(nonceLength, encryptionOverhead));
  try {
    const text = Buffer.concat([decipher.update(encrypted.subarray(encryptionOverhead)), decipher.final()]);
    return new Secret(text.toString('utf8').replace(/\0+$/, ''), '[response]');
  } catch {
    // The tag does not match: partly written or damaged.
    return undefined;
  }
}

function keyBytes(key: Secret): Buffer {
  return Buffer.from(key.reveal(), 'base64url');
}

/** Loaded on first use: only a refresh needs it, and loading takes a millisecond. */
function crypto() {
  return process.getBuiltinModule('node:crypto');
}
