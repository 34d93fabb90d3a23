import { expect, it } from 'vitest';
import { createArgs } from '../../src/cli/command.ts';
import { globalOptions as specs } from '../../src/cli/command-table.ts';
import { DamagedConfigError } from '../../src/config/config-file.ts';
import type { ProfileSettings } from '../../src/config/settings.ts';
import { globalSettings, resolveFormat } from '../../src/context/globals.ts';
import { profileNamed } from '../fixtures/profile.ts';

function typed(given: Readonly<Record<string, string>> = {}) {
  return createArgs([], specs, new Map(Object.entries(given).map(([name, value]) => [name, [value]])));
}

function settings(values: ProfileSettings['values'] = {}): ProfileSettings {
  return {
    profileName: 'default',
    profile: profileNamed('default'),
    isProfileStored: false,
    isProfileNamed: false,
    values,
    clientSecret: undefined,
    accessToken: undefined,
    isAccessTokenIgnored: false,
    storedBaseUrl: undefined,
  };
}

it('URLs given as options override those of the profile', () => {
  expect(globalSettings(typed())).toEqual({});
  expect(globalSettings(typed({ 'auth-url': 'a', 'base-url': 'b' }))).toEqual({
    auth_url: { option: '--auth-url', text: 'a' },
    base_url: { option: '--base-url', text: 'b' },
  });
});

it('the format is that of the option, else of the settings, else a table', () => {
  expect(resolveFormat(typed({ output: 'csv' }), () => settings({ output: 'json' }))).toBe('csv');
  expect(resolveFormat(typed(), () => settings({ output: 'json' }))).toBe('json');
  expect(resolveFormat(typed(), () => settings())).toBe('table');
});

it('a damaged config does not stop a command that needs none; any other trouble does', () => {
  const fail = (error: Error) => () => {
    throw error;
  };
  expect(resolveFormat(typed(), fail(new DamagedConfigError('/x', '', [])))).toBe('table');
  expect(() => resolveFormat(typed(), fail(new Error('bug')))).toThrow('bug');
});
