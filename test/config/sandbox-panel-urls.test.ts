import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findSandboxPanelUrls, recordStartedSandbox } from '../../src/config/sandbox-urls-and-credentials.ts';
import { testHost } from '../fixtures/host.ts';

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
  recordStartedSandbox(state, sandbox);
  const pages = findSandboxPanelUrls(state, sandbox.auth_url);
  expect(pages?.home).toBe(sandbox.panel_url);
  expect(pages?.page('timeline')).toBe(`${sandbox.panel_url}/timeline`);
  expect(pages?.droplet('7')).toBe(`${sandbox.panel_url}/droplets?droplet=7`);
  expect(pages?.droplet('\u001b&x=#')).toBe(`${sandbox.panel_url}/droplets?droplet=%1B%26x%3D%23`);
  expect(pages?.migration('u/v')).toBe(`${sandbox.panel_url}/migrations#cluster-u%2Fv`);
});

it('other servers, addresses that are not http and damaged records have none', () => {
  const { state } = testHost().folders;
  expect(findSandboxPanelUrls(state, sandbox.auth_url)).toBeUndefined();
  for (const panel_url of ['javascript:alert(1)', 'nonsense']) {
    recordStartedSandbox(state, { ...sandbox, panel_url });
    expect(findSandboxPanelUrls(state, sandbox.auth_url)).toBeUndefined();
  }
  expect(findSandboxPanelUrls(state, 'https://cloud.example')).toBeUndefined();
  writeFileSync(join(state, 'sandbox.json'), '{}', { mode: 0o644 });
  expect(findSandboxPanelUrls(state, sandbox.auth_url)).toBeUndefined();
});
