import { describe, expect, it } from 'vitest';
import { detectBrowserEnvironment, isCi } from '../../src/platform/browser.ts';

const nothing = { exists: () => false, text: () => '' };
const wslKernel = { exists: () => false, text: () => 'Linux version 5.15.90.1-microsoft-standard-WSL2' };
const dockerFile = { exists: (path: string) => path === '/.dockerenv', text: () => '' };

describe('the surroundings', () => {
  it('of a plain terminal are nothing special', () => {
    expect(detectBrowserEnvironment({}, 'linux', nothing)).toEqual({
      wsl: false,
      ssh: undefined,
      container: false,
      codespaces: false,
      ci: false,
      display: false,
    });
  });

  it.each([
    [{ WSL_DISTRO_NAME: 'Debian' }, nothing, true],
    [{}, wslKernel, true],
    [{}, { ...wslKernel, exists: dockerFile.exists }, false],
    [{}, nothing, false],
  ])('are WSL by its variable or kernel, and not in a container on it: %j', (env, readers, wsl) => {
    expect(detectBrowserEnvironment(env, 'linux', readers).wsl).toBe(wsl);
  });

  it.each([
    [{ container: 'podman' }, nothing],
    [{ KUBERNETES_SERVICE_HOST: '10.0.0.1' }, nothing],
    [{}, dockerFile],
  ])('are a container: %j', (env, readers) => {
    expect(detectBrowserEnvironment(env, 'linux', readers).container).toBe(true);
  });

  it('are SSH, with the address the user reached this machine by', () => {
    expect(detectBrowserEnvironment({ SSH_CONNECTION: '10.0.0.2 51000 10.0.0.9 2222' }, 'linux', nothing).ssh).toEqual({
      server: '10.0.0.9',
      port: 2222,
    });
    expect(detectBrowserEnvironment({ SSH_TTY: '/dev/pts/1' }, 'linux', nothing).ssh).toEqual({
      server: undefined,
      port: 22,
    });
  });

  it.each([
    ['linux', { DISPLAY: ':0' }, true],
    ['linux', { WAYLAND_DISPLAY: 'wayland-0' }, true],
    ['linux', { DISPLAY: '' }, false],
    ['darwin', {}, true],
    ['darwin', { SSH_TTY: '/dev/ttys1' }, false],
    ['win32', {}, true],
  ] as const)('on %s with %j have a display: %s', (platform, env, display) => {
    expect(detectBrowserEnvironment(env, platform, nothing).display).toBe(display);
  });

  it('are Codespaces by its variable', () => {
    expect(detectBrowserEnvironment({ CODESPACES: 'true' }, 'linux', nothing).codespaces).toBe(true);
  });
});

describe('CI', () => {
  it.each(['true', '1', 'yes'])('CI=%s is set', (CI) => expect(isCi({ CI })).toBe(true));
  it.each(['false', '0', '', undefined])('CI=%j is unset', (CI) => expect(isCi({ CI })).toBe(false));
});
