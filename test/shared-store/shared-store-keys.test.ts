import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import {
  addSharedStoreKey,
  createSharedStoreKeys,
  decodeSharedStoreKeys,
  encodeSharedStoreKeys,
  findSharedStoreKey,
  mergeSharedStoreKeys,
} from '../../src/shared-store/shared-store-keys.ts';

const revealed = (keys: Parameters<typeof encodeSharedStoreKeys>[0]): string => encodeSharedStoreKeys(keys).reveal();

it('the text of the keys is decoded to the same keys, the newest first', () => {
  const first = createSharedStoreKeys(randomBytes);
  const second = addSharedStoreKey(first, randomBytes);
  const decoded = decodeSharedStoreKeys(`${revealed(second)}\n`);
  expect(decoded?.share).toBe(first.share);
  expect(decoded?.keys.map(({ kid }) => kid)).toEqual([second.keys[0].kid, first.keys[0].kid]);
  expect(String(encodeSharedStoreKeys(first))).toBe('[share key]');
});

it('keys of two texts are merged without doubles', () => {
  const first = createSharedStoreKeys(randomBytes);
  const second = addSharedStoreKey(first, randomBytes);
  expect(revealed(mergeSharedStoreKeys(second, first))).toBe(revealed(second));
  expect(findSharedStoreKey(second, first.keys[0].kid)).toBeDefined();
  expect(findSharedStoreKey(first, second.keys[0].kid)).toBeUndefined();
});

it('an old key file does not make an old key the newest one, and keys that two machines added are both in front', () => {
  const first = createSharedStoreKeys(randomBytes);
  const [second, third] = [addSharedStoreKey(first, randomBytes), addSharedStoreKey(first, randomBytes)];
  const kids = (keys: typeof first) => keys.keys.map(({ kid }) => kid);
  const [old, one, other] = [first.keys[0].kid, second.keys[0].kid, third.keys[0].kid];
  expect(kids(mergeSharedStoreKeys(first, second))).toEqual([one, old]);
  expect(kids(mergeSharedStoreKeys(third, second))).toEqual([other, one, old]);
  expect(kids(mergeSharedStoreKeys(first, mergeSharedStoreKeys(third, second)))).toEqual([other, one, old]);
  expect(kids(mergeSharedStoreKeys(createSharedStoreKeys(randomBytes), first))).toHaveLength(2);
});

it.each(['', 'cloudctl-share-1', 'cloudctl-share-1.0123456789abcdef', 'cloudctl-share-2.0123456789abcdef.x:y'])(
  '%j is no text of keys',
  (text) => {
    expect(decodeSharedStoreKeys(text)).toBeUndefined();
  },
);

it('a text that was cut off is no text of keys', () => {
  expect(decodeSharedStoreKeys(revealed(createSharedStoreKeys(randomBytes)).slice(0, -1))).toBeUndefined();
});
