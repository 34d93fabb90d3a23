import { isRecord, numberField, parseJson, stringField } from '../json.ts';
import { Secret } from '../secret.ts';

/** Line 1 of a write-ahead file: plain, no secret in it, and bound to what is sealed behind it. */
export interface JournalHeader {
  readonly sid: string;
  /** The generation the answer will be. */
  readonly gen: number;
  /** First 8 hexadecimal digits of the SHA-256 of the refresh token that was sent. */
  readonly fingerprint: string;
  /** Seconds since the epoch, before the request was sent. */
  readonly sentAt: number;
  readonly pid: number;
}

/** What a write-ahead file holds, as far as a seal can tell. */
export type DecryptedJournal =
  /** Neither zeros nor sealed by this seal: half written, damaged, or somebody else's. */
  | { readonly kind: 'torn'; readonly head: JournalHeader | undefined }
  | { readonly kind: 'zeros'; readonly head: JournalHeader }
  | { readonly kind: 'opens'; readonly head: JournalHeader; readonly body: Secret };

const [nonceLength, tagLength] = [12, 16];

/** Bytes a seal needs besides the body. */
export const encryptionOverhead = nonceLength + tagLength;

export function encodeJournalHeader(head: JournalHeader): string {
  const { sid, gen, fingerprint: proof, sentAt: at, pid } = head;
  return `${JSON.stringify({ op: 'refresh', sid, gen, proof, t: at, pid })}\n`;
}

export function refreshTokenFingerprint(refreshToken: Secret): string {
  return crypto().createHash('sha256').update(refreshToken.reveal()).digest('hex').slice(0, 8);
}

/** The key of a session: 32 bytes as base64url. */
export function isJournalKey(seal: Secret): boolean {
  return keyBytes(seal).length === 32;
}

/**
 * Nonce, tag and ciphertext (AES-256-GCM under the session's seal, line 1 as additional data) of the body and zeros up to
 * `room` bytes in all: no length has to be kept, and a part of it never opens.
 */
export function encryptJournal(head: string, key: Secret, body: string, room: number, nonce: Uint8Array): Buffer {
  const text = Buffer.from(body, 'utf8');
  const padding = Math.max(0, room - encryptionOverhead - text.length);
  const cipher = crypto().createCipheriv('aes-256-gcm', keyBytes(key), nonce);
  cipher.setAAD(Buffer.from(head, 'utf8'));
  const sealed = Buffer.concat([cipher.update(text), cipher.update(Buffer.alloc(padding)), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
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

function decrypt(head: Buffer, sealed: Buffer, key: Secret): Secret | undefined {
  if (sealed.length <= encryptionOverhead || !isJournalKey(key)) return undefined;
  const decipher = crypto().createDecipheriv('aes-256-gcm', keyBytes(key), sealed.subarray(0, nonceLength));
  decipher.setAAD(head);
  decipher.setAuthTag(sealed.subarray(nonceLength, encryptionOverhead));
  try {
    const text = Buffer.concat([decipher.update(sealed.subarray(encryptionOverhead)), decipher.final()]);
    return new Secret(text.toString('utf8').replace(/\0+$/, ''), '[answer]');
  } catch {
    // The tag does not fit: how much of it was written does not matter.
    return undefined;
  }
}

function keyBytes(seal: Secret): Buffer {
  return Buffer.from(seal.reveal(), 'base64url');
}

/** Only a refresh needs it: loading it costs every other command a millisecond. */
function crypto() {
  return process.getBuiltinModule('node:crypto');
}
