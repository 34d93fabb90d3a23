import { describe, expect, it } from 'vitest';
import { storeAccount } from '../../../src/auth/session/account.ts';
import {
  flowOption,
  followsSpec,
  loggedInProfiles,
  loginCommand,
  loginRetries,
  refusedHints,
  requireBinding,
  scopeOption,
  scopeUnlessDefault,
  unreachableHint,
} from '../../../src/auth/session/hints.ts';
import type { ConfigFile } from '../../../src/config/config-file.ts';
import { recordSandbox, type SandboxPlace } from '../../../src/config/sandboxes.ts';
import { commandFor, findBinding, resolveSettings } from '../../../src/config/settings.ts';
import { workLoginHints } from '../../api/login-hints.ts';
import { testHost } from '../../fixtures/host.ts';
import { profileNamed } from '../../fixtures/profile.ts';

it.each([
  ['default', '`cloudctl auth setup`'],
  ['work', '`cloudctl auth setup --profile work`'],
])('a command for %s is %s', (profile, command) => {
  expect(commandFor(profileNamed(profile), 'auth setup')).toBe(command);
});

it.each([
  ['read', '--scope read', ''],
  ['read write', '--scope "read write"', '--scope "read write"'],
  ['droplet:read', '--scope droplet:read --any-scope', '--scope droplet:read --any-scope'],
  ['api/.default', '--scope api/.default --any-scope', '--scope api/.default --any-scope'],
  [
    'https://a.example/read',
    '--scope https://a.example/read --any-scope',
    '--scope https://a.example/read --any-scope',
  ],
  ['a/b c?d', "--scope 'a/b c?d' --any-scope", "--scope 'a/b c?d' --any-scope"],
  ['$(rm -rf ~)', "--scope '$(rm -rf ~)' --any-scope", "--scope '$(rm -rf ~)' --any-scope"],
  ["it's", "--scope 'it'\\''s' --any-scope", "--scope 'it'\\''s' --any-scope"],
  ['read\nreboot', '', ''],
  ['read `reboot`', '', ''],
  ['a"b', '', ''],
])('the scope %s is asked for again by %j, and when it is not asked for anyway by %j', (scope, words, wider) => {
  expect(scopeOption(scope).join(' ')).toBe(words);
  expect(scopeUnlessDefault(scope).join(' ')).toBe(wider);
});

it('a scope that was not asked for is not asked for again', () => {
  expect(scopeUnlessDefault(undefined)).toEqual([]);
});

it.each([
  [undefined, 'implicit', ''],
  ['code', undefined, ''],
  ['implicit', undefined, '--flow implicit'],
  ['implicit', 'implicit', ''],
  ['code', 'implicit', '--flow code'],
] as const)('the flow %s, where the profile has %s, is asked for again by %j', (flow, ofProfile, words) => {
  expect(flowOption(flow, ofProfile).join(' ')).toBe(words);
});

it('a login that came to nothing is started again with its flow and scope, content with any grant, or in the other flow', () => {
  expect(loginRetries(profileNamed('default'), { flow: 'code', scope: undefined }, undefined)).toEqual({
    flow: 'code',
    sameRequest: '`cloudctl auth login`',
    profileTokenParams: '`cloudctl auth login`',
    acceptAnyScope: '`cloudctl auth login --accept-scope`',
    otherFlow: '`cloudctl auth login --flow implicit`',
    chooseAccount: '`cloudctl auth login --prompt select_account`',
  });
  expect(loginRetries(profileNamed('work'), { flow: 'implicit', scope: 'read write' }, 'implicit')).toEqual({
    flow: 'implicit',
    sameRequest: '`cloudctl auth login --scope "read write" --profile work`',
    profileTokenParams: '`cloudctl auth login --scope "read write" --profile work`',
    acceptAnyScope: '`cloudctl auth login --scope "read write" --accept-scope --profile work`',
    otherFlow: '`cloudctl auth login --flow code --scope "read write" --profile work`',
    chooseAccount: '`cloudctl auth login --scope "read write" --profile work`',
  });
});

