import { describe, expect, it } from 'vitest';
import { nearestWord } from '../../src/cli/values.ts';
import type { ConfigFile } from '../../src/config/config-file.ts';
import { type SettingKey, settingSpecs } from '../../src/config/profile.ts';
import {
  nameProfile,
  profileReference,
  profileWords,
  requireNamedProfile,
  resolveSettings,
  tokenSource,
  variableValue,
} from '../../src/config/settings.ts';
import { thrownText } from '../fixtures/error-text.ts';
import { expectGolden } from '../fixtures/golden.ts';

function configOf(profiles: Readonly<Record<string, object>> = {}, current?: string): ConfigFile {
  return { path: '/x/config.json', current, profiles: new Map(Object.entries(profiles)), raw: {} };
}

/** Three values of every key, each as text. */
const texts: Readonly<Record<SettingKey, readonly [string, string, string]>> = {
  auth_url: ['https://a.example', 'https://b.example', 'https://c.example'],
  base_url: ['https://a.example', 'https://b.example', 'https://c.example'],
  client_id: ['a', 'b', 'c'],
  callback_urls: ['http://127.0.0.1:8001/', 'http://127.0.0.1:8002/', 'http://127.0.0.1:8003/'],
  issuer: ['a', 'b', 'c'],
  scope: ['read', 'read write', 'other'],
  flow: ['code', 'implicit', 'code'],
  token_params: ['query', 'body', 'query'],
  pkce: ['true', 'false', 'true'],
  credential_store: ['file', 'keychain', 'file'],
  token_command: ['["a"]', '["a","b"]', '["/c"]'],
  output: ['json', 'yaml', 'csv'],
  batch_ledger_days: ['0', '30', '365'],
};

const keys = Object.entries(texts).flatMap(([key, values]) => (isKey(key) ? [[key, values] as const] : []));

function isKey(key: string): key is SettingKey {
  return key in settingSpecs;
}

function parsed(key: SettingKey, text: string): unknown {
  const result = settingSpecs[key].parse(text);
  return result.ok ? result.value : undefined;
}

describe.each(keys)('%s', (key, [option, env, profile]) => {
  const { variable } = settingSpecs[key];
  const config = configOf({ default: { [key]: parsed(key, profile) } });
  const environment = variable === undefined ? {} : { [variable]: env };
  const options = { [key]: { option: '--x', text: option } };

  it('comes from the option first', () => {
    expect(resolveSettings({ env: environment, config, overrides: options }).values[key]).toEqual(parsed(key, option));
  });

  it('comes from the environment next, if it has a variable', () => {
    const expected = parsed(key, variable === undefined ? profile : env);
    expect(resolveSettings({ env: environment, config }).values[key]).toEqual(expected);
  });

  it('comes from the profile last', () => {
    expect(resolveSettings({ env: {}, config }).values[key]).toEqual(parsed(key, profile));
    const empty = variable === undefined ? {} : { [variable]: '' };
    expect(resolveSettings({ env: empty, config }).values[key]).toEqual(parsed(key, profile));
  });

  it('is absent otherwise', () => {
    expect(resolveSettings({ env: {}, config: configOf() }).values).not.toHaveProperty(key);
  });
});

describe('CLOUDCTL_ACCESS_TOKEN', () => {
  const env = { CLOUDCTL_ACCESS_TOKEN: 't', CLOUDCTL_PROFILE: 'work' };

  it('is used, and suggested commands do not name the profile, which would replace it', () => {
    const { accessToken, isAccessTokenIgnored, profile } = resolveSettings({ env, config: configOf() });
    expect([accessToken?.reveal(), isAccessTokenIgnored, profileWords(profile)]).toEqual(['t', false, []]);
  });

  it('is not used if an option names the profile', () => {
    const given = resolveSettings({ env, config: configOf({ work: {} }), profile: 'work' });
    expect([given.accessToken, given.isAccessTokenIgnored]).toEqual([undefined, true]);
    expect(profileWords(given.profile)).toEqual(['--profile', 'work']);
    expect(tokenSource(given)).toBe('session');
    const config = configOf({ work: { token_command: ['true'] } });
    expect(tokenSource(resolveSettings({ env, config, profile: 'work' }))).toBe('command');
    expect(tokenSource(resolveSettings({ env, config }))).toBe('variable');
  });
});

describe('the profile in use', () => {
  const config = configOf({ work: { scope: 'read' }, home: {} }, 'work');

  it.each([
    [{ profile: 'home', env: { CLOUDCTL_PROFILE: 'work' }, config }, 'home', true, true],
    [{ env: { CLOUDCTL_PROFILE: 'home' }, config }, 'home', true, true],
    [{ env: { CLOUDCTL_PROFILE: '' }, config }, 'work', true, true],
    [{ env: {}, config }, 'work', true, true],
    [{ env: {}, config: configOf() }, 'default', false, false],
    [{ profile: 'nope', env: {}, config }, 'nope', false, true],
  ])('%# is %s', (input, profileName, isProfileStored, isProfileNamed) => {
    expect(resolveSettings(input)).toMatchObject({ profileName, isProfileStored, isProfileNamed });
  });

  it.each(['No', 'a/../b', '', ' ', 'x'.repeat(65)])('named %j is refused', (profile) => {
    expectGolden(
      'config',
      thrownText(() => resolveSettings({ profile, env: {}, config })),
    );
  });

  it('that is named but not stored is profile_unknown, with the stored ones', () => {
    const settings = resolveSettings({ profile: 'nope', env: { HOME: '/h' }, config });
    const text = thrownText(() => requireNamedProfile(settings, config, nearestWord));
    expect(text).toMatch(/^profile_unknown: /);
    expect(text).toContain('work, home');
    expect(text).toContain('`cloudctl auth setup --profile nope`');
    expectGolden('config', text);
  });

  it('that is one slip away from a stored one is named with it', () => {
    const settings = resolveSettings({ profile: 'wrok', env: {}, config });
    expectGolden(
      'config',
      thrownText(() => requireNamedProfile(settings, config, nearestWord)),
    );
  });

  it.each([
    [{}, true],
    [{ HOME: '' }, true],
    [{ HOME: 'relative', CLOUDCTL_STATE_DIR: '/s' }, true],
    [{ HOME: '/h' }, false],
    [{ CLOUDCTL_CONFIG_DIR: '/c' }, false],
  ])('that is unknown names HOME when no variable tells the folder: %j', (env, isNamed) => {
    for (const profile of ['nope', 'sandbox']) {
      const settings = resolveSettings({ profile, env, config });
      const text = thrownText(() => requireNamedProfile(settings, config, nearestWord));
      expect(text.includes('HOME is not set')).toBe(isNamed);
      expect(text.includes('set CLOUDCTL_CONFIG_DIR and CLOUDCTL_STATE_DIR')).toBe(isNamed);
    }
  });

  it('that is known, or not named at all, is fine', () => {
    requireNamedProfile(resolveSettings({ env: {}, config }), config, nearestWord);
    requireNamedProfile(resolveSettings({ env: {}, config: configOf() }), configOf(), nearestWord);
  });
});

