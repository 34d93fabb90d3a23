import { chmodSync, mkdirSync, readFileSync, renameSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  adminAccess,
  findPanelUrls,
  forgetSandbox,
  knownSandboxes,
  lastSandbox,
  recordSandbox,
  type SandboxPlace,
} from '../../src/config/sandboxes.ts';
import { testHost } from '../fixtures/host.ts';

const place: SandboxPlace = {
  auth_url: 'http://127.0.0.1:1111',
  base_url: 'http://127.0.0.1:2222',
  panel_url: 'http://127.0.0.1:1111/panel',
  admin_url: 'http://127.0.0.1:1111',
  admin_token: 'admin-1',
  client_id: 'c',
  client_secret: 's',
  callback_url: 'http://127.0.0.1:3333/callback',
};

describe('the sandbox started last', () => {
  it('is remembered for this user alone, with nothing but its addresses and secrets', () => {
    const { state } = testHost().folders;
    recordSandbox(state, Object.assign({ users: ['maya'] }, place));
    expect(lastSandbox(state)).toEqual(place);
    expect(statSync(join(state, 'sandbox.json')).mode & 0o777).toBe(0o600);
  });

  it('is not read from a file that others can read, or read or written through a link', () => {
    const { state } = testHost().folders;
    const path = join(state, 'sandbox.json');
    recordSandbox(state, place);
    chmodSync(path, 0o644);
    expect(() => lastSandbox(state)).toThrow(path);
    chmodSync(path, 0o600);
    renameSync(path, join(state, 'planted'));
    symlinkSync(join(state, 'planted'), path);
    expect(() => lastSandbox(state)).toThrow(path);
    expect(() => recordSandbox(state, { ...place, admin_token: 'admin-2' })).toThrow(path);
    expect(readFileSync(join(state, 'planted'), 'utf8')).not.toContain('admin-2');
  });

  it('is forgotten when it ends, unless another was started since', () => {
    const { state } = testHost().folders;
    recordSandbox(state, { ...place, admin_token: 'admin-2' });
    forgetSandbox(state, place);
    expect(lastSandbox(state)?.admin_token).toBe('admin-2');
    forgetSandbox(state, { ...place, admin_token: 'admin-2' });
    expect(lastSandbox(state)).toBeUndefined();
  });

  it('is after its end the one started before it, however many there are and in whatever order they end', () => {
    const { state } = testHost().folders;
    const first = { ...place, admin_url: 'http://127.0.0.1:1001' };
    const second = { ...place, admin_url: 'http://127.0.0.1:1002' };
    const third = { ...place, admin_url: 'http://127.0.0.1:1003' };
    for (const one of [first, second, third]) recordSandbox(state, one);
    expect(knownSandboxes(state)).toEqual([third, second, first]);
    forgetSandbox(state, second);
    expect(lastSandbox(state)).toEqual(third);
    forgetSandbox(state, third);
    expect(knownSandboxes(state)).toEqual([first]);
    expect(statSync(join(state, 'sandbox.json')).mode & 0o777).toBe(0o600);
    forgetSandbox(state, first);
    expect(knownSandboxes(state)).toEqual([]);
  });

  it('that is written down once more stands there once, with its new values', () => {
    const { state } = testHost().folders;
    recordSandbox(state, place);
    recordSandbox(state, { ...place, client_id: 'other' });
    expect(knownSandboxes(state)).toEqual([{ ...place, client_id: 'other' }]);
  });

  it.each(['', '{', '[]', '{}', '{"auth_url":"x"}'])('that is written down as %j is none', (text) => {
    const { state } = testHost().folders;
    mkdirSync(state, { recursive: true });
    writeFileSync(join(state, 'sandbox.json'), text, { mode: 0o600 });
    expect(lastSandbox(state)).toBeUndefined();
  });
});

describe('the admin of the sandbox to talk to', () => {
  const env = { CLOUDCTL_SANDBOX_ADMIN_URL: 'http://127.0.0.1:9009', CLOUDCTL_SANDBOX_ADMIN_TOKEN: 'from-env\n' };
  const typed = 'http://localhost:7007';

  it.each([
    ['option and variable', typed, env, { adminUrl: typed, adminToken: 'from-env' }],
    ['variables', undefined, env, { adminUrl: 'http://127.0.0.1:9009', adminToken: 'from-env' }],
    ['the one started last', undefined, {}, { adminUrl: place.admin_url, adminToken: 'admin-1' }],
    ['its own address typed', `${place.admin_url}/`, {}, { adminUrl: place.admin_url, adminToken: 'admin-1' }],
    ['another address without a token', typed, {}, undefined],
    ['another address in the environment', undefined, { CLOUDCTL_SANDBOX_ADMIN_URL: typed }, undefined],
  ])('is found by %s', (_how, adminUrl, environment, expected) => {
    const { state } = testHost().folders;
    recordSandbox(state, place);
    expect(adminAccess(state, environment, adminUrl)).toEqual(expected);
  });

  it('is nobody when none was started', () => {
    expect(adminAccess(testHost().folders.state, {}, undefined)).toBeUndefined();
  });

  it.each(['http://evil.example', 'ftp://127.0.0.1', 'https://x/y', '127.0.0.1:9', ''])(
    'is not looked for at %j, and no token goes there',
    (url) => {
      const { state } = testHost().folders;
      expect(() => adminAccess(state, env, url)).toThrow(/^--admin-url is /);
      if (url === '') return;
      expect(() => adminAccess(state, { ...env, CLOUDCTL_SANDBOX_ADMIN_URL: url }, undefined)).toThrow(
        /^CLOUDCTL_SANDBOX_ADMIN_URL is /,
      );
    },
  );
});

describe('the pages of a panel', () => {
  const sandbox = {
    auth_url: 'http://127.0.0.1:8080',
    base_url: 'http://127.0.0.1:8081',
    panel_url: 'http://127.0.0.1:8080/panel',
    admin_url: 'http://127.0.0.1:8080',
    admin_token: 'a',
    client_id: 'b',
    client_secret: 'c',
    callback_url: 'http://127.0.0.1:9000/callback',
  };

  it('a sandbox of this machine has pages; what is in an address is encoded', () => {
    const { state } = testHost().folders;
    recordSandbox(state, sandbox);
    const pages = findPanelUrls(state, sandbox.auth_url);
    expect(pages?.home).toBe(sandbox.panel_url);
    expect(pages?.page('timeline')).toBe(`${sandbox.panel_url}/timeline`);
    expect(pages?.droplet('7')).toBe(`${sandbox.panel_url}/droplets?droplet=7`);
    expect(pages?.droplet('\u001b&x=#')).toBe(`${sandbox.panel_url}/droplets?droplet=%1B%26x%3D%23`);
    expect(pages?.migration('u/v')).toBe(`${sandbox.panel_url}/migrations#cluster-u%2Fv`);
  });

  it('other servers, addresses that are not http and damaged records have none', () => {
    const { state } = testHost().folders;
    expect(findPanelUrls(state, sandbox.auth_url)).toBeUndefined();
    for (const panel_url of ['javascript:alert(1)', 'nonsense']) {
      recordSandbox(state, { ...sandbox, panel_url });
      expect(findPanelUrls(state, sandbox.auth_url)).toBeUndefined();
    }
    expect(findPanelUrls(state, 'https://cloud.example')).toBeUndefined();
    writeFileSync(join(state, 'sandbox.json'), '{}', { mode: 0o644 });
    expect(findPanelUrls(state, sandbox.auth_url)).toBeUndefined();
  });
});