it('a login is repeated with its typed options, except those that the other command changes or does not accept', () => {
  const typed = ['--prompt select_account', '--token-params body', '--no-pkce', '--accept-scope'];
  const request = { flow: 'code', scope: undefined, team: 'personal' } as const;
  expect(loginRetries(profileNamed('default'), request, undefined, typed)).toEqual({
    flow: 'code',
    sameRequest:
      '`cloudctl auth login --team personal --prompt select_account --token-params body --no-pkce --accept-scope`',
    profileTokenParams: '`cloudctl auth login --team personal --prompt select_account --no-pkce --accept-scope`',
    acceptAnyScope:
      '`cloudctl auth login --team personal --prompt select_account --token-params body --no-pkce --accept-scope`',
    otherFlow: '`cloudctl auth login --flow implicit --token-params body --no-pkce --accept-scope`',
    chooseAccount:
      '`cloudctl auth login --team personal --token-params body --no-pkce --accept-scope --prompt select_account`',
  });
});

it.each([
  ['default', undefined, '`cloudctl auth login`'],
  ['default', 'read', '`cloudctl auth login`'],
  ['work', undefined, '`cloudctl auth login --profile work`'],
  ['work', 'write read', '`cloudctl auth login --scope "write read" --profile work`'],
  ['default', 'droplet:read', '`cloudctl auth login --scope droplet:read --any-scope`'],
  ['default', '$(rm -rf ~)', "`cloudctl auth login --scope '$(rm -rf ~)' --any-scope`"],
])('a session of %s with scope %s is had again by %s', (profile, scope, command) => {
  expect(loginCommand(profileNamed(profile), scope)).toBe(command);
});

const whole = { auth_url: 'https://a.example', base_url: 'https://b.example', client_id: 'c' };

function configOf(profiles: Readonly<Record<string, object>>): ConfigFile {
  return { path: '/x', current: undefined, profiles: new Map(Object.entries(profiles)), raw: {} };
}

describe('what a profile points to', () => {
  it('is both origins and the client id', () => {
    const config = configOf({ default: whole });
    const binding = { authOrigin: 'https://a.example', baseOrigin: 'https://b.example', clientId: 'c' };
    expect(requireBinding(resolveSettings({ env: {}, config }), config, testHost().folders.config)).toEqual(binding);
  });

  it('is both origins for a profile without an application, and a given token stays in it when it gets one', () => {
    const { client_id: _none, ...urls } = whole;
    const binding = findBinding(resolveSettings({ env: {}, config: configOf({ default: urls }) }));
    expect(binding).toEqual({ authOrigin: 'https://a.example', baseOrigin: 'https://b.example', clientId: '' });
  });

  it.each([['auth_url'], ['base_url']])('without %s is nothing, and that is said', (key) => {
    const { [key]: _gone, ...rest }: Record<string, string> = whole;
    const config = configOf({ default: rest });
    const settings = resolveSettings({ env: {}, config });
    expect(findBinding(settings)).toBeUndefined();
    expect(() => requireBinding(settings, config, testHost().folders.config)).toThrow(
      expect.objectContaining({ code: 'not_logged_in', exitCode: 4, detail: expect.stringContaining(key) }),
    );
  });

  it('of an unknown profile is an unknown profile, unless the environment says it all', () => {
    const config = configOf({});
    expect(() =>
      requireBinding(resolveSettings({ profile: 'x', env: {}, config }), config, testHost().folders.config),
    ).toThrow(expect.objectContaining({ code: 'profile_unknown' }));
    const env = { CLOUDCTL_AUTH_URL: whole.auth_url, CLOUDCTL_BASE_URL: whole.base_url, CLOUDCTL_CLIENT_ID: 'c' };
    expect(
      requireBinding(resolveSettings({ profile: 'x', env, config }), config, testHost().folders.config),
    ).toMatchObject({
      clientId: 'c',
    });
  });
});

it.each([
  [['sandbox'], '--profile sandbox'],
  [['sandbox', 'work'], 'sandbox, work'],
])('a profile without settings names the logged-in profiles %j', (names, expected) => {
  const { config: folder } = testHost().folders;
  const config = configOf(Object.fromEntries([...names, 'idle'].map((name) => [name, whole])));
  for (const name of names)
    storeAccount(folder, name, { sid: '0', scope: 'read', scope_verified: false, flow: 'code' });
  expect(loggedInProfiles(config, folder)).toEqual(names);
  const settings = resolveSettings({ env: {}, config });
  expect(() => requireBinding(settings, config, folder)).toThrow(
    expect.objectContaining({ code: 'not_logged_in', hint: expect.stringContaining(expected) }),
  );
});

