import { describe, expect, it } from 'vitest';
import { storeLoggedInAccount } from '../../../src/auth/session/account.ts';
import { findProfileServerBinding } from '../../../src/auth/session/credential-record.ts';
import {
  buildRefusedRequestHints,
  createFixedTokenSession,
  findLoggedInProfiles,
  isServerKnownToImplementSpec,
  requireProfileServerBinding,
} from '../../../src/auth/session/session-server-binding.ts';
import { Secret } from '../../../src/base/secret.ts';
import type { ConfigFile } from '../../../src/config/config-file.ts';
import {
  recordStartedSandbox,
  type SandboxUrlsAndCredentials,
} from '../../../src/config/sandbox-urls-and-credentials.ts';
import { resolveProfileSettings } from '../../../src/config/settings.ts';
import { workLoginHints } from '../../api/login-hints.ts';
import { testHost } from '../../fixtures/host.ts';

const whole = { auth_url: 'https://a.example', base_url: 'https://b.example', client_id: 'c' };

function configOf(profiles: Readonly<Record<string, object>>): ConfigFile {
  return { path: '/x', current: undefined, profiles: new Map(Object.entries(profiles)), raw: {} };
}

describe('what a profile points to', () => {
  it('is both origins and the client id', () => {
    const config = configOf({ default: whole });
    const binding = { authOrigin: 'https://a.example', baseOrigin: 'https://b.example', clientId: 'c' };
    expect(
      requireProfileServerBinding(resolveProfileSettings({ env: {}, config }), config, testHost().folders.config),
    ).toEqual(binding);
  });

  it('is both origins for a profile without an application, and a given token stays in it when it gets one', () => {
    const { client_id: _none, ...urls } = whole;
    const binding = findProfileServerBinding(resolveProfileSettings({ env: {}, config: configOf({ default: urls }) }));
    expect(binding).toEqual({ authOrigin: 'https://a.example', baseOrigin: 'https://b.example', clientId: '' });
  });

  it.each([['auth_url'], ['base_url']])('without %s is nothing, and that is said', (key) => {
    const { [key]: _gone, ...rest }: Record<string, string> = whole;
    const config = configOf({ default: rest });
    const settings = resolveProfileSettings({ env: {}, config });
    expect(findProfileServerBinding(settings)).toBeUndefined();
    expect(() => requireProfileServerBinding(settings, config, testHost().folders.config)).toThrow(
      expect.objectContaining({ code: 'not_logged_in', exitCode: 4, detail: expect.stringContaining(key) }),
    );
  });

  it('of an unknown profile is an unknown profile, unless the environment says it all', () => {
    const config = configOf({});
    expect(() =>
      requireProfileServerBinding(
        resolveProfileSettings({ profile: 'x', env: {}, config }),
        config,
        testHost().folders.config,
      ),
    ).toThrow(expect.objectContaining({ code: 'profile_unknown' }));
    const env = { CLOUDCTL_AUTH_URL: whole.auth_url, CLOUDCTL_BASE_URL: whole.base_url, CLOUDCTL_CLIENT_ID: 'c' };
    expect(
      requireProfileServerBinding(
        resolveProfileSettings({ profile: 'x', env, config }),
        config,
        testHost().folders.config,
      ),
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
    storeLoggedInAccount(folder, name, { sid: '0', scope: 'read', scope_verified: false, flow: 'code' });
  expect(findLoggedInProfiles(config, folder)).toEqual(names);
  const settings = resolveProfileSettings({ env: {}, config });
  expect(() => requireProfileServerBinding(settings, config, folder)).toThrow(
    expect.objectContaining({ code: 'not_logged_in', hint: expect.stringContaining(expected) }),
  );
});

describe('who is refused', () => {
  const account = { sid: '0', scope: 'read', scope_verified: false } as const;

  it('is told the commands of the profile', () => {
    const config = configOf({ work: whole });
    expect(
      buildRefusedRequestHints(resolveProfileSettings({ env: {}, config, profile: 'work' }), testHost().folders.config),
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
      storeLoggedInAccount(folders.config, 'default', { ...account, flow });
      const config = configOf({ default: { ...whole, ...(ofProfile === undefined ? {} : { flow: ofProfile }) } });
      const { login, write } = buildRefusedRequestHints(resolveProfileSettings({ env: {}, config }), folders.config);
      expect(login).toBe(`\`cloudctl auth login${words}\``);
      expect(write).toContain(`\`cloudctl auth login${words} --scope "read write"\``);
    },
  );
});

describe('a server follows docs/service.md for certain', () => {
  const [profile, origin] = ['default', 'http://127.0.0.1:4000'];

  it('when its grant said whose account it is', () => {
    const { folders } = testHost();
    const account = { sid: '0', scope: 'read', scope_verified: true, flow: 'code' } as const;
    expect(isServerKnownToImplementSpec(folders, profile, origin)).toBe(false);
    storeLoggedInAccount(folders.config, profile, account);
    expect(isServerKnownToImplementSpec(folders, profile, origin)).toBe(false);
    storeLoggedInAccount(folders.config, profile, { ...account, hint: 'a1b2c3' });
    expect(isServerKnownToImplementSpec(folders, profile, origin)).toBe(true);
  });

  it('when it is a sandbox of this machine', () => {
    const { folders } = testHost();
    const keys = ['base_url', 'panel_url', 'admin_url', 'admin_token', 'client_id', 'client_secret', 'callback_url'];
    recordStartedSandbox(folders.state, {
      ...Object.fromEntries(keys.map((key) => [key, 'x'])),
      auth_url: origin,
    } as SandboxUrlsAndCredentials);
    expect(isServerKnownToImplementSpec(folders, profile, origin)).toBe(true);
    expect(isServerKnownToImplementSpec(folders, profile, 'http://127.0.0.1:4001')).toBe(false);
  });
});

describe('a token of the environment', () => {
  const session = createFixedTokenSession(new Secret('mine'));

  it('is used as it is', async () => {
    expect((await session.bearer()).reveal()).toBe('mine');
  });

  it('is what stands in the way of a login, so its refusal is not cured by one', () => {
    const config = configOf({ default: whole });
    const wayOut = expect.stringContaining('unset');
    const { folders } = testHost();
    expect(
      buildRefusedRequestHints(
        resolveProfileSettings({ env: { CLOUDCTL_ACCESS_TOKEN: 'mine' }, config }),
        folders.config,
      ),
    ).toMatchObject({
      login: wayOut,
      write: wayOut,
      read: wayOut,
    });
  });

  it('cannot be renewed, and has no record', async () => {
    await expect(session.renew(new Secret('mine'))).rejects.toMatchObject({ code: 'token_refused', exitCode: 4 });
    await expect(session.forceRefresh()).rejects.toMatchObject({ code: 'usage' });
    await expect(session.record()).rejects.toMatchObject({ code: 'usage' });
  });
});
