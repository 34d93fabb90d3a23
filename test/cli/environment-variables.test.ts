import { expect, test } from 'vitest';
import { environmentVariableSpecs } from '../../src/cli/command.ts';
import { globalOptions } from '../../src/cli/command-table.ts';

test('every variable is listed once, with what it does', () => {
  const names = environmentVariableSpecs.flatMap(({ name }) => name.split(', '));
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(name).toMatch(/^[A-Z_]+$/);
  for (const { description } of environmentVariableSpecs) expect(description).not.toBe('');
});

test('a variable that stands for a global option names one that exists', () => {
  const options = globalOptions.map(({ name }) => `same as --${name}`);
  const said = environmentVariableSpecs
    .filter(({ commands }) => commands === undefined)
    .map(({ description }) => description)
    .filter((text) => /^same as --[a-z-]+$/.test(text));
  expect(said).toContain('same as --profile');
  for (const text of said) expect(options).toContain(text);
});
