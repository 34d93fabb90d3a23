import { expect, test } from 'vitest';
import { buildUnlistedObjectsNote, limitFindingObjects } from '../../../../src/db/preflight/postgresql/check.ts';

test('a list is cut after 20 objects, and the note counts the others', () => {
  const names = Array.from({ length: 22 }, (_, at) => at);
  expect(limitFindingObjects(names)).toHaveLength(20);
  expect(buildUnlistedObjectsNote(names)).toMatch(/\b2\b/);
  expect(buildUnlistedObjectsNote(names.slice(0, 20))).toBe('');
});
