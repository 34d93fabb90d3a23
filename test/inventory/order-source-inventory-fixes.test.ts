import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  orderSourceInventoryFixes,
  type SourceWithBlockers,
} from '../../src/inventory/order-source-inventory-fixes.ts';

const source = (server: string, ...blockedBy: string[]): SourceWithBlockers => ({ server, blockedBy, databases: [] });
const many = (count: number, server: string, ...ids: string[]) =>
  Array.from({ length: count }, () => source(server, ...ids));

it('begins with the fix that unblocks most, and counts what is possible after each step', () => {
  const blocked = [...many(7, 's1', 'b'), ...many(12, 's2', 'a'), ...many(3, 's3', 'a', 'b'), ...many(1, 's4', 'c')];
  expect(orderSourceInventoryFixes(blocked, 100)).toEqual([
    { ids: ['a'], unblocks: 12, possible_after: 112, databases: 0, servers: [{ server: 's2', sources: 12 }] },
    {
      ids: ['b'],
      unblocks: 10,
      possible_after: 122,
      databases: 0,
      servers: [
        { server: 's1', sources: 7 },
        { server: 's3', sources: 3 },
      ],
    },
    { ids: ['c'], unblocks: 1, possible_after: 123, databases: 0, servers: [{ server: 's4', sources: 1 }] },
  ]);
});

it('fixes that help only together are one step', () => {
  const blocked = [...many(10, 's', 'x', 'y'), ...many(2, 's', 'z')];
  expect(orderSourceInventoryFixes(blocked, 0).map(({ ids, unblocks }) => [ids, unblocks])).toEqual([
    [['x', 'y'], 10],
    [['z'], 2],
  ]);
});

it('each source becomes possible in exactly one step, in whatever order the sources are', () => {
  const blocked = fc.array(
    fc.record({
      server: fc.constantFrom('s1', 's2', 's3'),
      blockedBy: fc.subarray(['a', 'b', 'c', 'd', 'e'], { minLength: 1 }),
      databases: fc.constant([]),
    }),
    { maxLength: 40 },
  );
  fc.assert(
    fc.property(blocked, fc.func(fc.integer()), (all, rank) => {
      const steps = orderSourceInventoryFixes(all, 5);
      expect(steps.reduce((sum, { unblocks }) => sum + unblocks, 0)).toBe(all.length);
      expect(steps.at(-1)?.possible_after ?? 5).toBe(5 + all.length);
      const fixed = new Set<string>();
      for (const { ids, possible_after: after } of steps) {
        for (const id of ids) fixed.add(id);
        expect(after - 5).toBe(all.filter(({ blockedBy }) => blockedBy.every((id) => fixed.has(id))).length);
      }
      const shuffled = all.toSorted((a, b) => rank(a) - rank(b));
      expect(orderSourceInventoryFixes(shuffled, 5)).toEqual(steps);
    }),
  );
});

it('counts each database of a step once, however many sources lead to it', () => {
  const place = (id: string, key: string, count = 1) => ({ id, key, count });
  const blocked = [
    { ...source('s1', 'a', 'b'), databases: [place('a', 's1.x'), place('b', 's1.x'), place('b', 's1.y')] },
    { ...source('s1', 'a', 'b'), databases: [place('a', 's1.x'), place('b', 's1.y')] },
    { ...source('s2', 'c'), databases: [place('c', 's2.x'), place('c', 's2 and others', 30)] },
  ];
  expect(orderSourceInventoryFixes(blocked, 0).map(({ ids, databases }) => [ids, databases])).toEqual([
    [['a', 'b'], 2],
    [['c'], 31],
  ]);
});

it('ends after the last step that is wanted', () => {
  const blocked = Array.from({ length: 50 }, (_, at) => source('s', `id${at}`));
  expect(orderSourceInventoryFixes(blocked, 0, 3)).toHaveLength(3);
});
