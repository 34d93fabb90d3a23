import { expect, it } from 'vitest';
import { createFamiliar } from '../../src/api/familiar.ts';
import { none } from '../../src/api/json-scan.ts';

const object = (name: string): string => JSON.stringify({ name, text: 'x'.repeat(300) });

it('an object that was learned ends where it ended, wherever it stands', () => {
  const familiar = createFamiliar();
  const bytes = Buffer.from(`[${object('a')},${object('a')}]`);
  expect(familiar.endOf(bytes, 1)).toBe(none);
  familiar.learn(bytes, 1, 1 + object('a').length);
  // What comes later is another text in the same place.
  const other = Buffer.from(bytes);
  bytes.fill(0);
  expect(familiar.endOf(other, 2 + object('a').length)).toBe(other.length - 1);
});

it('an object that differs anywhere, or is cut off, is none', () => {
  const familiar = createFamiliar();
  const bytes = Buffer.from(object('a'));
  familiar.learn(bytes, 0, bytes.length);
  for (const at of [0, 100, bytes.length - 1]) {
    const other = Buffer.from(bytes);
    other[at] = 0x21;
    expect(familiar.endOf(other, 0)).toBe(none);
  }
  expect(familiar.endOf(bytes.subarray(0, -1), 0)).toBe(none);
});

it('the latest four are remembered, and no short ones', () => {
  const familiar = createFamiliar();
  const learn = (text: string): void => familiar.learn(Buffer.from(text), 0, text.length);
  const isKnown = (text: string): boolean => familiar.endOf(Buffer.from(text), 0) === text.length;
  for (const name of 'abcde') learn(object(name));
  learn('{"a":1}');
  expect([...'abcde'].map((name) => isKnown(object(name)))).toEqual([false, true, true, true, true]);
  expect(isKnown('{"a":1}')).toBe(false);
});
