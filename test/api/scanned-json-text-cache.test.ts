import { expect, it } from 'vitest';
import { noJsonValue } from '../../src/api/json-value-end-finder.ts';
import { createScannedJsonTextCache } from '../../src/api/scanned-json-text-cache.ts';

const object = (name: string): string => JSON.stringify({ name, text: 'x'.repeat(300) });

it('an object that was learned ends where it ended, wherever it stands', () => {
  const familiar = createScannedJsonTextCache();
  const bytes = Buffer.from(`[${object('a')},${object('a')}]`);
  expect(familiar.matchEnd(bytes, 1)).toBe(noJsonValue);
  familiar.remember(bytes, 1, 1 + object('a').length);
  // What comes later is another text in the same place.
  const other = Buffer.from(bytes);
  bytes.fill(0);
  expect(familiar.matchEnd(other, 2 + object('a').length)).toBe(other.length - 1);
});

it('an object that differs anywhere, or is cut off, is none', () => {
  const familiar = createScannedJsonTextCache();
  const bytes = Buffer.from(object('a'));
  familiar.remember(bytes, 0, bytes.length);
  for (const at of [0, 100, bytes.length - 1]) {
    const other = Buffer.from(bytes);
    other[at] = 0x21;
    expect(familiar.matchEnd(other, 0)).toBe(noJsonValue);
  }
  expect(familiar.matchEnd(bytes.subarray(0, -1), 0)).toBe(noJsonValue);
});

it('the latest four are remembered, and no short ones', () => {
  const familiar = createScannedJsonTextCache();
  const learn = (text: string): void => familiar.remember(Buffer.from(text), 0, text.length);
  const isKnown = (text: string): boolean => familiar.matchEnd(Buffer.from(text), 0) === text.length;
  for (const name of 'abcde') learn(object(name));
  learn('{"a":1}');
  expect([...'abcde'].map((name) => isKnown(object(name)))).toEqual([false, true, true, true, true]);
  expect(isKnown('{"a":1}')).toBe(false);
});
