import { expect, test } from 'vitest';
import { globalOptions, helpAndVersionOptions } from '../../src/cli/command-table.ts';

test('no two global options share a name', () => {
  const flags = [...globalOptions, ...helpAndVersionOptions].flatMap(({ name, short }) => [
    name,
    ...(short === undefined ? [] : [short]),
  ]);
  expect(new Set(flags).size).toBe(flags.length);
});

test('the choices of an option are told in its description', () => {
  for (const { choices = [], description } of globalOptions) {
    for (const choice of choices) expect(description).toContain(choice);
  }
});
