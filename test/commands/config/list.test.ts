import { describe, expect, it } from 'vitest';
import { testHost } from '../../fixtures/host.ts';
import { runCloudctl } from '../run-cloudctl.ts';

describe('config list', () => {
  it('has each value in force and where it comes from', async () => {
    const host = testHost({ env: { CLOUDCTL_SCOPE: 'read', CLOUDCTL_CLIENT_SECRET: 'hunter2' } });
    host.writeConfig({
      current: 'work',
      profiles: { work: { flow: 'code', callback_urls: ['http://127.0.0.1:8765/a'] } },
    });
    const words = ['config', 'list', '--auth-url', 'https://typed.example', '-o', 'json'];
    const ran = await runCloudctl(host, words);
    expect(ran.code).toBe(0);
    expect(ran.json()).toEqual([
      { key: 'profile', value: 'work', source: 'current' },
      { key: 'flow', value: 'code', source: 'profile' },
      { key: 'callback_urls', value: 'http://127.0.0.1:8765/a', source: 'profile' },
      { key: 'auth_url', value: 'https://typed.example', source: '--auth-url' },
      { key: 'scope', value: 'read', source: 'CLOUDCTL_SCOPE' },
    ]);
    expect(ran.out + ran.err).not.toContain('hunter2');
  });

  it.each([
    [['--profile', 'work'], {}, '--profile'],
    [[], { CLOUDCTL_PROFILE: 'work' }, 'CLOUDCTL_PROFILE'],
    [[], {}, 'current'],
  ])('says how the profile was chosen: %j %j', async (words, env, source) => {
    const host = testHost({ env });
    host.writeConfig({ current: 'work', profiles: { work: {} } });
    const ran = await runCloudctl(host, ['config', 'list', ...words, '-o', 'json']);
    expect(ran.json()).toEqual([{ key: 'profile', value: 'work', source }]);
  });

  it.each([
    [[], 'set'],
    [['--profile', 'work'], 'set, not used with --profile'],
  ])('says that CLOUDCTL_ACCESS_TOKEN is set, and never its value: %j', async (words, value) => {
    const host = testHost({ env: { CLOUDCTL_ACCESS_TOKEN: 'hunter2' } });
    host.writeConfig({ current: 'work', profiles: { work: {} } });
    const ran = await runCloudctl(host, ['config', 'list', ...words, '-o', 'json']);
    expect(ran.json()).toContainEqual({ key: 'access_token', value, source: 'CLOUDCTL_ACCESS_TOKEN' });
    expect(ran.out + ran.err).not.toContain('hunter2');
  });

  it('of nothing names the profile there would be', async () => {
    const ran = await runCloudctl(testHost(), ['config', 'list', '-o', 'json']);
    expect(ran.json()).toEqual([{ key: 'profile', value: 'default', source: 'default' }]);
  });
});
