import { describe, expect, test } from 'vitest';
import {
  type BrowserFacts,
  checkBrowser,
  checkEnvironment,
  checkSurroundings,
} from '../../../src/auth/doctor/browser.ts';
import type { BrowserEnvironment } from '../../../src/platform/browser.ts';
import { profileNamed } from '../../fixtures/profile.ts';

const home: BrowserEnvironment = {
  wsl: false,
  ssh: undefined,
  container: false,
  codespaces: false,
  ci: false,
  display: true,
};
const seat: BrowserFacts = {
  runtime: home,
  isTerminal: true,
  browser: undefined,
  opener: '/usr/bin/xdg-open',
  profile: profileNamed('default'),
};

describe('the browser', () => {
  test.each<readonly [string, Partial<BrowserFacts>, 'ok' | 'warning', RegExp | undefined]>([
    ['a desk', {}, 'ok', undefined],
    ['BROWSER', { browser: 'firefox', runtime: { ...home, display: false } }, 'ok', undefined],
    ['BROWSER=none', { browser: 'none' }, 'warning', /unset BROWSER/],
    ['CI', { runtime: { ...home, ci: true } }, 'warning', /unset CI/],
    ['no terminal', { isTerminal: false }, 'warning', /auth login --paste`/],
    ['no display', { runtime: { ...home, display: false } }, 'warning', /auth login --paste`/],
    ['no display under WSL', { runtime: { ...home, wsl: true, display: false } }, 'ok', undefined],
    ['no opener', { opener: undefined }, 'warning', /set BROWSER/],
    ['a BROWSER that is not installed', { browser: 'nothing', opener: undefined }, 'warning', /unset BROWSER/],
  ])('%s', (_, change, status, hint) => {
    const finding = checkBrowser({ ...seat, ...change });
    expect(finding.status).toBe(status);
    if (hint === undefined) expect(finding.hint).toBeUndefined();
    else expect(finding.hint).toMatch(hint);
  });
});

describe('the surroundings', () => {
  test.each<readonly [string, Partial<BrowserEnvironment>, 'ok' | 'warning']>([
    ['nothing', {}, 'ok'],
    ['WSL', { wsl: true }, 'ok'],
    ['SSH', { ssh: { server: '10.0.0.1', port: 22 } }, 'warning'],
    ['container', { container: true }, 'warning'],
    ['Codespaces', { codespaces: true }, 'warning'],
  ])('%s', (_, change, status) => {
    const finding = checkSurroundings({ runtime: { ...home, ...change }, profile: profileNamed('work') });
    expect(finding.status).toBe(status);
    if (status === 'warning') expect(finding.hint).toContain('cloudctl auth login --paste --profile work');
  });
});

describe('the environment', () => {
  test('a variable that prints requests would stop a login', () => {
    const [finding] = checkEnvironment({ variable: 'NODE_DEBUG', value: 'http', why: 'prints requests' }, false, []);
    expect(finding).toMatchObject({ status: 'failed', hint: '`unset NODE_DEBUG`' });
  });

  test('an access token of the environment hides the session, and a proxy is named', () => {
    const findings = checkEnvironment(undefined, true, [{ origin: 'https://a.example', proxy: 'http://p:8080' }]);
    expect(findings.map(({ id, status }) => `${id} ${status}`)).toEqual([
      'environment ok',
      'access-token warning',
      'proxy ok',
    ]);
  });
});
