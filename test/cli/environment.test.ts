import { expect, test } from 'vitest';
import { environment } from '../../src/cli/environment.ts';
import { globalOptions } from '../../src/cli/globals.ts';

test('every variable is listed once, with what it does', () => {
  const names = environment.flatMap(({ name }) => name.split(', '));
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(name).toMatch(/^[A-Z_]+$/);
  for (const { description } of environment) expect(description).not.toBe('');
});

test('a variable that stands for a global option names one that exists', () => {
  const options = globalOptions.map(({ name }) => `as --${name}`);
  const said = environment.map(({ description }) => description).filter((text) => /^as --[a-z-]+$/.test(text));
  expect(said).toContain('as --profile');
  for (const text of said) expect(options).toContain(text);
});
