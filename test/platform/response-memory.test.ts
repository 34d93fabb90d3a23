import { expect, test } from 'vitest';
import { createDatabaseResponseMemoryLimit } from '../../src/platform/memory.ts';

const half = 40 * 2 ** 20;

test('a session whose responses are too large alone will not do better later', () => {
  const use = createDatabaseResponseMemoryLimit('statement').open();
  use.add(half);
  expect(() => use.add(half)).toThrow(expect.objectContaining({ code: 'PROTOCOL' }));
});

test('sessions that are too large together may succeed one after the other', () => {
  const memory = createDatabaseResponseMemoryLimit('session');
  const [first, second] = [memory.open(), memory.open()];
  first.add(half);
  expect(() => second.add(half)).toThrow(expect.objectContaining({ code: 'MEMORY' }));
  second.close();
  first.close();
  const third = memory.open();
  expect(() => third.add(half)).not.toThrow();
});

test.each([
  { kept: 'statement', nextStatement: true, nextSession: true },
  { kept: 'session', nextStatement: false, nextSession: true },
  { kept: 'always', nextStatement: false, nextSession: false },
] as const)('responses kept until: $kept', ({ kept, nextStatement, nextSession }) => {
  const succeeds = (work: () => void) => {
    try {
      work();
      return true;
    } catch {
      return false;
    }
  };
  const memory = createDatabaseResponseMemoryLimit(kept);
  const use = memory.open();
  use.add(half);
  use.nextStatement();
  expect(succeeds(() => use.add(half))).toBe(nextStatement);
  use.close();
  expect(succeeds(() => memory.open().add(half))).toBe(nextSession);
});
