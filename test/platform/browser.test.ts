import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { detectBrowser, findOpener, systemBrowser } from '../../src/platform/browser.ts';
import { isCi } from '../../src/platform/ci.ts';
import { expectGolden } from '../fixtures/golden.ts';

describe('opening a browser', () => {
  const url = 'http://127.0.0.1:8765/start/abc?x=1&y=$(touch%20pwned);z';

  let folder = '';
  let opener = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'browser-'));
    opener = join(folder, 'opener');
    writeFileSync(
      opener,
      `#!/bin/sh\nfor word; do printf '%s\\n' "$word"; done > ${folder}/words.tmp && mv ${folder}/words.tmp ${folder}/words\n`,
    );
    chmodSync(opener, 0o755);
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  async function opened(): Promise<readonly string[]> {
    for (let tries = 0; tries < 100 && !existsSync(join(folder, 'words')); tries++) await sleep(20);
    return readFileSync(join(folder, 'words'), 'utf8').trim().split('\n');
  }

  const browser = (variables: Record<string, string>) =>
    systemBrowser({ PATH: process.env.PATH, ...variables }, 'linux');

  describe.skipIf(process.platform === 'win32')('the browser', () => {
    it('named by BROWSER gets the address as one argument, without a shell', async () => {
      expect(await browser({ BROWSER: opener }).open(url)).toBe(true);
      expect(await opened()).toEqual([url]);
    });

    it('named by BROWSER may take words of its own, and the address where %s stands', async () => {
      expect(await browser({ BROWSER: `${opener} --new=%s --last` }).open(url)).toBe(true);
      expect(await opened()).toEqual([`--new=${url}`, '--last']);
    });

    it('named by BROWSER may have spaces in its path, within quotes', async () => {
      const spaced = join(folder, 'a browser');
      copyFileSync(opener, spaced);
      expect(await browser({ BROWSER: `"${spaced}" --name='a b' -x` }).open(url)).toBe(true);
      expect(await opened()).toEqual(['--name=a b', '-x', url]);
    });

    it('named by BROWSER may have an apostrophe in its path', async () => {
      const named = join(folder, "o'neil");
      copyFileSync(opener, named);
      expect(await browser({ BROWSER: `${named} --new` }).open(url)).toBe(true);
      expect(await opened()).toEqual(['--new', url]);
    });

    it('that the system cannot start at all is skipped', async () => {
      expect(await browser({ BROWSER: `${opener}/below` }).open(url)).toBe(false);
      expect(await browser({ BROWSER: `${opener}/below:${opener}` }).open(url)).toBe(true);
      expect(await opened()).toEqual([url]);
    });

    it('is the first of the list that starts', async () => {
      expect(await browser({ BROWSER: `${folder}/nowhere:${opener} --first` }).open(url)).toBe(true);
      expect(await opened()).toEqual(['--first', url]);
    });

    it('is none when nothing of the list starts, with BROWSER=none, and without a display', async () => {
      expect(await browser({ BROWSER: `${folder}/nowhere` }).open(url)).toBe(false);
      expect(await browser({ BROWSER: 'none' }).open(url)).toBe(false);
      expect(await browser({ BROWSER: '' }).open(url)).toBe(false);
      expect(await browser({}).open(url)).toBe(false);
    });

    it.each([
      ['', 'http://127.0.0.1:1/$&?$$=$`'],
      [' "--list=a:b"', url],
    ])('gets the URL unchanged after the words %j', async (words, address) => {
      expect(await browser({ BROWSER: `${opener}${words} %s` }).open(address)).toBe(true);
      expect((await opened()).at(-1)).toBe(address);
    });

    it.each([
      ['nowhere', '{}/nowhere'],
      ['a name that no entry of PATH has', 'no-such-browser --new'],
      ['a failure', 'false'],
      ['a kill', `sh -c 'kill -9 $$'`],
      ['a file that is no program', '{}/text'],
      ['a folder', '{}'],
      ['everything in the list', 'false:{}/nowhere'],
    ])('that fails is reported at once with what was tried: %s', async (_, command) => {
      writeFileSync(join(folder, 'text'), 'text');
      const failures: string[] = [];
      const began = Date.now();
      const isOpen = await browser({ BROWSER: command.replaceAll('{}', folder) }).open(url, (one) =>
        failures.push(one),
      );
      expect([isOpen, failures.length]).toEqual([false, 1]);
      expect(Date.now() - began).toBeLessThan(900);
      expectGolden('auth', failures.join('\n').replaceAll(folder, 'FOLDER'));
    });

    it('of the list that works hides the failure of the one before', async () => {
      const failures: string[] = [];
      expect(await browser({ BROWSER: `false:${opener}` }).open(url, (one) => failures.push(one))).toBe(true);
      expect([await opened(), failures]).toEqual([[url], []]);
    });

    it('that still runs counts as open, and its failure is reported when it comes', async () => {
      const failures: string[] = [];
      const slow = systemBrowser({ PATH: process.env.PATH, BROWSER: `sh -c 'sleep 0.4; exit 3'` }, 'linux', {
        waitMs: 100,
      });
      expect(await slow.open(url, (one) => failures.push(one))).toBe(true);
      expect(failures).toEqual([]);
      for (let tries = 0; tries < 100 && failures.length === 0; tries++) await sleep(20);
      expect(failures).toEqual([expect.stringMatching(/ 3$/)]);
    });

    it('is not taken from a relative entry of PATH', async () => {
      const at = process.cwd();
      process.chdir(folder);
      try {
        expect(await systemBrowser({ PATH: '.:', BROWSER: 'opener' }, 'linux').open(url)).toBe(false);
        expect(findOpener({ PATH: '.:', DISPLAY: ':0' }, 'linux')).toBeUndefined();
      } finally {
        process.chdir(at);
      }
      expect(existsSync(join(folder, 'words'))).toBe(false);
    });

    describe('of the system', () => {
      const programs = () => join(folder, 'bin');
      const install = (name: string, script = `exec ${opener} ${name} "$@"`) => {
        mkdirSync(programs(), { recursive: true });
        writeFileSync(join(programs(), name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
        return join(programs(), name);
      };
      const system = () => ({ PATH: `${programs()}:/usr/bin:/bin`, DISPLAY: ':0' });

      it('is xdg-open of PATH, as a container of toolbox replaces it', async () => {
        const path = install('xdg-open');
        expect(findOpener(system(), 'linux')).toBe(path);
        expect(await systemBrowser(system(), 'linux').open(url)).toBe(true);
        expect(await opened()).toEqual(['xdg-open', url]);
      });

      it('is reported when it fails', async () => {
        install('xdg-open', 'exit 4');
        const failures: string[] = [];
        expect(await systemBrowser(system(), 'linux').open(url, (one) => failures.push(one))).toBe(false);
        expect(failures).toEqual([expect.stringMatching(/ 4$/)]);
      });

      it('is wslview under WSL, else xdg-open, and the other one when it fails', async () => {
        const wsl = { runtime: { wsl: true, display: false } };
        install('xdg-open');
        expect(await systemBrowser(system(), 'linux', wsl).open(url)).toBe(true);
        expect(await opened()).toEqual(['xdg-open', url]);
        rmSync(join(folder, 'words'));
        install('wslview');
        expect(await systemBrowser(system(), 'linux', wsl).open(url)).toBe(true);
        expect(await opened()).toEqual(['wslview', url]);
        rmSync(join(folder, 'words'));
        install('wslview', 'exit 1');
        expect(await systemBrowser(system(), 'linux', wsl).open(url)).toBe(true);
        expect(await opened()).toEqual(['xdg-open', url]);
      });

      it('is the copy in the package `open` where PATH has none, with the environment of a child', async () => {
        // The copy starts the first browser of this list that exists.
        install('x-www-browser', `${opener} "$@"; env > ${folder}/env`);
        const before = process.env;
        const tools = ['sh', 'env', 'cat', 'mv', 'sed', 'grep', 'cut', 'head', 'tr', 'uname', 'which', 'basename'];
        for (const tool of tools) install(tool, `PATH=/usr/bin:/bin exec ${tool} "$@"`);
        const env = { PATH: programs(), DISPLAY: ':0', CLOUDCTL_ACCESS_TOKEN: 'a-canary' };
        expect(findOpener(env, 'linux')).toBe(join(programs(), 'x-www-browser'));
        expect(await systemBrowser(env, 'linux').open(url)).toBe(true);
        expect(await opened()).toEqual([url]);
        for (let tries = 0; tries < 100 && !existsSync(join(folder, 'env')); tries++) await sleep(20);
        await sleep(50);
        expect(readFileSync(join(folder, 'env'), 'utf8')).not.toContain('a-canary');
        expect(process.env).toBe(before);
      });
    });

    it.each(['file:///etc/passwd', 'javascript:alert(1)', '--help', '', 'ftp://x'])('never gets %j', async (text) => {
      await expect(browser({ BROWSER: opener }).open(text)).rejects.toThrow();
      expect(existsSync(join(folder, 'words'))).toBe(false);
    });
  });
});

