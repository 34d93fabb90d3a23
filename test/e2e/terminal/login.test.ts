import { get } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { bin, node, run } from '../../fixtures/cli.ts';
import { type Folders, makeFolders } from '../../fixtures/folders.ts';
import { authorizationUrl, visit } from '../../fixtures/login.ts';
import { lacks } from '../../fixtures/needs.ts';
import { type Sandbox, startSandbox } from '../../fixtures/sandbox.ts';
import { openTerminal, type Terminal, terminal } from '../../fixtures/terminal.ts';

describe.skipIf(lacks('tmux'))('auth login on a terminal', () => {
  let world: Folders;
  let sandbox: Sandbox;
  let folders: Folders;
  let shown: Terminal | undefined;
  beforeAll(async () => {
    world = makeFolders();
    sandbox = await startSandbox(world, ['--no-profile', '--consent', 'approve maya@example.com']);
  });
  afterAll(async () => {
    await sandbox.stop();
    world.remove();
  });
  beforeEach(() => {
    folders = makeFolders();
  });
  afterEach(async () => {
    await shown?.close();
    shown = undefined;
    folders.remove();
  });

  const open = async (args: readonly string[], env = sandbox.env): Promise<Terminal> => {
    shown = await terminal(args, { folders, env, columns: 200, rows: 60 });
    return shown;
  };
  const invited = async (screen: Terminal): Promise<string> =>
    authorizationUrl.exec(await screen.waitFor(authorizationUrl))?.[0] ?? '';

  test('runs setup first when the profile lacks something, and goes on with the login', async () => {
    const screen = await open(['auth', 'login', '--no-browser', '--credential-store', 'file'], {});
    await screen.waitFor(/Profile default /);
    const answers: readonly (readonly [RegExp, string])[] = [
      [/\? Origin .*authorization server/, sandbox.auth_url],
      [/\? Origin .*resource API/, sandbox.base_url],
      [/\? Client ID/, sandbox.client_id],
      [/\? Callback URL/, sandbox.callback_url],
      [/\? Scope/, ''],
      [/\? Client secret/, sandbox.client_secret],
    ];
    for (const [question, text] of answers) {
      await screen.waitFor(question);
      if (text !== '') await screen.type(text);
      await screen.press('Enter');
    }
    await visit(await invited(screen));
    expect(await screen.ended()).toBe(0);
    expect(await screen.screen()).toMatch(/Maya Lindqvist <maya@example\.com>/);
    expect(await screen.screen()).not.toContain(sandbox.client_secret);
    expect(await run(['actions', 'list', '--limit', '1'], { folders })).toMatchObject({ code: 0, stderr: '' });
  });

  // In its usual mode a terminal takes 4,095 characters of a line on Linux and 1,024 elsewhere.
  test.for([3_000, 6_000])('takes a pasted address of %i characters whole', async (length) => {
    const screen = await open(['auth', 'login', '--paste']);
    const [front, back] = (await redirectOf(await invited(screen))).split('?');
    // In front, since what is cut off is the end.
    const padding = 'x'.repeat(length - `${front}?unknown=&${back}`.length);
    const pasted = `${front}?unknown=${padding}&${back}`;
    expect(pasted).toHaveLength(length);
    await screen.type(pasted);
    await screen.press('Enter');
    expect(await screen.ended()).toBe(0);
    expect(await screen.screen()).toContain('Maya Lindqvist');
  });

  test('takes a pasted address while it listens, too', async () => {
    const screen = await open(['auth', 'login', '--no-browser']);
    await screen.type(await redirectOf(await invited(screen)));
    await screen.press('Enter');
    expect(await screen.ended()).toBe(0);
    expect(await screen.screen()).toContain('Maya Lindqvist');
  });

  test('a code without its state is refused with the hint to paste the whole address, and the login stays armed', async () => {
    const screen = await open(['auth', 'login', '--no-browser']);
    const address = new URL(await redirectOf(await invited(screen)));
    await screen.type(address.searchParams.get('code') ?? '');
    await screen.press('Enter');
    await screen.waitFor(/^warning: .+/m);
    await screen.type(`${address.searchParams.get('code')} ${address.searchParams.get('state')}`);
    await screen.press('Enter');
    expect(await screen.ended()).toBe(0);
  });

  test('Ctrl-C while it waits ends it with 130', async () => {
    const screen = await open(['auth', 'login', '--no-browser']);
    await invited(screen);
    await screen.press('C-c');
    expect(await screen.ended()).toBe(130);
    // Not at the start of a line: until the program reads in raw mode, the terminal itself echoes `^C`.
    expect(await screen.screen()).toMatch(/error: .+$/m);
  });

  describe('after Ctrl-Z and fg', () => {
    // A shell with job control, which starts the program as its foreground job.
    const stopped = async (args: readonly string[], ready: RegExp): Promise<Terminal> => {
      const job = `set -m; "$0" "$@"; printf 'stopped with %s\\n' $?; fg; exit $?`;
      const words = ['-c', job, node, bin, ...args];
      shown = await openTerminal('sh', words, { folders, env: sandbox.env, columns: 200, rows: 60 });
      await shown.waitFor(ready);
      await shown.press('C-z');
      await shown.waitFor(/stopped with/);
      return shown;
    };

    test.for([['--no-browser'], ['--paste']])('auth login %s takes a pasted address', async (options) => {
      const screen = await stopped(['auth', 'login', ...options], authorizationUrl);
      const url = authorizationUrl.exec(await screen.screen())?.[0] ?? '';
      await screen.type(await redirectOf(url));
      await screen.press('Enter');
      expect(await screen.ended()).toBe(0);
      expect(await screen.screen()).toContain('Maya Lindqvist');
    });

    test('Ctrl-C ends the login', async () => {
      const screen = await stopped(['auth', 'login', '--paste'], authorizationUrl);
      await screen.press('C-c');
      expect(await screen.ended()).toBe(130);
    });

    test('a question takes its answer', async () => {
      const first = await open(['auth', 'login', '--no-browser']);
      await visit(await invited(first));
      expect(await first.ended()).toBe(0);
      await first.close();
      const screen = await stopped(['auth', 'login', '--paste'], /\(Y\/n\)/);
      await screen.press('n', 'Enter');
      expect(await screen.ended()).toBe(0);
      expect(await screen.screen()).not.toMatch(/error:/);
    });
  });

  test('a valid session is replaced only after confirmation', async () => {
    const first = await open(['auth', 'login', '--no-browser']);
    await visit(await invited(first));
    expect(await first.ended()).toBe(0);
    await first.close();
    const before = await run(['auth', 'token'], { folders, env: sandbox.env });

    const second = await open(['auth', 'login', '--no-browser']);
    await second.waitFor(/\? .*default.*\(Y\/n\)/);
    await second.type('n');
    await second.press('Enter');
    expect(await second.ended()).toBe(0);
    expect(await second.screen()).not.toMatch(authorizationUrl);
    expect(await run(['auth', 'token'], { folders, env: sandbox.env })).toMatchObject({
      code: 0,
      stdout: before.stdout,
    });
  });

  test('another scope than the requested one is asked about, and refusing keeps nothing', async () => {
    const screen = await open(['auth', 'login', '--no-browser', '--scope', 'read write']);
    await visit(
      (await invited(screen)).replace('scope=read+write', 'scope=read').replace('scope=read%20write', 'scope=read'),
    );
    await screen.waitFor(/\? .*"read".*"read write"/);
    await screen.type('n');
    await screen.press('Enter');
    expect(await screen.ended()).toBe(4);
    expect(await run(['auth', 'token'], { folders, env: sandbox.env })).toMatchObject({ code: 4, stdout: '' });
  });
});

/** The address the browser would end on, not gone to. */
function redirectOf(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false }, (response) => {
      response.resume();
      const { location } = response.headers;
      if (location === undefined) reject(new Error(`no redirect, but status ${response.statusCode}`));
      else resolve(location);
    }).on('error', reject);
  });
}
