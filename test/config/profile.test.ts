import { describe, expect, it } from 'vitest';
import { decodeProfile, isProfileName, isSettingKey, settingSpecs } from '../../src/config/profile.ts';

describe('a profile name', () => {
  it.each(['default', 'a', '0', 'work-1', 'my_team', 'x'.repeat(64)])('%s can be one', (name) => {
    expect(isProfileName(name)).toBe(true);
  });

  it.each(['', 'Work', '-x', '_x', 'a b', 'a.b', 'a/b', '..', 'x'.repeat(65), 'ü', 'a\n', '__proto__'])(
    '%j cannot be one',
    (name) => {
      expect(isProfileName(name)).toBe(false);
    },
  );
});

describe('the keys of a profile', () => {
  it('are the documented ones, the output format, the days of ledgers and the token command', () => {
    expect(Object.keys(settingSpecs).sort()).toEqual(
      [
        'auth_url',
        'base_url',
        'batch_ledger_days',
        'callback_urls',
        'client_id',
        'credential_store',
        'flow',
        'issuer',
        'output',
        'pkce',
        'scope',
        'token_command',
        'token_params',
      ].sort(),
    );
    expect(isSettingKey('client_secret')).toBe(false);
    expect(isSettingKey('toString')).toBe(false);
  });

  it('have the documented environment variables', () => {
    const variables = Object.values(settingSpecs).flatMap(({ variable }) => variable ?? []);
    expect(variables.sort()).toEqual(
      [
        'AUTH_URL',
        'BASE_URL',
        'CALLBACK_URL',
        'CLIENT_ID',
        'CREDENTIAL_STORE',
        'FLOW',
        'OUTPUT',
        'SCOPE',
        'TOKEN_PARAMS',
      ].map((name) => `CLOUDCTL_${name}`),
    );
  });

  it.each([
    ['auth_url', 'https://cloud.example/', 'https://cloud.example'],
    ['auth_url', 'cloud.example', 'https://cloud.example'],
    ['base_url', 'api.cloud.example:8443', 'https://api.cloud.example:8443'],
    ['base_url', 'http://127.0.0.1:80', 'http://127.0.0.1'],
    ['client_id', 'abc', 'abc'],
    ['callback_urls', 'http://127.0.0.1:1234/a, http://localhost/b', ['http://127.0.0.1:1234/a', 'http://localhost/b']],
    ['issuer', 'https://issuer.example/x', 'https://issuer.example/x'],
    ['scope', 'read write', 'read write'],
    ['flow', 'implicit', 'implicit'],
    ['token_params', 'body', 'body'],
    ['pkce', 'false', false],
    ['credential_store', 'file', 'file'],
    ['output', 'yaml', 'yaml'],
  ] as const)('%s takes %j', (key, text, value) => {
    expect(settingSpecs[key].parse(text)).toEqual({ ok: true, value });
  });

  it.each([
    ['auth_url', 'http://cloud.example'],
    ['base_url', 'https://x/y'],
    ['base_url', 'localhost:8080'],
    ['base_url', '127.0.0.1:8080'],
    ['base_url', 'cloud.example/path'],
    ['client_id', ''],
    ['client_id', 'a b'],
    ['client_id', 'x'.repeat(513)],
    ['callback_urls', ''],
    ['callback_urls', 'http://127.0.0.1:1234/a,https://cloud.example/'],
    ['issuer', 'a\nb'],
    ['scope', ''],
    ['scope', 'read  write'],
    ['scope', ' read'],
    ['scope', 're"ad'],
    ['flow', 'Code'],
    ['token_params', 'header'],
    ['pkce', 'yes'],
    ['credential_store', 'memory'],
    ['output', 'xml'],
  ] as const)('%s refuses %j', (key, text) => {
    expect(settingSpecs[key].parse(text).ok).toBe(false);
  });
});

describe('a profile of config.json', () => {
  it('that comes back from the file is what was written', () => {
    const profile = { auth_url: 'https://cloud.example', callback_urls: ['http://127.0.0.1:1234/cb'], pkce: false };
    expect(decodeProfile(JSON.parse(JSON.stringify(profile)))).toEqual({ ok: true, value: profile });
  });

  it('leaves the keys of a newer version alone', () => {
    expect(decodeProfile({ later: 7, scope: 'read' })).toEqual({ ok: true, value: { scope: 'read' } });
  });

  it.each([
    [{ scope: null }, 'scope'],
    [{ pkce: 0 }, 'pkce'],
    [{ flow: 'other' }, 'flow'],
    [{ callback_urls: [7] }, 'callback_urls'],
    [{ auth_url: {} }, 'auth_url'],
  ])('%j names the key that is wrong', (json, key) => {
    expect(decodeProfile(json)).toMatchObject({ ok: false, key });
  });

  it.each([null, [], 'x', 7])('that is %j is refused', (json) => {
    const decoded = decodeProfile(json);
    expect(decoded.ok).toBe(false);
    expect(decoded).not.toHaveProperty('key');
  });
});
