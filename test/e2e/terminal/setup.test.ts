import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { bin, node, run } from '../../fixtures/cli.ts';
import { type Folders, makeFolders } from '../../fixtures/folders.ts';
import { lacks } from '../../fixtures/needs.ts';
import { openTerminal, type Terminal, terminal } from '../../fixtures/terminal.ts';

const secret = 'hush-4f1c09d2ab77';
const given = {
  CLOUDCTL_AUTH_URL: 'https://cloud.example.com',
  CLOUDCTL_BASE_URL: 'https://api.example.com',
  CLOUDCTL_CLIENT_ID: 'my-application',
  CLOUDCTL_CALLBACK_URL: 'http://127.0.0.1:8765/callback',
  CLOUDCTL_CREDENTIAL_STORE: 'file',
};

describe.skipIf(lacks('tmux'))('auth setup on a terminal', () => {
  let folders: Folders;
  let screen: Terminal | undefined;
  beforeEach(() => {
    folders = makeFolders();
  });
  afterEach(async () => {
    await screen?.close();
    screen = undefined;
    folders.remove();
  });

  const open = async (args: readonly string[], env = {}): Promise<Terminal> => {
    screen = await terminal(args, { folders, env, columns: 120 });
    return screen;
  };
  const answer = async (shown: Terminal, question: RegExp, text: string): Promise<void> => {
    await shown.waitFor(question);
    if (text !== '') await shown.type(text);
    await shown.press('Enter');
  };
  const profile = (name = 'default'): unknown =>
    JSON.parse(readFileSync(join(folders.config, 'config.json'), 'utf8')).profiles[name];
  const storedSecret = (): string => readFileSync(join(folders.state, 'sessions/default.client.json'), 'utf8');

  test('asks for everything, takes defaults with Enter, and never shows the secret', async () => {
    const shown = await open(['auth', 'setup', '--credential-store', 'file']);
    await answer(shown, /\? Origin .*authorization server/, 'https://cloud.example.com');
    await answer(shown, /\? Origin .*resource API/, 'https://api.example.com/');
    await answer(shown, /\? Client ID/, 'my-application');
    await answer(shown, /\? Callback URL .*http:\/\/127\.0\.0\.1:8765\/callback/, '');
    await answer(shown, /\? Scope[\s\S]*❯ read: /, '');
    await shown.waitFor(/\? Client secret \(hidden\)/);
    await shown.type(secret);
    expect(await shown.screen()).not.toContain(secret);
    await shown.press('Enter');
    expect(await shown.ended()).toBe(0);
    expect(await shown.screen()).not.toContain(secret);
    expect(await shown.screen()).toMatch(/default.*config\.json/);
    expect(profile()).toEqual({
      auth_url: 'https://cloud.example.com',
      base_url: 'https://api.example.com',
      client_id: 'my-application',
      callback_urls: ['http://127.0.0.1:8765/callback'],
      scope: 'read',
      flow: 'code',
      credential_store: 'file',
    });
    expect(storedSecret()).toContain(secret);
  });

  test('says what is wrong with an answer, and asks again', async () => {
    const shown = await open(['auth', 'setup'], { ...given, CLOUDCTL_AUTH_URL: undefined });
    await answer(shown, /\? Origin .*authorization server/, 'http://cloud.example.com');
    await shown.waitFor(/http URL;/);
    for (let n = 'http://cloud.example.com'.length; n > 0; n--) await shown.press('BSpace');
    await answer(shown, /\? Origin .*authorization server/, 'https://cloud.example.com/path');
    await shown.waitFor(/a path;/);
    for (let n = '/path'.length; n > 0; n--) await shown.press('BSpace');
    await shown.press('Enter');
    await shown.waitFor(/\? Scope/);
    await shown.press('C-c');
    expect(await shown.ended()).toBe(130);
  });

  test('takes the other scope with a key', async () => {
    const shown = await open(['auth', 'setup'], { ...given, CLOUDCTL_CLIENT_SECRET: secret });
    await shown.waitFor(/❯ read: /);
    await shown.press('Down');
    await shown.waitFor(/❯ read write/);
    await shown.press('Enter');
    expect(await shown.ended()).toBe(0);
    expect(profile()).toMatchObject({ scope: 'read write' });
  });

  test('a second time it shows what is there, and Enter keeps it, the secret too', async () => {
    const env = { ...given, CLOUDCTL_CLIENT_SECRET: secret };
    expect(await run(['auth', 'setup', '--no-input'], { folders, env })).toMatchObject({ code: 0 });
    const before = [profile(), storedSecret()];
    const shown = await open(['auth', 'setup']);
    await answer(shown, /\? Origin .*authorization server .*\(https:\/\/cloud\.example\.com\)/, '');
    await answer(shown, /\? Origin .*resource API .*\(https:\/\/api\.example\.com\)/, '');
    await answer(shown, /\? Client ID .*\(my-application\)/, '');
    await answer(shown, /\? Callback URL .*\(http:\/\/127\.0\.0\.1:8765\/callback\)/, '');
    await answer(shown, /\? Scope/, '');
    await answer(shown, /\? Client secret \(hidden; /, '');
    expect(await shown.ended()).toBe(0);
    expect([profile(), storedSecret()]).toEqual(before);
  });

  test('a second time the secret can be replaced, which is the way out of invalid_client', async () => {
    const env = { ...given, CLOUDCTL_CLIENT_SECRET: 'a-wrong-one-5523' };
    expect(await run(['auth', 'setup', '--no-input'], { folders, env })).toMatchObject({ code: 0 });
    const shown = await open(['auth', 'setup'], { ...given, CLOUDCTL_SCOPE: 'read' });
    await answer(shown, /\? Client secret/, secret);
    expect(await shown.ended()).toBe(0);
    expect(storedSecret()).toContain(secret);
    expect(storedSecret()).not.toContain('a-wrong-one-5523');
  });

  const noKeychain = { DBUS_SESSION_BUS_ADDRESS: undefined };

  test('without a keychain the file store is offered before anything else', async () => {
    const shown = await open(['auth', 'setup'], noKeychain);
    await answer(shown, /no keychain[\s\S]*\(Y\/n\)/, '');
    await answer(shown, /\? Origin .*authorization server/, 'https://cloud.example.com');
    await answer(shown, /\? Origin .*resource API/, 'https://api.example.com');
    await answer(shown, /\? Client ID/, '');
    expect(await shown.ended()).toBe(0);
    expect(profile()).toEqual({
      auth_url: 'https://cloud.example.com',
      base_url: 'https://api.example.com',
      credential_store: 'file',
    });
  });

  test('without a place for the secret nothing is asked', async () => {
    screen = await terminal(['auth', 'setup'], { folders, env: noKeychain, columns: 160 });
    await answer(screen, /no keychain[\s\S]*\(Y\/n\)/, 'n');
    expect(await screen.ended()).toBe(1);
    const text = await screen.screen();
    expect(text).toMatch(/^error: .*keychain/m);
    expect(text).toMatch(/`cloudctl auth setup --credential-store file`/);
    expect(text).not.toMatch(/\? Origin/);
  });

  const stops = [
    {
      at: 'the first question',
      pattern: /\? Origin .*authorization server/,
      env: { CLOUDCTL_CREDENTIAL_STORE: 'file' },
    },
    { at: 'a choice', pattern: /❯ read: /, env: given },
    { at: 'the secret', pattern: /\? Client secret/, env: { ...given, CLOUDCTL_SCOPE: 'read' } },
  ];
  for (const key of ['C-c', 'C-d']) {
    test.for(stops)(`${key} at $at ends it with 130, writes nothing and leaves a terminal that works`, async (stop) => {
      const line = '"$0" "$@"; echo "code $?"; read word; echo "then $word"';
      const words = ['-c', line, node, bin, 'auth', 'setup'];
      screen = await openTerminal('sh', words, { folders, env: stop.env, columns: 120 });
      await screen.waitFor(stop.pattern);
      await screen.press(key);
      await screen.waitFor(/^code 130$/m);
      expect(await screen.screen()).toMatch(/\nerror: cancelled\ncode 130$/);
      await screen.type('tea');
      // A terminal that was left raw shows nothing of what is typed.
      await screen.waitFor(/^tea$/m);
      await screen.press('Enter');
      await screen.waitFor(/^then tea$/m);
      expect(existsSync(join(folders.config, 'config.json'))).toBe(false);
    });
  }
});
