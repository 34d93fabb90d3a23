import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ObjectKind, SchemaObject } from '../../../../src/db/engine/schema/object.ts';
import { type Dependency, orderObjects } from '../../../../src/db/engine/schema/order.ts';

const part = (id: string, kind: ObjectKind = 'table', needs: readonly string[] = []): SchemaObject => ({
  id,
  kind,
  name: id,
  dependsOn: needs,
  requirements: [],
  statements: ['SELECT 1'],
});
const names = (
  parts: readonly SchemaObject[],
  dependencies: readonly Dependency[] = [],
  pieces: readonly Dependency[] = [],
) => {
  const result = orderObjects(parts, dependencies, pieces);
  return [result.kind, ...result.parts.map(({ id }) => id)];
};

describe('where nothing decides', () => {
  test('kinds come in their order, and names within a kind', () => {
    const parts = [part('f', 'foreign key'), part('b'), part('a'), part('t', 'type'), part('s', 'schema')];
    expect(names(parts)).toEqual(['ordered', 's', 't', 'a', 'b', 'f']);
  });
});

test('a part comes after what it needs, whatever its kind', () => {
  expect(names([part('function', 'function'), part('view', 'view')], [['function', 'view']])).toEqual([
    'ordered',
    'view',
    'function',
  ]);
});

test('who needs a piece needs the whole, however deep it lies', () => {
  const pieces: readonly Dependency[] = [
    ['array', 'row'],
    ['row', 'z table'],
  ];
  expect(names([part('a'), part('z table')], [['a', 'array']], pieces)).toEqual(['ordered', 'z table', 'a']);
});

test('what is no part is there already, and a part does not wait for itself', () => {
  const parts = [part('a', 'table', ['a', 'int4', 'piece'])];
  expect(names(parts, [['a', 'pg_proc:1']], [['piece', 'a']])).toEqual(['ordered', 'a']);
});

test('a circle is told with those in it and those that wait for it', () => {
  const dependencies: readonly Dependency[] = [
    ['a', 'b'],
    ['b', 'a'],
    ['c', 'a'],
  ];
  expect(names([part('a'), part('b'), part('c'), part('d')], dependencies)).toEqual(['circle', 'a', 'b', 'c']);
});

test('of any parts without a circle each comes once, after all it needs, and the order does not hang on how they came', () => {
  const schema = fc.integer({ min: 1, max: 40 }).chain((count) =>
    fc.record({
      count: fc.constant(count),
      edges: fc.array(fc.tuple(fc.nat(count - 1), fc.nat(count - 1)), { maxLength: 120 }),
      seed: fc.shuffledSubarray([...Array(count).keys()], { minLength: count }),
    }),
  );
  fc.assert(
    fc.property(schema, ({ count, edges, seed }) => {
      const dependencies = edges
        .filter(([one, other]) => one !== other)
        .map(([one, other]): Dependency => [`p${Math.max(one, other)}`, `p${Math.min(one, other)}`]);
      const parts = [...Array(count).keys()].map((at) => part(`p${at}`));
      const result = orderObjects(parts, dependencies, []);
      expect(result.kind).toBe('ordered');
      const at = new Map(result.parts.map(({ id }, index) => [id, index]));
      expect(at.size).toBe(count);
      for (const [from, to] of dependencies) expect(at.get(from)!).toBeGreaterThan(at.get(to)!);
      expect(
        orderObjects(
          seed.map((index) => parts[index]!),
          dependencies,
          [],
        ),
      ).toEqual(result);
    }),
  );
});
