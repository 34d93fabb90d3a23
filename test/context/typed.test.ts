import { expect, it } from 'vitest';
import { globalOptions as specs } from '../../src/cli/globals.ts';
import { wordsOf } from '../../src/cli/words.ts';
import { DamagedConfig } from '../../src/config/file.ts';
import type { Settings } from '../../src/config/settings.ts';
import { formatOf, globalOptions } from '../../src/context/typed.ts';

function typed(given: Readonly<Record<string, string>> = {}) {
  return wordsOf([], specs, new Map(Object.entries(given).map(([name, value]) => [name, [value]])));
}

function settings(values: Settings['values'] = {}): Settings {
  return {
    profileName: 'default',
    profileKnown: false,
    profileNamed: false,
    values,
    clientSecret: undefined,
    accessToken: undefined,
  };
}

it('addresses typed as options stand for those of the profile', () => {
  expect(globalOptions(typed())).toEqual({});
  expect(globalOptions(typed({ 'auth-url': 'a', 'base-url': 'b' }))).toEqual({
    auth_url: { option: '--auth-url', text: 'a' },
    base_url: { option: '--base-url', text: 'b' },
  });
});

it('the format is that of the option, else of the settings, else a table', () => {
  expect(formatOf(typed({ output: 'csv' }), () => settings({ output: 'json' }))).toBe('csv');
  expect(formatOf(typed(), () => settings({ output: 'json' }))).toBe('json');
  expect(formatOf(typed(), () => settings())).toBe('table');
});

it('a damaged config does not stop a command that needs none; any other trouble does', () => {
  const fail = (error: Error) => () => {
    throw error;
  };
  expect(formatOf(typed(), fail(new DamagedConfig('/x', '', [])))).toBe('table');
  expect(() => formatOf(typed(), fail(new Error('bug')))).toThrow('bug');
});
