import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import {
  addShareEncryptionKey,
  decodeShareEncryptionKeys,
  encodeShareEncryptionKeys,
  generateShareEncryptionKeys,
  mergeShareEncryptionKeys,
  selectShareEncryptionKeyById,
} from '../../src/shared-store/share-encryption-keys.ts';

const revealed = (keys: Parameters<typeof encodeShareEncryptionKeys>[0]): string =>
  encodeShareEncryptionKeys(keys).reveal();

it('the text of the keys is decoded to the same keys, the newest first', () => {
  const first = generateShareEncryptionKeys(randomBytes);
  const second = addShareEncryptionKey(first, randomBytes);
  const decoded = decodeShareEncryptionKeys(`${revealed(second)}\n`);
  expect(decoded?.share).toBe(first.share);
  expect(decoded?.keys.map(({ kid }) => kid)).toEqual([second.keys[0].kid, first.keys[0].kid]);
  expect(String(encodeShareEncryptionKeys(first))).toBe('[share key]');
});

it('keys of two texts are merged without doubles', () => {
  const first = generateShareEncryptionKeys(randomBytes);
  const second = addShareEncryptionKey(first, randomBytes);
  expect(revealed(mergeShareEncryptionKeys(second, first))).toBe(revealed(second));
  expect(selectShareEncryptionKeyById(second, first.keys[0].kid)).toBeDefined();
  expect(selectShareEncryptionKeyById(first, second.keys[0].kid)).toBeUndefined();
});

it('an old key file does not make an old key the newest one, and keys that two machines added are both in front', () => {
  const first = generateShareEncryptionKeys(randomBytes);
  const [second, third] = [addShareEncryptionKey(first, randomBytes), addShareEncryptionKey(first, randomBytes)];
  const kids = (keys: typeof first) => keys.keys.map(({ kid }) => kid);
  const [old, one, other] = [first.keys[0].kid, second.keys[0].kid, third.keys[0].kid];
  expect(kids(mergeShareEncryptionKeys(first, second))).toEqual([one, old]);
  expect(kids(mergeShareEncryptionKeys(third, second))).toEqual([other, one, old]);
  expect(kids(mergeShareEncryptionKeys(first, mergeShareEncryptionKeys(third, second)))).toEqual([other, one, old]);
  expect(kids(mergeShareEncryptionKeys(generateShareEncryptionKeys(randomBytes), first))).toHaveLength(2);
});

it.each(['', 'cloudctl-share-1', 'cloudctl-share-1.0123456789abcdef', 'cloudctl-share-2.0123456789abcdef.x:y'])(
  '%j is no text of keys',
  (text) => {
    expect(decodeShareEncryptionKeys(text)).toBeUndefined();
  },
);

it('a text that was cut off is no text of keys', () => {
  expect(decodeShareEncryptionKeys(revealed(generateShareEncryptionKeys(randomBytes)).slice(0, -1))).toBeUndefined();
});
