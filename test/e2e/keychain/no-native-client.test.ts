import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type KeychainFixture, makeKeychainFixture, noKeyring, setUp } from './keychain-fixture.ts';

/** What Node does when the package was installed with `--omit=optional`, or for another system. */
const withoutBinary = `
const { Module } = require('node:module');
const resolve = Module._resolveFilename;
Module._resolveFilename = function (request, ...rest) {
  if (request === '@napi-rs/keyring') throw new Error('Cannot find native binding.');
  return resolve.call(this, request, ...rest);
};
`;

describe.skipIf(noKeyring)('without the binary of the native keychain client', () => {
  let fixture: KeychainFixture;
  beforeEach(async () => {
    fixture = await makeKeychainFixture();
  });
  afterEach(() => fixture.close());

  test('the Secret Service is used directly: setup, login, token and logout work', async () => {
    const hook = join(fixture.folders.home, 'without-binary.cjs');
    writeFileSync(hook, withoutBinary);
    const env = { NODE_OPTIONS: `--require ${hook}` };
    const withSecret = { env: { ...env, CLOUDCTL_CLIENT_SECRET: fixture.sandbox.client_secret } };
    expect((await setUp(fixture)).code).toBe(0);
    expect((await fixture.logIn([], withSecret)).code).toBe(0);
    expect((await fixture.items()).size).toBe(2);
    expect((await fixture.run(['auth', 'token'], { env })).stdout).not.toBe('');
    expect((await fixture.run(['auth', 'logout'], { env })).code).toBe(0);
    expect((await fixture.items()).size).toBe(1);
  });
});
