import { expect, test } from 'vitest';
import { compileJmespath } from '../../src/cli/jmespath-query.ts';
import { createOutputFieldSelector } from '../../src/cli/output-field-selector.ts';

const rows = [
  { id: 1, name: 'a', tags: ['x'] },
  { id: 2, name: 'b' },
];

test('the fields of a list or of one object, null where one is absent', () => {
  const query = createOutputFieldSelector(['name', 'tags'], undefined);
  expect(query(rows)).toEqual([
    { name: 'a', tags: ['x'] },
    { name: 'b', tags: null },
  ]);
  expect(query(rows[0])).toEqual({ name: 'a', tags: ['x'] });
  expect(query([])).toEqual([]);
  expect(query.isItemwise).toBe(true);
});

test('a field that no object has is an error, also one of the prototype', () => {
  for (const field of ['color', 'constructor', '__proto__', ''])
    expect(() => createOutputFieldSelector(['id', field], undefined)(rows)).toThrowError(
      expect.objectContaining({ code: 'usage', exitCode: 2 }),
    );
});

test('--query is applied first', async () => {
  const query = createOutputFieldSelector(['id'], await compileJmespath("[?name=='b']"));
  expect(query(rows)).toEqual([{ id: 2 }]);
});
