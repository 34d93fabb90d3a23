import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import {
  addShareKey,
  createShareKeys,
  decodeShareKeys,
  encodeShareKeys,
  findShareKey,
  mergeShareKeys,
} from '../../src/shared-store/share-keys.ts';

const revealed = (keys: Parameters<typeof encodeShareKeys>[0]): string => encodeShareKeys(keys).reveal();

it('the text of the keys is decoded to the same keys, the newest first', () => {
  const first = createShareKeys(randomBytes);
  const second = addShareKey(first, randomBytes);
  const decoded = decodeShareKeys(`${revealed(second)}\n`);
  expect(decoded?.share).toBe(first.share);
  expect(decoded?.keys.map(({ kid }) => kid)).toEqual([second.keys[0].kid, first.keys[0].kid]);
  expect(String(encodeShareKeys(first))).toBe('[share key]');
});

it('keys of two texts are merged without doubles', () => {
  const first = createShareKeys(randomBytes);
  const second = addShareKey(first, randomBytes);
  expect(revealed(mergeShareKeys(second, first))).toBe(revealed(second));
  expect(findShareKey(second, first.keys[0].kid)).toBeDefined();
  expect(findShareKey(first, second.keys[0].kid)).toBeUndefined();
});

it.each(['', 'cloudctl-share-1', 'cloudctl-share-1.0123456789abcdef', 'cloudctl-share-2.0123456789abcdef.x:y'])(
  '%j is no text of keys',
  (text) => {
    expect(decodeShareKeys(text)).toBeUndefined();
  },
);

it('a text that was cut off is no text of keys', () => {
  expect(decodeShareKeys(revealed(createShareKeys(randomBytes)).slice(0, -1))).toBeUndefined();
});
