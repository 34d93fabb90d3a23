import { expect, it } from 'vitest';
import { createParsedArgs } from '../../src/cli/command.ts';
import { globalOptions as specs } from '../../src/cli/command-table.ts';
import { DamagedConfigError } from '../../src/config/config-file.ts';
import type { ResolvedProfileSettings } from '../../src/config/settings.ts';
import { readGlobalSettingsFromOptions, resolveOutputFormat } from '../../src/context/global-overrides.ts';
import { profileNamed } from '../fixtures/profile.ts';

function typed(given: Readonly<Record<string, string>> = {}) {
  return createParsedArgs([], specs, new Map(Object.entries(given).map(([name, value]) => [name, [value]])));
}

function settings(values: ResolvedProfileSettings['values'] = {}): ResolvedProfileSettings {
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
  expect(readGlobalSettingsFromOptions(typed())).toEqual({});
  expect(readGlobalSettingsFromOptions(typed({ 'auth-url': 'a', 'base-url': 'b' }))).toEqual({
    auth_url: { option: '--auth-url', text: 'a' },
    base_url: { option: '--base-url', text: 'b' },
  });
});

it('the format is that of the option, else of the settings, else a table', () => {
  expect(resolveOutputFormat(typed({ output: 'csv' }), () => settings({ output: 'json' }))).toBe('csv');
  expect(resolveOutputFormat(typed(), () => settings({ output: 'json' }))).toBe('json');
  expect(resolveOutputFormat(typed(), () => settings())).toBe('table');
});

it('a damaged config does not stop a command that needs none; any other trouble does', () => {
  const fail = (error: Error) => () => {
    throw error;
  };
  expect(resolveOutputFormat(typed(), fail(new DamagedConfigError('/x', '', [])))).toBe('table');
  expect(() => resolveOutputFormat(typed(), fail(new Error('bug')))).toThrow('bug');
});