describe('the environment of a browser', () => {
  const nothing = { exists: () => false, text: () => '' };
  const wslKernel = { exists: () => false, text: () => 'Linux version 5.15.90.1-microsoft-standard-WSL2' };
  const dockerFile = { exists: (path: string) => path === '/.dockerenv', text: () => '' };

  describe('the surroundings', () => {
    it('of a plain terminal are nothing special', () => {
      expect(detectBrowser({}, 'linux', nothing)).toEqual({
        wsl: false,
        ssh: undefined,
        container: false,
        codespaces: false,
        ci: false,
        display: false,
      });
    });

    it.each([
      [{ WSL_DISTRO_NAME: 'Debian' }, nothing, true],
      [{}, wslKernel, true],
      [{}, { ...wslKernel, exists: dockerFile.exists }, false],
      [{}, nothing, false],
    ])('are WSL by its variable or kernel, and not in a container on it: %j', (env, readers, wsl) => {
      expect(detectBrowser(env, 'linux', readers).wsl).toBe(wsl);
    });

    it.each([
      [{ container: 'podman' }, nothing],
      [{ KUBERNETES_SERVICE_HOST: '10.0.0.1' }, nothing],
      [{}, dockerFile],
    ])('are a container: %j', (env, readers) => {
      expect(detectBrowser(env, 'linux', readers).container).toBe(true);
    });

    it('are SSH, with the address the user reached this machine by', () => {
      expect(detectBrowser({ SSH_CONNECTION: '10.0.0.2 51000 10.0.0.9 2222' }, 'linux', nothing).ssh).toEqual({
        server: '10.0.0.9',
        port: 2222,
      });
      expect(detectBrowser({ SSH_TTY: '/dev/pts/1' }, 'linux', nothing).ssh).toEqual({
        server: undefined,
        port: 22,
      });
    });

    it.each([
      ['linux', { DISPLAY: ':0' }, true],
      ['linux', { WAYLAND_DISPLAY: 'wayland-0' }, true],
      ['linux', { DISPLAY: '' }, false],
      ['darwin', {}, true],
      ['darwin', { SSH_TTY: '/dev/ttys1' }, false],
      ['win32', {}, true],
    ] as const)('on %s with %j have a display: %s', (platform, env, display) => {
      expect(detectBrowser(env, platform, nothing).display).toBe(display);
    });

    it('are Codespaces by its variable', () => {
      expect(detectBrowser({ CODESPACES: 'true' }, 'linux', nothing).codespaces).toBe(true);
    });
  });

  describe('CI', () => {
    it.each(['true', '1', 'yes'])('CI=%s is set', (CI) => expect(isCi({ CI })).toBe(true));
    it.each(['false', '0', '', undefined])('CI=%j is unset', (CI) => expect(isCi({ CI })).toBe(false));
  });
});
