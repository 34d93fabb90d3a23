import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { run } from '../../fixtures/cli.ts';
import { type Folders, makeFolders } from '../../fixtures/folders.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { authorizationUrl, type Cookies, logIn, visit } from '../../fixtures/login.ts';
import { lacks } from '../../fixtures/needs.ts';
import { type Sandbox, startSandbox } from '../../fixtures/sandbox.ts';
import { type Terminal, terminal } from '../../fixtures/terminal.ts';

/** Lines of `gh auth login` in a browser, its questions included. */
const longest = 8;

const names = ['web-1', 'web-2', 'web-3'];
const like = ['--size', 's-1vcpu-1gb', '--image', 'debian-12-x64', '--region', 'ams3'];

describe.skipIf(lacks('tmux'))('what a person sees at 80 columns', () => {
  let place: Folders;
  let sandbox: Sandbox;
  let folders: Folders;
  let shown: Terminal | undefined;
  // The browser that stays signed in.
  let cookies: Cookies;
  beforeAll(async () => {
    place = makeFolders();
    sandbox = await startSandbox(place, ['--no-profile', '--consent', 'approve maya@example.com']);
  });
  afterAll(async () => {
    await sandbox.stop();
    place.remove();
  });
  beforeEach(async () => {
    folders = makeFolders();
    cookies = new Map();
    await sandbox.admin('DELETE', '/_sandbox/faults');
  });
  afterEach(async () => {
    await shown?.close();
    shown = undefined;
    folders.remove();
  });

  // A browser that opens, and that the test stands in for.
  const env = () => ({ ...sandbox.env, BROWSER: '/bin/true', CLOUDCTL_SCOPE: 'read write' });
  const open = async (args: readonly string[]): Promise<Terminal> => {
    shown = await terminal(args, { folders, env: env(), columns: 80, rows: 40 });
    return shown;
  };
  const loggedIn = async (): Promise<string> => {
    expect((await logIn({ folders, env: env() }, [], cookies)).code).toBe(0);
    return (await run(['auth', 'token'], { folders, env: env() })).stdout.trim();
  };
  const answer = async (screen: Terminal): Promise<void> => {
    await screen.waitFor(/^\? /m);
    await screen.press('Enter');
  };
  const goThroughBrowser = async (screen: Terminal): Promise<void> => {
    await visit(authorizationUrl.exec(await screen.waitFor(authorizationUrl))?.[0] ?? '', { cookies });
  };
  const expectTranscript = async (screen: Terminal): Promise<void> => {
    expect(await screen.ended()).toBe(0);
    const text = await screen.screen();
    expectGolden('e2e/login', stable(text, folders));
    // A command's own result, which follows the login, has the length of any other day.
    const [login = ''] = text.split(/\n^Name +Status$/m);
    expect(login.split('\n').length).toBeLessThanOrEqual(longest);
  };

  test('of the first login', async () => {
    const screen = await open(['auth', 'login']);
    await goThroughBrowser(screen);
    await expectTranscript(screen);
  });

  test('of the second login', async () => {
    await loggedIn();
    const screen = await open(['auth', 'login']);
    await answer(screen);
    await goThroughBrowser(screen);
    await expectTranscript(screen);
  });

  test('of a list whose session was revoked', async () => {
    const token = await loggedIn();
    await sandbox.admin('POST', '/_sandbox/tokens/revoke', { token });
    const screen = await open(['droplets', 'list', '--format', 'Name,Status']);
    await answer(screen);
    await goThroughBrowser(screen);
    await expectTranscript(screen);
  });

  test('of a batch that is resumed after its session was revoked', async () => {
    const token = await loggedIn();
    const fault = { match: { method: 'POST', path: '/v2/droplets' }, action: 'status', status: 403, nth: 2 };
    await sandbox.admin('POST', '/_sandbox/faults', fault);
    const words = ['droplets', 'create', ...names, ...like, '--batch-size', '1', '--concurrency', '1'];
    const stopped = await run(words, { folders, env: env() });
    expect(stopped.code).toBe(5);
    await sandbox.admin('DELETE', '/_sandbox/faults');
    await sandbox.admin('POST', '/_sandbox/tokens/revoke', { token });
    const ledger = /^ledger: (.+)$/m.exec(stopped.stderr)?.[1] ?? '';
    const screen = await open(['droplets', 'create', '--resume', ledger, '--format', 'Name,Status']);
    await answer(screen);
    await goThroughBrowser(screen);
    await expectTranscript(screen);
  });
});

/** Without the addresses, paths and dates of the run. */
function stable(text: string, { home, state }: Folders): string {
  return text
    .replaceAll(state, '/STATE')
    .replace(/\b[0-9a-f]{12}\.jsonl\b/g, 'BATCH.jsonl')
    .replaceAll(home, '/HOME')
    .replace(/^https?:\S+\/v1\/oauth\/authorize\?\S+$/gm, 'AUTHORIZATION_URL')
    .replace(/\b127\.0\.0\.1:\d+/g, '127.0.0.1:PORT')
    .replace(/\bfor 30 d \(\d+ [A-Z][a-z]{2}( \d{4})?\)/g, 'for 30 d (DAY)');
}
