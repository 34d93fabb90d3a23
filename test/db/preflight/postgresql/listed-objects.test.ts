import { expect, test } from 'vitest';
import { limitObjects, unlistedNote } from '../../../../src/db/preflight/postgresql/check.ts';

test('a list is cut after 20 objects, and the note counts the others', () => {
  const names = Array.from({ length: 22 }, (_, at) => at);
  expect(limitObjects(names)).toHaveLength(20);
  expect(unlistedNote(names)).toMatch(/\b2\b/);
  expect(unlistedNote(names.slice(0, 20))).toBe('');
});