describe('who is refused', () => {
  const account = { sid: '0', scope: 'read', scope_verified: false } as const;

  it('is told the commands of the profile', () => {
    const config = configOf({ work: whole });
    expect(
      refusedHints(resolveSettings({ env: {}, config, profile: 'work' }), testHost().folders.config),
    ).toMatchObject(workLoginHints);
  });

  it.each([
    ['implicit', undefined, ' --flow implicit'],
    ['implicit', 'implicit', ''],
    ['code', 'implicit', ' --flow code'],
    ['code', undefined, ''],
  ] as const)(
    'with a session of the flow %s, of a profile of the flow %s, is sent to a login with "%s"',
    (flow, ofProfile, words) => {
      const { folders } = testHost();
      storeAccount(folders.config, 'default', { ...account, flow });
      const config = configOf({ default: { ...whole, ...(ofProfile === undefined ? {} : { flow: ofProfile }) } });
      const { login, write } = refusedHints(resolveSettings({ env: {}, config }), folders.config);
      expect(login).toBe(`\`cloudctl auth login${words}\``);
      expect(write).toContain(`\`cloudctl auth login${words} --scope "read write"\``);
    },
  );

  it('with a token of the environment is what stands in the way of a login, so its refusal is not cured by one', () => {
    const config = configOf({ default: whole });
    const wayOut = expect.stringContaining('unset');
    const { folders } = testHost();
    expect(
      refusedHints(resolveSettings({ env: { CLOUDCTL_ACCESS_TOKEN: 'mine' }, config }), folders.config),
    ).toMatchObject({
      login: wayOut,
      write: expect.not.stringContaining('unset'),
      read: wayOut,
    });
  });
});

it('with a token of the environment and no profile, there is no session to use instead', () => {
  const settings = resolveSettings({ env: { CLOUDCTL_ACCESS_TOKEN: 'mine' }, config: configOf({}) });
  const { login, write } = refusedHints(settings, testHost().folders.config);
  for (const hint of [login, write]) {
    expect(hint).toContain('CLOUDCTL_ACCESS_TOKEN');
    expect(hint).not.toContain('unset');
  }
});

it('an address that replaces that of the profile sandbox is not the sandbox', () => {
  const local = { auth_url: 'http://127.0.0.1:4000', base_url: 'http://127.0.0.1:4001', client_id: 'c' };
  const config = { ...configOf({ sandbox: local }), current: 'sandbox' };
  const hintOf = (env: Record<string, string>) => unreachableHint(resolveSettings({ env, config }), 'base_url');
  expect(hintOf({})).toContain('sandbox start');
  expect(hintOf({ CLOUDCTL_BASE_URL: 'http://127.0.0.1:4009' })).toContain('config list');
  expect(hintOf({ CLOUDCTL_BASE_URL: 'http://127.0.0.1:4009', CLOUDCTL_ACCESS_TOKEN: 'mine' })).toContain(
    'config list',
  );
});

describe('a server follows docs/service.md for certain', () => {
  const [profile, origin] = ['default', 'http://127.0.0.1:4000'];

  it('when its grant said whose account it is', () => {
    const { folders } = testHost();
    const account = { sid: '0', scope: 'read', scope_verified: true, flow: 'code' } as const;
    expect(followsSpec(folders, profile, origin)).toBe(false);
    storeAccount(folders.config, profile, account);
    expect(followsSpec(folders, profile, origin)).toBe(false);
    storeAccount(folders.config, profile, { ...account, hint: 'a1b2c3' });
    expect(followsSpec(folders, profile, origin)).toBe(true);
  });

  it('when it is a sandbox of this machine', () => {
    const { folders } = testHost();
    const keys = ['base_url', 'panel_url', 'admin_url', 'admin_token', 'client_id', 'client_secret', 'callback_url'];
    recordSandbox(folders.state, {
      ...Object.fromEntries(keys.map((key) => [key, 'x'])),
      auth_url: origin,
    } as SandboxPlace);
    expect(followsSpec(folders, profile, origin)).toBe(true);
    expect(followsSpec(folders, profile, 'http://127.0.0.1:4001')).toBe(false);
  });
});
