import { userInfo } from 'node:os';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { resolveFolders } from '../../src/platform/folders.ts';

describe('the folders', () => {
  it.each([
    ['linux', { HOME: '/h' }, '/h/.config/cloudctl', '/h/.local/state/cloudctl'],
    ['linux', { HOME: '/h', XDG_CONFIG_HOME: '/c', XDG_STATE_HOME: '/s' }, '/c/cloudctl', '/s/cloudctl'],
    [
      'linux',
      { HOME: '/h', XDG_CONFIG_HOME: 'c', XDG_STATE_HOME: '' },
      '/h/.config/cloudctl',
      '/h/.local/state/cloudctl',
    ],
    ['freebsd', { HOME: '/h' }, '/h/.config/cloudctl', '/h/.local/state/cloudctl'],
    ['darwin', { HOME: '/h' }, '/h/Library/Preferences/cloudctl', '/h/Library/Application Support/cloudctl'],
    [
      'win32',
      { APPDATA: 'C:\\R', LOCALAPPDATA: 'C:\\L', USERPROFILE: 'C:\\U' },
      'C:\\R\\cloudctl\\Config',
      'C:\\L\\cloudctl\\Data',
    ],
    [
      'win32',
      { USERPROFILE: 'C:\\U' },
      'C:\\U\\AppData\\Roaming\\cloudctl\\Config',
      'C:\\U\\AppData\\Local\\cloudctl\\Data',
    ],
    ['linux', { HOME: '/h', CLOUDCTL_CONFIG_DIR: '/x', CLOUDCTL_STATE_DIR: '/y' }, '/x', '/y'],
    ['linux', { HOME: '/h', CLOUDCTL_CONFIG_DIR: '', CLOUDCTL_STATE_DIR: '/y' }, '/h/.config/cloudctl', '/y'],
  ] as const)('on %s with %j are %s and %s', (platform, env, config, state) => {
    expect(resolveFolders(env, platform)).toEqual({ config, state });
  });

  it.each([['home'], ['.'], ['']])('are never in the working directory: HOME=%j', (HOME) => {
    const { config, state } = resolveFolders({ HOME }, 'linux');
    for (const folder of [config, state]) expect(folder.startsWith(`${userInfo().homedir}/.`)).toBe(true);
  });

  it('are told from the root, so that what is printed of them holds in every other folder', () => {
    const { config, state } = resolveFolders(
      { HOME: '/h', CLOUDCTL_CONFIG_DIR: 'c', CLOUDCTL_STATE_DIR: '../s' },
      'linux',
    );
    expect([config, state]).toEqual([resolve('c'), resolve('../s')]);
  });
});
