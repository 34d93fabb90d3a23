import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  decryptRefreshJournal,
  encodeRefreshJournalHeader,
  encryptRefreshJournal,
  isValidRefreshJournalKey,
  type RefreshJournalHeader,
  refreshJournalEncryptionOverhead,
  refreshTokenFingerprint,
} from '../../../src/auth/session/encrypted-journal.ts';
import { Secret } from '../../../src/base/secret.ts';

const key = new Secret(randomBytes(32).toString('base64url'));
const head: RefreshJournalHeader = {
  sid: '0123456789abcdef',
  gen: 2,
  fingerprint: 'cafe0123',
  sentAt: 1_767_225_600,
  pid: 4711,
};
const line = encodeRefreshJournalHeader(head);
const body = '{"access_token":"hunter2","token_type":"bearer"}\n';
const room = 256;

function file(text = body, size = room): Buffer {
  return Buffer.concat([Buffer.from(line), encryptRefreshJournal(line, key, text, size, randomBytes(12))]);
}

describe('a sealed answer', () => {
  it('opens by the seal of its session and is the body to the byte', () => {
    const opened = decryptRefreshJournal(file(), key);
    expect(opened).toMatchObject({ kind: 'opens', head });
    expect(opened.kind === 'opens' && opened.body.reveal()).toBe(body);
  });

  it('fills its room exactly, so that its length says nothing', () => {
    for (const text of ['', 'x', body])
      expect(encryptRefreshJournal(line, key, text, room, randomBytes(12))).toHaveLength(room);
  });

  it.each([room - refreshJournalEncryptionOverhead, room - refreshJournalEncryptionOverhead + 1, 10_000])(
    'of %d bytes is whole, within its room or beyond',
    (size) => {
      const opened = decryptRefreshJournal(file('é'.repeat(size / 2)), key);
      expect(opened.kind === 'opens' && opened.body.reveal()).toBe('é'.repeat(size / 2));
    },
  );

  it('has no secret in line 1, and none that can be read behind it', () => {
    expect(line).toBe(
      '{"op":"refresh","sid":"0123456789abcdef","gen":2,"proof":"cafe0123","t":1767225600,"pid":4711}\n',
    );
    expect(file().toString('latin1')).not.toContain('hunter2');
    expect(refreshTokenFingerprint(new Secret('hunter2'))).toMatch(/^[0-9a-f]{8}$/);
    expect(JSON.stringify(decryptRefreshJournal(file(), key))).not.toContain('hunter2');
  });

  it('does not open by another seal, nor by one that is no key', () => {
    const other = new Secret(randomBytes(32).toString('base64url'));
    expect(decryptRefreshJournal(file(), other)).toEqual({ kind: 'torn', head });
    expect(decryptRefreshJournal(file(), new Secret('short'))).toEqual({ kind: 'torn', head });
    expect([isValidRefreshJournalKey(key), isValidRefreshJournalKey(new Secret('short'))]).toEqual([true, false]);
  });

  it('does not open behind another line 1', () => {
    const text = file().subarray(line.length);
    for (const changed of [
      { gen: 3 },
      { sid: 'fedcba9876543210' },
      { sentAt: 1 },
      { pid: 1 },
      { fingerprint: '00000000' },
    ]) {
      const other = encodeRefreshJournalHeader({ ...head, ...changed });
      expect(decryptRefreshJournal(Buffer.concat([Buffer.from(other), text]), key).kind).toBe('torn');
    }
  });
});

describe('a file that is not whole', () => {
  const whole = file();

  it('torn at any byte of the write is never opened, whatever was there before', () => {
    for (let length = line.length; length < whole.length; length++) {
      const rest = Buffer.alloc(whole.length - length);
      const torn = Buffer.concat([whole.subarray(0, length), rest]);
      // The last bytes may happen to be zeros: then nothing is missing.
      if (!torn.equals(whole))
        expect(decryptRefreshJournal(torn, key).kind).toBe(length === line.length ? 'zeros' : 'torn');
    }
  });

  it('cut off at any byte is never opened', () => {
    for (let length = 0; length < whole.length; length++) {
      expect(decryptRefreshJournal(whole.subarray(0, length), key).kind).not.toBe('opens');
    }
  });

  it('with any bit flipped is never opened', () => {
    for (let at = 0; at < whole.length; at++) {
      for (const bit of [1, 128]) {
        const flipped = Buffer.from(whole);
        flipped[at] = (flipped[at] ?? 0) ^ bit;
        expect(decryptRefreshJournal(flipped, key).kind).toBe('torn');
      }
    }
  });

  it.each([
    ['nothing', ''],
    ['no line', '{"op":"refresh"'],
    ['a line of something else', line.replace('refresh', 'login')],
    ['a line that is no object', 'null\n'],
    ['a line that lacks a part', '{"op":"refresh","sid":"0123456789abcdef","gen":2}\n'],
    ['no JSON', 'hello\n'],
  ])('of %s is torn', (_what, text) => {
    expect(decryptRefreshJournal(Buffer.from(text), key)).toEqual({ kind: 'torn', head: undefined });
  });

  it('of zeros is one to which no answer came', () => {
    expect(decryptRefreshJournal(Buffer.concat([Buffer.from(line), Buffer.alloc(room)]), key)).toEqual({
      kind: 'zeros',
      head,
    });
  });
});
