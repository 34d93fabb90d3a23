import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { bin, node, startProgram } from '../../fixtures/cli.ts';
import { makeFolders } from '../../fixtures/folders.ts';
import { type KeychainFixture, makeKeychainFixture, noKeyring, setUp } from './keychain-fixture.ts';

const said = /^.*\bmode 0600\b.*$/m;

describe.skipIf(noKeyring)('a session in a file, for those who ask for it', () => {
  let fixture: KeychainFixture;
  beforeEach(async () => {
    fixture = await makeKeychainFixture();
  });
  afterEach(() => fixture.close());

  const signInToFile = async (): Promise<void> => {
    expect((await setUp(fixture, ['--credential-store', 'file'])).code).toBe(0);
    expect((await fixture.logIn()).code).toBe(0);
  };

  test('is never chosen by itself: without a keychain a login fails', async () => {
    const env = { DBUS_SESSION_BUS_ADDRESS: undefined, CLOUDCTL_CLIENT_SECRET: fixture.sandbox.client_secret };
    const ran = await fixture.run(['auth', 'login', '--no-browser', '-o', 'json'], { env });
    expect(ran).toMatchObject({ code: 1, stdout: '' });
    expect(JSON.parse(ran.stderr)).toMatchObject({ error: { code: 'keychain_unavailable' } });
    expect(files(fixture.folders.config)).toEqual([]);
  });

  test('needs no keychain, and the login says where it is', async () => {
    const env = { DBUS_SESSION_BUS_ADDRESS: undefined };
    expect((await setUp(fixture, ['--credential-store', 'file'], { env })).code).toBe(0);
    const ran = await fixture.logIn([], { env });
    expect(ran).toMatchObject({ code: 0, stdout: '' });
    expect(ran.stderr.match(new RegExp(said, 'gm'))).toHaveLength(1);
    expect((await fixture.run(['actions', 'list'], { env })).code).toBe(0);
    expect([...(await fixture.items()).keys()]).toEqual([]);
  });

  test('auth status names the file in a field; no command after the login says it in a sentence', async () => {
    await signInToFile();
    const status = await fixture.run(['auth', 'status', '-o', 'json']);
    expect(status.code).toBe(0);
    expect(status.stderr).toBe('');
    const { store, store_place } = status.json<{ readonly store: string; readonly store_place: string }>();
    expect(store).toBe('file');
    expect(statSync(store_place).isFile()).toBe(true);
    for (const words of [
      ['auth', 'token'],
      ['actions', 'list'],
      ['droplets', 'list'],
      ['auth', 'list'],
    ]) {
      expect(await fixture.run(words)).toMatchObject({ code: 0, stderr: '' });
    }
  });

  test('is readable by its owner alone, in folders of its owner alone, whatever the umask', async () => {
    await signInToFile();
    const folders = makeFolders();
    const env = {
      ...fixture.env,
      CLOUDCTL_CREDENTIAL_STORE: 'file',
      CLOUDCTL_CLIENT_SECRET: fixture.sandbox.client_secret,
    };
    try {
      const line = `umask 0 && exec "$0" "${bin}" auth setup --no-input`;
      expect(await startProgram('sh', ['-c', line, node], { folders, env }).ended).toMatchObject({ code: 0 });
      for (const place of [folders, fixture.folders]) {
        const modes = [place.config, place.state].flatMap((folder) => [folder, ...files(folder)]).map(modeOf);
        expect(modes.length).toBeGreaterThan(4);
        expect(modes.filter((mode) => !/^(folder 700|file 600)$/.test(mode))).toEqual([]);
      }
    } finally {
      folders.remove();
    }
  });

  test('moves to the keychain and back with the option, one place at a time', async () => {
    const words = ['--profile', 'moving'];
    expect((await setUp(fixture, words)).code).toBe(0);
    expect((await fixture.logIn(words)).code).toBe(0);
    const env = { CLOUDCTL_CLIENT_SECRET: fixture.sandbox.client_secret };
    const moved = await fixture.logIn([...words, '--credential-store', 'file'], { env });
    expect(moved.code).toBe(0);
    expect(moved.stderr).toMatch(said);
    const status = await fixture.run(['auth', 'status', ...words, '-o', 'json']);
    expect(status.json()).toMatchObject({ store: 'file', state: 'valid' });
  });

  test('is one paste away for somebody without a keychain: the hint works as it is printed', async () => {
    const folders = makeFolders();
    const at = { folders, env: { DBUS_SESSION_BUS_ADDRESS: undefined } };
    try {
      const { stderr } = await setUp(fixture, [], at);
      const [, words = ''] = /^hint: .*`cloudctl ([^`]*)`/m.exec(stderr) ?? [];
      expect(await fixture.run(words.split(' '), at)).toMatchObject({ code: 0, stdout: '' });
      expect((await setUp(fixture, [], at)).code).toBe(0);
      expect((await fixture.logIn([], at)).code).toBe(0);
      expect((await fixture.run(['auth', 'token'], at)).code).toBe(0);
    } finally {
      folders.remove();
    }
  });

  test('logout removes the file', async () => {
    await signInToFile();
    const { stdout: place } = await fixture.run(['auth', 'status', '--query', 'store_place', '-o', 'table']);
    expect(files(fixture.folders.state)).toContain(place.trim());
    expect((await fixture.run(['auth', 'logout'])).code).toBe(0);
    expect(files(fixture.folders.state)).not.toContain(place.trim());
  });
});

function files(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { recursive: true }).map((name) => join(folder, String(name)));
  } catch {
    return [];
  }
}

function modeOf(path: string): string {
  const stat = statSync(path);
  return `${stat.isDirectory() ? 'folder' : 'file'} ${(stat.mode & 0o777).toString(8)}`;
}