describe('a wrong value', () => {
  it.each([
    [{ auth_url: { option: '--auth-url', text: 'http://cloud.example' } }, {}],
    [{}, { CLOUDCTL_BASE_URL: 'https://u:hunter2@x' }],
    [{}, { CLOUDCTL_FLOW: 'x' }],
    [{}, { CLOUDCTL_ACCESS_TOKEN: 'two words' }],
  ])('is reported with its option or variable: %#', (options, env) => {
    const text = thrownText(() => resolveSettings({ env, config: configOf(), overrides: options }));
    expect(text).toMatch(/^usage: /);
    expect(text).not.toContain('hunter2');
    expectGolden('config', text);
  });

  it('is ignored where an option has precedence', () => {
    const options = { flow: { option: '--flow', text: 'code' } };
    expect(resolveSettings({ env: { CLOUDCTL_FLOW: 'x' }, config: configOf(), overrides: options }).values.flow).toBe(
      'code',
    );
  });
});

it('secrets of the environment do not print', () => {
  const env = { CLOUDCTL_CLIENT_SECRET: 'hunter2', CLOUDCTL_ACCESS_TOKEN: 'hunter3' };
  const settings = resolveSettings({ env, config: configOf() });
  expect(settings.clientSecret?.reveal()).toBe('hunter2');
  expect(settings.accessToken?.reveal()).toBe('hunter3');
  expect(JSON.stringify(settings)).not.toContain('hunter');
});

it('an empty variable counts as not set', () => {
  expect([variableValue(undefined), variableValue(''), variableValue('0')]).toEqual([undefined, undefined, '0']);
});

it.each([
  ['default', {}, undefined, true],
  ['default', {}, 'work', false],
  ['work', {}, 'work', true],
  ['work', {}, undefined, false],
  // It may be set for this one command.
  ['work', { CLOUDCTL_PROFILE: 'work' }, 'work', false],
  ['default', { CLOUDCTL_PROFILE: 'work' }, undefined, false],
] as const)('a command without --profile selects %s, with %j and current %s: %s', (name, env, current, expected) => {
  const profile = profileReference(name, env, { current });
  expect(profile).toEqual({ name, isDefault: expected });
  expect(profileWords(profile)).toEqual(expected ? [] : ['--profile', name]);
});

it.each(['hunter2\n', 'hunter2\r\n'])('one line end of a variable is removed: %j', (text) => {
  const env = { CLOUDCTL_CLIENT_SECRET: text, CLOUDCTL_ACCESS_TOKEN: text, CLOUDCTL_CLIENT_ID: text };
  const { clientSecret, accessToken, values } = resolveSettings({ env, config: configOf() });
  expect([clientSecret?.reveal(), accessToken?.reveal(), values.client_id]).toEqual(['hunter2', 'hunter2', 'hunter2']);
});

it('a second line end, and a space, belong to the variable', () => {
  const env = { CLOUDCTL_CLIENT_SECRET: 'hunter2 \n\n' };
  expect(resolveSettings({ env, config: configOf() }).clientSecret?.reveal()).toBe('hunter2 \n');
});

describe('a hint names the profile', () => {
  const second = { name: 'second', isDefault: false };

  it.each([
    ['check it with `cloudctl config list`', 'check it with `cloudctl config list --profile second`'],
    [
      '`cloudctl db list`, then `cloudctl auth login`',
      '`cloudctl db list --profile second`, then `cloudctl auth login --profile second`',
    ],
    ['`cloudctl db preflight --source URL`', '`cloudctl db preflight --source URL --profile second`'],
    ['`cloudctl api GET /v2/x | head`', '`cloudctl --profile second api GET /v2/x | head`'],
    ['`cloudctl droplets delete -- -x`', '`cloudctl --profile second droplets delete -- -x`'],
  ])('%s', (hint, named) => {
    expect(nameProfile(hint, second)).toBe(named);
    expect(nameProfile(hint, { name: 'default', isDefault: true })).toBe(hint);
  });

  it.each([
    '`cloudctl sandbox start`',
    '`cloudctl auth list`',
    '`cloudctl auth switch NAME`',
    '`cloudctl droplets list --profile other`',
    'set CLOUDCTL_STATE_DIR',
  ])('but not in %s', (hint) => {
    expect(nameProfile(hint, second)).toBe(hint);
  });
});
