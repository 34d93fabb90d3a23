import { expect, test } from 'vitest';
import { compileJmespath, createOutputFieldSelector } from '../../src/cli/query.ts';

import { errorText } from '../fixtures/error-text.ts';
import { expectGolden } from '../fixtures/golden.ts';

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

const spec = {
  fields: ['id', 'name', 'created_at', 'tags', 'tag_names'],
  columns: [{ name: 'Name' }, { name: 'PublicIPv4' }],
};

test.each([
  ['Name', 'name'],
  ['NAME', 'name'],
  ['createdAt', 'created_at'],
  ['created-at', 'created_at'],
  ['CREATED_AT', 'created_at'],
  ['tagNames', 'tag_names'],
])('%s is the field %s, with and without known fields', (typed, field) => {
  const row: Record<string, unknown> = { id: 1, name: 'a', created_at: 'b', tag_names: 'c' };
  for (const known of [spec, {}]) {
    const query = createOutputFieldSelector([typed], undefined, known);
    expect(query([row])).toEqual([{ [field]: row[field] }]);
  }
  expect(createOutputFieldSelector([typed], undefined, spec).emptyColumns).toEqual([field]);
});

test('a field that several fields may be is unknown, unless one is the same', () => {
  const row = { Name: 1, name: 2 };
  expect(() => createOutputFieldSelector(['NAME'], undefined)([row])).toThrowError();
  expect(createOutputFieldSelector(['Name'], undefined)([row])).toEqual([{ Name: 1 }]);
});

test('an unknown field of a command is an error before the data, with the nearest field or the column', () => {
  const errors = ['nmae', 'publicipv4', 'colour', 'x\u200b', ''].map((field) => {
    try {
      createOutputFieldSelector(['id', field], undefined, spec);
      return undefined;
    } catch (error) {
      return error;
    }
  });
  expectGolden('errors', errors.map(errorText).join('\n\n'));
});

test('a known field that no object has is null, so that the result does not depend on the rows', () => {
  const query = createOutputFieldSelector(['id', 'tags'], undefined, spec);
  expect(query([{ id: 1 }])).toEqual([{ id: 1, tags: null }]);
});

test('with --query the fields are those of its result', async () => {
  const query = createOutputFieldSelector(['n'], await compileJmespath('[].{n: name}'), spec);
  expect(query(rows)).toEqual([{ n: 'a' }, { n: 'b' }]);
  expect(() => createOutputFieldSelector([''], undefined)).toThrowError(expect.objectContaining({ code: 'usage' }));
});
