import { expect, test } from 'vitest';
import { firstListedObjects, unlistedNote } from '../../../src/preflight/postgresql/object-list.ts';

test('a list is cut after 20 objects, and the note counts the others', () => {
  const names = Array.from({ length: 22 }, (_, at) => at);
  expect(firstListedObjects(names)).toHaveLength(20);
  expect(unlistedNote(names)).toMatch(/\b2\b/);
  expect(unlistedNote(names.slice(0, 20))).toBe('');
});
