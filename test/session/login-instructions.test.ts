import { describe, expect, it } from 'vitest';
import type { RuntimeEnvironment } from '../../src/platform/runtime-environment.ts';
import {
  canOpenBrowser,
  type LoginInstructionsOptions,
  loginInstructions,
} from '../../src/session/login-instructions.ts';

const nowhere: RuntimeEnvironment = {
  wsl: false,
  ssh: undefined,
  container: false,
  codespaces: false,
  ci: false,
  display: false,
};

function said(changes: Partial<LoginInstructionsOptions> = {}): string {
  return loginInstructions({
    profile: 'work',
    authorizationUrl: 'https://cloud.example/v1/oauth/authorize?client_id=c&state=S',
    callbackUrl: 'http://127.0.0.1:8765/callback',
    runtimeEnvironment: nowhere,
    opened: false,
    listening: true,
    pasting: true,
    limit: '5m',
    ...changes,
  });
}

describe('the invitation to log in', () => {
  it('has the authorization URL whole and alone on its line, however it is said', () => {
    for (const changes of [{}, { opened: true }, { listening: false }, { pasting: false }]) {
      expect(said(changes).split('\n')).toContain('https://cloud.example/v1/oauth/authorize?client_id=c&state=S');
    }
  });

  it('says how long it waits, and what to look at when the page complains', () => {
    expect(said()).toMatch(/5m at most/);
    expect(said()).toMatch(
      /complains of the redirect uri or the scope[^\n]*\n[^\n]*client_id, callback_urls and scope/,
    );
    expect(said()).toContain('cloudctl config list --profile work');
  });

  it('breaks no word on a terminal of 80 columns, the addresses apart', () => {
    for (const changes of [{}, { opened: true }, { pasting: true }, { listening: false, pasting: true }]) {
      const long = said(changes)
        .split('\n')
        .filter((line) => line.length > 80 && !line.startsWith('http'));
      expect(long).toEqual([]);
    }
  });

  it('asks for a paste only where one is read', () => {
    expect(said()).toMatch(/paste the whole address/);
    expect(said({ pasting: false })).not.toMatch(/paste/);
    expect(said({ listening: false })).toMatch(/paste the whole address/);
  });

  it.each<[Partial<RuntimeEnvironment>, RegExp]>([
    [{ ssh: { server: '10.0.0.5', port: 22 } }, /`ssh -L 8765:127\.0\.0\.1:8765 10\.0\.0\.5`/],
    [{ ssh: { server: '10.0.0.5', port: 2222 } }, /`ssh -p 2222 -L 8765:127\.0\.0\.1:8765 10\.0\.0\.5`/],
    [{ ssh: { server: '', port: 22 } }, /`ssh -L 8765:127\.0\.0\.1:8765 THIS-SERVER`/],
    [{ container: true }, /container[^\n]*auth login --paste/],
    [{ wsl: true }, /WSL[^\n]*auth login --paste/],
    [{ codespaces: true, container: true }, /codespace[^\n]*auth login --paste/],
  ])('knows the way back from %j', (around, words) => {
    expect(said({ runtimeEnvironment: { ...nowhere, ...around } })).toMatch(words);
    expect(said({ runtimeEnvironment: { ...nowhere, ...around }, listening: false })).not.toMatch(words);
  });

  it('forwards to the address that is listened on', () => {
    const surroundings = { ...nowhere, ssh: { server: 'host', port: 22 } };
    expect(said({ runtimeEnvironment: surroundings, callbackUrl: 'http://[::1]:8765/cb' })).toContain(
      '-L 8765:[::1]:8765 host',
    );
    expect(said({ runtimeEnvironment: surroundings, callbackUrl: 'http://localhost/cb' })).toContain(
      '-L 80:127.0.0.1:80 host',
    );
  });
});

describe('a browser may be opened', () => {
  it.each<[string, Partial<RuntimeEnvironment>, boolean, string | undefined, boolean]>([
    ['at a terminal with a display', { display: true }, true, undefined, true],
    ['in WSL', { wsl: true }, true, undefined, true],
    ['with BROWSER', {}, true, 'firefox', true],
    ['without anything to show it', {}, true, undefined, false],
    ['with an empty BROWSER', {}, true, '', false],
    ['without a terminal', { display: true }, false, 'firefox', false],
    ['under CI', { display: true, ci: true }, true, 'firefox', false],
  ])('%s: %#', (_where, around, terminal, browser, may) => {
    expect(canOpenBrowser({ ...nowhere, ...around }, terminal, browser)).toBe(may);
  });
});
