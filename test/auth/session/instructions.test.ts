import { describe, expect, it } from 'vitest';
import { loginInstructions, showInstructions } from '../../../src/auth/session/instructions.ts';
import { type BrowserEnvironment, browserObstacle } from '../../../src/platform/browser.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { testHost } from '../../fixtures/host.ts';
import { profileNamed } from '../../fixtures/profile.ts';

const nowhere: BrowserEnvironment = {
  wsl: false,
  ssh: undefined,
  container: false,
  codespaces: false,
  ci: false,
  display: false,
};

const authorizationUrl = 'https://cloud.example/v1/oauth/authorize?client_id=c&state=S';

function textWith(changes: Partial<Parameters<typeof loginInstructions>[0]> = {}): string {
  return loginInstructions({
    profile: profileNamed('work'),
    authorizationUrl,
    callbackUrl: 'http://127.0.0.1:8765/callback',
    runtimeEnvironment: nowhere,
    opened: false,
    isContinued: false,
    listening: true,
    pasting: true,
    limit: '5m',
    ...changes,
  });
}

describe('the login instructions', () => {
  it.each([
    ['after the browser was opened', { opened: true }],
    ['after a login without a page was refused', { isContinued: true }],
    ['for a listener and paste', {}],
    ['for a listener alone', { pasting: false }],
    ['for paste alone', { listening: false }],
  ])('%s have the complete authorization URL alone on its line, and lines of at most 80 columns', (_when, changes) => {
    const lines = textWith(changes).split('\n');
    expect(lines).toContain(authorizationUrl);
    expect(lines.filter((line) => line.length > 80 && line !== authorizationUrl)).toEqual([]);
    expectGolden('auth', lines.join('\n'));
  });

  it.each<[string, Partial<BrowserEnvironment>, RegExp]>([
    ['SSH', { ssh: { server: '10.0.0.5', port: 22 } }, /`ssh -L 8765:127\.0\.0\.1:8765 10\.0\.0\.5`/],
    ['SSH on another port', { ssh: { server: '10.0.0.5', port: 2222 } }, /`ssh -p 2222 -L 8765:127\.0\.0\.1:8765 10/],
    ['SSH without an address', { ssh: { server: undefined, port: 22 } }, /`ssh -L 8765:127\.0\.0\.1:8765 THIS-SERVER`/],
    ['a container', { container: true }, /`cloudctl auth login --paste --profile work`/],
    ['WSL', { wsl: true }, /`cloudctl auth login --paste --profile work`/],
    ['a codespace', { codespaces: true, container: true }, /`cloudctl auth login --paste --profile work`/],
  ])('in %s name the command that reaches this machine, but not for paste alone', (_where, environment, command) => {
    const runtimeEnvironment = { ...nowhere, ...environment };
    const added = textWith({ runtimeEnvironment })
      .split('\n')
      .filter((line) => !textWith().includes(line));
    expect(added.join('\n')).toMatch(command);
    expect(textWith({ runtimeEnvironment, listening: false })).toBe(textWith({ listening: false }));
    expectGolden('auth', added.join('\n'));
  });

  it.each<[string, string, string]>([
    ['of a sandbox', 'http://127.0.0.1:4000', 'ssh -L 4000:127.0.0.1:4000 -L 8765:127.0.0.1:8765 10.0.0.5'],
    ['of a sandbox on ::1', 'http://[::1]:4000', 'ssh -L 4000:[::1]:4000 -L 8765:127.0.0.1:8765 10.0.0.5'],
  ])('in an SSH session forward the port of the sign-in page %s, and of the callback', (_of, origin, command) => {
    const address = `${origin}/v1/oauth/authorize?client_id=c&state=S`;
    const ssh = { server: '10.0.0.5', port: 22 };
    const text = textWith({ authorizationUrl: address, runtimeEnvironment: { ...nowhere, ssh } });
    expect(text).toContain(`\`${command}\``);
    expect(text).not.toContain('--paste');
    expect(textWith({ authorizationUrl: address })).not.toContain('ssh');
  });

  it('say why no browser is opened, but not beside one that was', () => {
    const obstacle = 'this session has no graphical display';
    expect(textWith({ obstacle }).split('\n')[0]).toContain(obstacle);
    expect(textWith({ obstacle, opened: true })).toBe(textWith({ opened: true }));
    expect(textWith({ obstacle, isContinued: true })).toBe(textWith({ isContinued: true }));
  });

  it.each<[string, Parameters<typeof textWith>[0], boolean]>([
    ['in an SSH session', { runtimeEnvironment: { ...nowhere, ssh: { server: 'host', port: 22 } } }, true],
    ['for a published port', { isForwarded: true }, true],
    ['on this machine', {}, false],
    ['beside an opened browser', { isForwarded: true, opened: true }, false],
    ['for paste alone', { isForwarded: true, shortUrl: undefined }, false],
  ])('%s have the short URL of the helper: %#', (_where, changes, isShown) => {
    const shortUrl = 'http://127.0.0.1:8765/5b07c9d2e4';
    const lines = textWith({ shortUrl, ...changes }).split('\n');
    expect(lines.filter((line) => line.includes(shortUrl))).toHaveLength(isShown ? 1 : 0);
    expect(lines).toContain(authorizationUrl);
    if (isShown) expectGolden('auth', lines.at(-1) ?? '');
  });

  it.each([
    [true, { FORCE_HYPERLINK: '1' }, true],
    [true, { TERM: 'xterm-kitty', SSH_TTY: '/dev/pts/1' }, true],
    [true, { TERM: 'dumb' }, false],
    [false, { TERM: 'xterm-kitty' }, false],
  ])('in a terminal (%s) with %j have the URL as a link: %s', async (isTerminal, env, isLink) => {
    const host = testHost({ env, ...(isTerminal ? { terminal: 80 } : {}) });
    const addresses = { authorizationUrl, callbackUrl: 'http://127.0.0.1:8765/callback', startUrl: undefined };
    await showInstructions(host, addresses, {
      profile: profileNamed('work'),
      runtimeEnvironment: nowhere,
      listening: true,
      pasting: false,
      limit: '5m',
      isContinued: false,
      canOpen: false,
    });
    expect(host.err().includes(`\u001b]8;;${authorizationUrl}\u001b\\${authorizationUrl}\u001b]8;;`)).toBe(isLink);
    expect(host.err().includes('\u001b')).toBe(isLink);
  });

  it('forward the port to the address of the listener', () => {
    const runtimeEnvironment = { ...nowhere, ssh: { server: 'host', port: 22 } };
    const forward = (callbackUrl: string) => /-L (\S+) host/.exec(textWith({ runtimeEnvironment, callbackUrl }))?.[1];
    expect(forward('http://[::1]:8765/cb')).toBe('8765:[::1]:8765');
    expect(forward('http://localhost/cb')).toBe('80:127.0.0.1:80');
  });

  it.each([
    [true, 'http://127.0.0.1:8765/start/x', true],
    [true, undefined, false],
    [false, 'http://127.0.0.1:8765/start/x', false],
  ])('open the browser (%s) at the one-time address %s: %s', async (canOpen, startUrl, isOpened) => {
    const host = testHost({ browse: () => undefined });
    const options = {
      profile: profileNamed('work'),
      runtimeEnvironment: nowhere,
      listening: true,
      pasting: false,
      limit: '5m',
      isContinued: false,
    };
    const addresses = { authorizationUrl, callbackUrl: 'http://127.0.0.1:8765/callback', startUrl };
    await showInstructions(host, addresses, { ...options, canOpen });
    expect(host.opened).toEqual(isOpened ? [startUrl] : []);
    expect(host.err()).toBe(`${textWith({ pasting: false, opened: isOpened })}\n`);
  });

  it('begin with the failure of the browser, and have the URL', async () => {
    const host = testHost();
    const open = async (_url: string, onFailure?: (failure: string) => void): Promise<boolean> => {
      onFailure?.('FAILURE');
      return false;
    };
    const options = { profile: profileNamed('work'), runtimeEnvironment: nowhere, limit: '5m', isContinued: false };
    const addresses = { authorizationUrl, callbackUrl: 'http://127.0.0.1:8765/callback', startUrl: 'http://x' };
    await showInstructions({ env: {}, stderr: host.stderr, browser: { open } }, addresses, {
      ...options,
      listening: true,
      pasting: true,
      canOpen: true,
    });
    expect(host.err()).toBe(`warning: FAILURE\n${textWith()}\n`);
  });
});

describe('a browser may be opened', () => {
  it.each<[string, Partial<BrowserEnvironment>, boolean, string | undefined, boolean]>([
    ['at a terminal with a display', { display: true }, true, undefined, true],
    ['in WSL', { wsl: true }, true, undefined, true],
    ['with BROWSER', {}, true, 'firefox', true],
    ['without anything to show it', {}, true, undefined, false],
    ['with an empty BROWSER', {}, true, '', false],
    ['without a terminal', { display: true }, false, 'firefox', false],
    ['under CI', { display: true, ci: true }, true, 'firefox', false],
    ['with BROWSER=none', { display: true }, true, 'none', false],
    ['over SSH', { ssh: { server: '10.0.0.5', port: 22 } }, true, undefined, false],
    [
      'over SSH with a forwarded display',
      { ssh: { server: '10.0.0.5', port: 22 }, display: true },
      true,
      undefined,
      true,
    ],
  ])('%s: %#', (_where, around, terminal, browser, may) => {
    const obstacle = browserObstacle({ ...nowhere, ...around }, terminal, browser);
    expect(obstacle === undefined).toBe(may);
    if (!may) expectGolden('auth', obstacle ?? '');
  });
});
