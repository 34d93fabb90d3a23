import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  type BrowserFacts,
  checkBrowser,
  checkEnvironment,
  checkPath,
  checkSurroundings,
} from '../../../src/auth/doctor/browser.ts';
import type { BrowserEnvironment } from '../../../src/platform/browser.ts';
import { makeFolders } from '../../fixtures/folders.ts';
import { expectGolden } from '../../fixtures/golden.ts';
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

test('a profile without an application, which takes only tokens, needs no browser', () => {
  const profile = { ...profileNamed('third'), isTokenOnly: true } as const;
  const runtime = { ...home, container: true, display: false };
  for (const finding of [checkBrowser({ ...seat, runtime, profile }), checkSurroundings({ runtime, profile })])
    expect(finding).toMatchObject({ status: 'ok', observed: expect.stringContaining('--with-token') });
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

describe('a program of the same name on PATH', () => {
  /** Folders with a program each; the last one has a link to the first. */
  function makePath() {
    const { work, remove } = makeFolders();
    onTestFinished(remove);
    const [own = '', other = '', link = ''] = ['own', 'other tools', 'links'].map((name) => join(work, name));
    for (const folder of [own, other, link]) mkdirSync(folder);
    for (const folder of [own, other]) writeFileSync(join(folder, 'cloudctl'), '', { mode: 0o755 });
    symlinkSync(join(own, 'cloudctl'), join(link, 'cloudctl'));
    return { own, other, link };
  }
  const check = (program: string, folders: readonly string[], platform: NodeJS.Platform = 'linux') =>
    checkPath(program, { PATH: folders.join(delimiter) }, platform);

  test('that is this one, or a link to it, is in order', () => {
    const { own, link } = makePath();
    const program = join(own, 'cloudctl');
    for (const folders of [[], [own], [link, own], [own, '', '.', '/no/such/folder']])
      expect(check(program, folders)).toMatchObject({ id: 'path', status: 'ok' });
    expect(check(join(link, 'cloudctl'), [own]).status).toBe('ok');
  });

  test.each<readonly [string, 'ok' | 'warning', (program: string) => string]>([
    ['starts it and nothing else', 'ok', (own) => `#!/bin/sh\n# Ours.\n\nexec '${own}' "$@"\n`],
    ['starts it with this node', 'ok', (own) => `#!/usr/bin/env bash\nexec '${process.execPath}' "${own}" "$@"`],
    ['starts it with any node', 'warning', (own) => `#!/bin/sh\nexec node '${own}' "$@"`],
    ['starts it with another node', 'warning', (own) => `#!/bin/sh\nexec '/tmp/evil/node' '${own}' "$@"`],
    ['has a shell of another folder', 'warning', (own) => `#!/tmp/evil/sh\nexec '${own}' "$@"`],
    ['names it in a comment', 'warning', (own) => `#!/bin/sh\n# not ${own}\nexec /usr/bin/other "$@"\n`],
    ['prints its path', 'warning', (own) => `#!/bin/sh\necho '${own}'\n`],
    ['does something else before', 'warning', (own) => `#!/bin/sh\n/usr/bin/other "$@"\nexec '${own}' "$@"\n`],
    ['does something else in the same line', 'warning', (own) => `#!/bin/sh\nexec other '${own}' "$@"\n`],
    ['starts a file beside it', 'warning', (own) => `#!/bin/sh\nexec '${own}-other' "$@"\n`],
    ['starts it by a relative path', 'warning', () => '#!/bin/sh\nexec own/cloudctl "$@"\n'],
    ['is of another interpreter', 'warning', (own) => `#!/usr/bin/other\nexec '${own}' "$@"\n`],
  ])('a script that %s: %s', (_, status, text) => {
    const { own, other } = makePath();
    const program = join(own, 'cloudctl');
    writeFileSync(join(other, 'cloudctl'), text(program));
    expect(check(program, [other, own]).status).toBe(status);
  });

  test.each(['', '.', 'node_modules/.bin', './bin', '~/bin'])(
    'may be in the folder of the entry %j, if this one does not come before it',
    (entry) => {
      const { own, other, link } = makePath();
      const program = join(own, 'cloudctl');
      for (const folders of [
        [entry, own],
        ['/no/such/folder', entry, own],
        ['/no/such/folder', entry],
      ])
        expect(check(program, folders)).toMatchObject({
          id: 'path',
          status: 'warning',
          observed: expect.stringContaining(entry === '' ? '' : `"${entry}"`),
        });
      for (const folders of [
        [own, entry],
        [`${own}/`, entry],
        [link, '/no/such/folder', entry],
      ])
        expect(check(program, folders).status).toBe('ok');
      if (entry === '') expectGolden('doctor', check(program, [entry, own]).observed);
      // What is found in any folder counts more.
      expect(check(program, [entry, other, own]).observed).toContain(join(other, 'cloudctl'));
    },
  );

  test('is nowhere without PATH', () => {
    expect(checkPath('/elsewhere/cloudctl.cjs', {}, 'linux').status).toBe('ok');
  });

  test('that comes first is what a script would start', () => {
    const { own, other } = makePath();
    const found = check(join(own, 'cloudctl'), [other, own]);
    expect(found).toMatchObject({ status: 'warning', hint: expect.stringContaining('which -a cloudctl') });
    expectGolden('doctor', found.observed.replaceAll(dirname(own), '/WORK'));
    expect(check('/elsewhere/cloudctl.cjs', [other]).observed).toContain(join(other, 'cloudctl'));
  });

  test('that comes later is named too', () => {
    const { own, other } = makePath();
    const found = check(join(own, 'cloudctl'), [own, other]);
    expect(found).toMatchObject({ status: 'warning', observed: expect.stringContaining(join(other, 'cloudctl')) });
  });

  test('is no folder, and no file that cannot be run', () => {
    const { own, other } = makePath();
    chmodSync(join(other, 'cloudctl'), 0o644);
    mkdirSync(join(other, 'deep/cloudctl'), { recursive: true });
    expect(check(join(own, 'cloudctl'), [other, join(other, 'deep')]).status).toBe('ok');
  });

  test('on Windows the files that npm writes start the script of their own folder', () => {
    const { own, other } = makePath();
    const program = join(own, 'node_modules/cloudctl/bin/cloudctl.cjs');
    mkdirSync(dirname(program), { recursive: true });
    writeFileSync(program, '');
    const line = '"%_prog%"  "%dp0%\\node_modules\\cloudctl\\bin\\cloudctl.cjs" %*';
    const shim = `@ECHO off\r\n…\r\nendLocal & goto #_undefined_# 2>NUL || title %COMSPEC% & ${line}\r\n`;
    for (const folder of [own, other]) writeFileSync(join(folder, 'cloudctl.cmd'), shim, { mode: 0o755 });
    // Windows ignores an empty entry.
    expect(check(program, ['', own], 'win32').status).toBe('ok');
    expect(check(program, ['bin', own], 'win32')).toMatchObject({ status: 'warning' });
    writeFileSync(join(own, 'cloudctl.cmd'), shim.replace('cloudctl.cjs', 'other.cjs'));
    expect(check(program, [own], 'win32').status).toBe('warning');
    expect(check(program, [other], 'win32')).toMatchObject({
      status: 'warning',
      hint: expect.stringContaining('where.exe'),
    });
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
